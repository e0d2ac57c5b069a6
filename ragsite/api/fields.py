"""Serializers and fields that take just what the OpenAPI document says: no number for a text, no 1 for true.

Of a form, which holds nothing but texts, a text is read as what it spells.
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
    """Whether a field's value comes from a form or an address, as a text."""
    given = getattr(field.root, "initial_data", None)
    return given is None or bool(html.is_html_input(given))


class TextField(serializers.CharField):
    """A text, counted as it was sent. Of its characters one at least is none of `invisible`, unless it may be blank."""

    invisible = r"\s"  # as in a class of characters

    @property
    def pattern(self) -> str:
        """What it must match, for Python and ECMAScript alike: no nulls, and something to see."""
        any_text = r"[^\x00]*"
        return f"^{any_text}$" if self.allow_blank else rf"^{any_text}[^{self.invisible}\x00]{any_text}$"

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Read the text and check it; raises `ValidationError`."""
        if isinstance(data, str):
            if self.max_length is not None and len(data) > self.max_length:
                self.fail("max_length", max_length=self.max_length)
            if not self.allow_blank and not re.search(f"[^{self.invisible}]", data):
                self.fail("blank")
        elif data is not None and data is not serializers.empty:
            self.fail("invalid")
        return super().run_validation(data)


class IntegerField(serializers.IntegerField):
    """A whole number."""

    def to_internal_value(self, data: Any) -> int:
        """Read the number; raises `ValidationError`."""
        if not _is_spelled(self):
            if isinstance(data, bool) or not (isinstance(data, int) or (isinstance(data, float) and data.is_integer())):
                self.fail("invalid")
            return int(data)
        return int(super().to_internal_value(data))


class FloatField(serializers.FloatField):
    """A finite number: no infinity or NaN, which some JSON readers accept."""

    def to_internal_value(self, data: Any) -> float:
        """Read the number; raises `ValidationError`."""
        if not _is_spelled(self) and (isinstance(data, bool) or not isinstance(data, int | float)):
            self.fail("invalid")
        number = super().to_internal_value(data)
        if not math.isfinite(number):
            self.fail("invalid")
        return number


class BooleanField(serializers.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> Any:
        """Read the value; raises `ValidationError`."""
        if not _is_spelled(self) and not isinstance(data, bool):
            self.fail("invalid", input=data)
        return super().to_internal_value(data)


class ChoiceField(serializers.ChoiceField):
    """One of some values, of their type."""

    def to_internal_value(self, data: Any) -> Any:
        """Read the value; raises `ValidationError`."""
        if _is_spelled(self):
            return super().to_internal_value(data)
        allowed = [*self.choices, ""] if self.allow_blank else self.choices
        same = [value for value in allowed if value == data and not isinstance(data, bool)]
        if not same:
            self.fail("invalid_choice", input=data)
        return same[0]


class UUIDField(serializers.UUIDField):
    """A UUID as it is written usually."""

    def to_internal_value(self, data: Any) -> Any:
        """Read the UUID; raises `ValidationError`."""
        if not isinstance(data, str) or not _UUID.fullmatch(data):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


class IdsField(serializers.ListField):
    """Ids of things; whether the caller has such, is the view's to say."""

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
    """DRF's, with the fields of this module."""

    serializer_field_mapping = {
        kind: _STRICT.get(field, field) for kind, field in serializers.ModelSerializer.serializer_field_mapping.items()
    }
    serializer_choice_field = ChoiceField
