"""Serializers and fields that accept exactly what the OpenAPI document says: no numbers for strings, no 1 for true.

In form data, which contains only strings, values are parsed from strings.
"""

import math
import re
from typing import Any, TypeVar

from django.db import models
from rest_framework import serializers
from rest_framework.utils import html

M = TypeVar("M", bound=models.Model)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _is_spelled(field: serializers.Field[Any, Any, Any, Any]) -> bool:
    """Return whether a field's value comes as a string, from form data or the query string."""
    given = getattr(field.root, "initial_data", None)
    return given is None or bool(html.is_html_input(given))


class TextField(serializers.CharField):
    """A string, whose length is that sent; unless it may be blank, it has a character other than those `invisible`."""

    invisible = r"\s"  # for a character class

    @property
    def pattern(self) -> str:
        """The regular expression it must match, in Python and ECMAScript: no null, and a visible character."""
        any_text = r"[^\x00]*"
        return f"^{any_text}$" if self.allow_blank else rf"^{any_text}[^{self.invisible}\x00]{any_text}$"

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the string; raises `ValidationError`."""
        if isinstance(data, str):
            if self.max_length is not None and len(data) > self.max_length:
                self.fail("max_length", max_length=self.max_length)
            if not self.allow_blank and not re.search(f"[^{self.invisible}]", data):
                self.fail("blank")
        elif data is not None and data is not serializers.empty:
            self.fail("invalid")
        return super().run_validation(data)


class IntegerField(serializers.IntegerField):
    """An integer."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number; raises `ValidationError`."""
        if not _is_spelled(self):
            if isinstance(data, bool) or not (isinstance(data, int) or (isinstance(data, float) and data.is_integer())):
                self.fail("invalid")
            return int(data)
        return int(super().to_internal_value(data))


class FloatField(serializers.FloatField):
    """A finite number: no infinity or NaN, which some JSON parsers accept."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number; raises `ValidationError`."""
        if not _is_spelled(self) and (isinstance(data, bool) or not isinstance(data, int | float)):
            self.fail("invalid")
        number = super().to_internal_value(data)
        if not math.isfinite(number):
            self.fail("invalid")
        return number


class BooleanField(serializers.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the value; raises `ValidationError`."""
        if not _is_spelled(self) and not isinstance(data, bool):
            self.fail("invalid", input=data)
        return super().to_internal_value(data)


class ChoiceField(serializers.ChoiceField):
    """One of the choices, of the same type."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the value; raises `ValidationError`."""
        if _is_spelled(self):
            return super().to_internal_value(data)
        allowed = [*self.choices, ""] if self.allow_blank else self.choices
        same = [value for value in allowed if value == data and not isinstance(data, bool)]
        if not same:
            self.fail("invalid_choice", input=data)
        return same[0]


class UUIDField(serializers.UUIDField):
    """A UUID in its usual notation."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the UUID; raises `ValidationError`."""
        if not isinstance(data, str) or not _UUID.fullmatch(data):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


class IdsField(serializers.ListField):
    """A list of IDs; the view checks whether the caller has access to the objects."""

    child = IntegerField(min_value=1)

    def __init__(self, *, max_length: int = 1000, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, **kwargs)


_STRICT: dict[type, type] = {
    serializers.CharField: TextField,
    serializers.IntegerField: IntegerField,
    serializers.FloatField: FloatField,
    serializers.BooleanField: BooleanField,
    serializers.UUIDField: UUIDField,
}


class ModelSerializer(serializers.ModelSerializer[M]):
    """DRF's model serializer with the fields of this module."""

    serializer_field_mapping = {
        kind: _STRICT.get(field, field) for kind, field in serializers.ModelSerializer.serializer_field_mapping.items()
    }
    serializer_choice_field = ChoiceField
