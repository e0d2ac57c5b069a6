"""Serializer fields for the tags and fields of documents."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from knowledge.labels import (
    LONGEST_FIELD,
    LONGEST_TAG,
    MOST_CONDITIONS,
    MOST_TAGS,
    OPERATORS,
    LabelError,
    LabelFilter,
    clean_metadata,
    clean_tags,
)
from knowledge.many.table import KINDS, ORDERS, STATES
from ragsite.api.fields import TextField

# The parameters of a list of documents that take one of a few values.
CHOICES = {"state": [*STATES], "type": [*KINDS], "sort": [*ORDERS, *(f"-{name}" for name in ORDERS)]}

_KINDS: list[dict[str, Any]] = [
    {
        "type": "string",
        "pattern": r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
        "maxLength": 500,
    },
    {"type": "number", "minimum": -1e15, "maximum": 1e15},
    {"type": "boolean"},
]
_SCALAR: dict[str, Any] = {"oneOf": _KINDS}
_BOUNDS = {"type": "object", "properties": dict.fromkeys(OPERATORS, _SCALAR), "additionalProperties": False}
_NAMES: dict[str, Any] = {"pattern": _KINDS[0]["pattern"], "maxLength": LONGEST_FIELD}


class TagField(TextField):
    """A tag, without commas, which separate tags, and without control characters."""

    @property
    def pattern(self) -> str:
        """The pattern of a tag, valid in Python and ECMAScript."""
        taken = r"[^\x00-\x1f\x7f-\x9f,，、]*"
        return rf"^{taken}[^\s\x00-\x1f\x7f-\x9f,，、]{taken}$"


class TagsField(serializers.ListField):
    """Tags, without duplicates."""

    child = TagField(max_length=LONGEST_TAG)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MOST_TAGS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        """Return clean tags; raises `ValidationError`."""
        try:
            return clean_tags(super().to_internal_value(data))
        except LabelError as error:
            raise serializers.ValidationError(str(error)) from None


@extend_schema_field({"type": "object", "additionalProperties": _SCALAR, "propertyNames": _NAMES})
class MetadataField(serializers.Field[Any, Any, Any, Any]):
    """Fields of a document by name: strings, numbers, booleans, or dates written as 2026-03-31."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return clean fields; raises `ValidationError`."""
        try:
            return clean_metadata(data)
        except LabelError as error:
            raise serializers.ValidationError(str(error)) from None

    def to_representation(self, value: Any) -> Any:
        """Return the fields as they are stored."""
        return value


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"oneOf": [*_KINDS, _BOUNDS]},
        "propertyNames": _NAMES,
        "maxProperties": MOST_CONDITIONS,
    }
)
class MetadataFilterField(serializers.Field[Any, Any, Any, Any]):
    """Conditions on fields of documents, by name: a value, or bounds."""

    def to_internal_value(self, data: Any) -> Any:
        """Check the conditions; raises `ValidationError`."""
        try:
            LabelFilter.read(metadata=data)
        except LabelError as error:
            raise serializers.ValidationError(str(error)) from None
        return data


def check_choices(given: Mapping[str, str]) -> None:
    """Raise `ValidationError` for an unknown state, type or order: a typo must not select all documents."""
    for name, known in CHOICES.items():
        if name in given and given[name] not in known:
            message = _("Must be one of: {values}.").format(values=", ".join(known))
            raise serializers.ValidationError({name: [message]})


_TEXT = {"type": "string", "pattern": r"^[^\x00]*$", "maxLength": 1000}
_NARROWED_BY: dict[str, Any] = {
    "q": _TEXT,
    "state": {"type": "string", "enum": CHOICES["state"]},
    "type": {"type": "string", "enum": CHOICES["type"]},
    "tag": _TEXT,
    "folder": _TEXT,
}


@extend_schema_field({"type": "object", "properties": _NARROWED_BY, "additionalProperties": False})
class FilterField(serializers.DictField):
    """A filter of documents, with the parameters of the page's address."""

    child = TextField(allow_blank=True, max_length=1000)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return the filter; raises `ValidationError` for an unknown name or choice."""
        given: dict[str, str] = super().to_internal_value(data)
        for name in given:
            if name not in _NARROWED_BY:
                message = _("Unknown name. Must be one of: {names}.").format(names=", ".join(_NARROWED_BY))
                raise serializers.ValidationError({name: [message]})
        check_choices(given)
        return given
