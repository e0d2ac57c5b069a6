"""Tags and fields of documents, as the API takes them."""

from typing import Any

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
from ragsite.api.fields import TextField

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
    """A tag: without commas, which stand between tags, and controls."""

    @property
    def pattern(self) -> str:
        """What it must match, for Python and ECMAScript alike."""
        taken = r"[^\x00-\x1f\x7f-\x9f,，、]*"
        return rf"^{taken}[^\s\x00-\x1f\x7f-\x9f,，、]{taken}$"


class TagsField(serializers.ListField):
    """Tags, each once."""

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
    """Fields of a document: a text, a number, a boolean, or a date as a text such as 2026-03-31, by name."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return clean fields; raises `ValidationError`."""
        try:
            return clean_metadata(data)
        except LabelError as error:
            raise serializers.ValidationError(str(error)) from None

    def to_representation(self, value: Any) -> Any:
        """Return them as they are kept."""
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
    """What fields of documents have to be: a value, or bounds, by name."""

    def to_internal_value(self, data: Any) -> Any:
        """Check the conditions; raises `ValidationError`."""
        try:
            LabelFilter.read(metadata=data)
        except LabelError as error:
            raise serializers.ValidationError(str(error)) from None
        return data
