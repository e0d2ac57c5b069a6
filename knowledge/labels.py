"""Tags and named fields that people give documents, and filtering documents by them.

A field's value is a string, a number, a boolean, or a date, which is a string of the form 2026-03-31, so that dates
compare in order. Values of different types are never equal, and neither is greater than the other.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from django.db.models import BooleanField, Func, Q, Value
from django.utils.translation import gettext as _

MOST_TAGS, LONGEST_TAG = 50, 60
MOST_FIELDS, LONGEST_FIELD, LONGEST_VALUE = 50, 60, 500
# Conditions of one filter.
MOST_CONDITIONS = 20
_LARGEST = 1e15  # up to which doubles and JavaScript represent integers exactly
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")

Scalar = str | int | float | bool
Operator = Literal["==", ">=", ">", "<=", "<"]
OPERATORS: dict[str, Operator] = {"eq": "==", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}
# The operators as shown to people.
SIGNS: dict[Operator, str] = {"==": "=", ">=": "≥", ">": ">", "<=": "≤", "<": "<"}


class LabelError(ValueError):
    """Invalid tags, fields or conditions; the message is for the user."""


def clean_tags(values: Iterable[Any]) -> list[str]:
    """Return tags with normalised white space and without duplicates, ignoring case; raises `LabelError`."""
    found: dict[str, str] = {}
    for value in values:
        if not isinstance(value, str):
            raise LabelError(_("A tag must be text."))
        tag = " ".join(value.split())
        if not tag:
            continue
        _check_text(tag, LONGEST_TAG, _("The tag “{name}”").format(name=tag[:LONGEST_TAG]))
        if any(mark in tag for mark in ",，、"):
            raise LabelError(_("The tag “{name}” contains a comma, which separates tags.").format(name=tag))
        found.setdefault(tag.casefold(), tag)
    if len(found) > MOST_TAGS:
        raise LabelError(_("A document can have at most {most} tags.").format(most=MOST_TAGS))
    return list(found.values())


def tags_in(text: str) -> list[str]:
    """Return the tags in a comma-separated text; raises `LabelError`."""
    return clean_tags(re.split("[,，、\n]", text))


def clean_metadata(fields: Any) -> dict[str, Scalar]:
    """Return a document's fields by name; raises `LabelError`, which names the invalid field."""
    if not isinstance(fields, Mapping):
        raise LabelError(_("Fields must be pairs of a name and a value."))
    if len(fields) > MOST_FIELDS:
        raise LabelError(_("A document can have at most {most} fields.").format(most=MOST_FIELDS))
    cleaned: dict[str, Scalar] = {}
    for given, value in fields.items():
        name = _field_name(given)
        if name in cleaned:
            raise LabelError(_("The field “{name}” is given twice.").format(name=name))
        cleaned[name] = _scalar(name, value)
    return cleaned


def read_value(name: str, text: str, kind: str) -> Scalar:
    """Return the value of a field of a kind, "text", "number", "date" or "boolean", from text; raises `LabelError`."""
    text = text.strip()
    if kind == "number":
        if not _NUMBER.fullmatch(text):
            raise LabelError(_("“{value}” in the field “{name}” is not a number.").format(name=name, value=text))
        return float(text) if "." in text else int(text)
    if kind == "boolean":
        if text.casefold() not in ("true", "false"):
            raise LabelError(_("The field “{name}” must be true or false.").format(name=name))
        return text.casefold() == "true"
    if kind == "date" and not is_date(text):
        message = _("“{value}” in the field “{name}” is not a date of the form 2026-03-31.")
        raise LabelError(message.format(name=name, value=text))
    return text


def kind_of(value: Scalar) -> str:
    """Return the kind of a value, as taken by `read_value`."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "date" if is_date(value) else "text"


def is_date(text: str) -> bool:
    """Return whether a text is a valid date of the form 2026-03-31."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a field of a document."""

    field: str
    operator: Operator
    value: Scalar

    def __str__(self) -> str:
        value = str(self.value).lower() if isinstance(self.value, bool) else str(self.value)
        return f"{self.field} {SIGNS[self.operator]} {value}"

    @property
    def path(self) -> str:
        """The condition as an SQL/JSON path predicate."""
        literal = json.dumps(self.value, ensure_ascii=False)
        return f"$.{json.dumps(self.field, ensure_ascii=False)} {self.operator} {literal}"


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """A filter for documents that have any of the tags, meet all conditions, and lie in the folder or its subfolders.

    It is false if it is empty. Documents in the bases `besides` are not filtered. `where` is the same condition in SQL
    on a row of `knowledge_document`, with the named `parameters`.
    """

    tags: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    folder: str = ""
    besides: tuple[int, ...] = ()

    @classmethod
    def read(cls, tags: Iterable[Any] = (), metadata: Any = None, folder: str = "") -> "LabelFilter":
        """Return the filter for tags, fields and a folder in the form used by the API; raises `LabelError`.

        A field has a value or bounds: `{"year": 2026, "signed": {"gte": "2026-01-01", "lt": "2026-04-01"}}`.
        """
        conditions: list[Condition] = []
        if metadata is not None and not isinstance(metadata, Mapping):
            raise LabelError(_("Fields must be pairs of a name and a value."))
        for given, wanted in (metadata or {}).items():
            name = _field_name(given)
            if not isinstance(wanted, Mapping):
                conditions.append(Condition(name, "==", _scalar(name, wanted)))
                continue
            for bound, value in wanted.items():
                if bound not in OPERATORS:
                    message = _("“{bound}” is not a valid bound for the field “{name}”. Use one of: {known}.")
                    raise LabelError(message.format(bound=bound, name=name, known=", ".join(OPERATORS)))
                conditions.append(Condition(name, OPERATORS[bound], _scalar(name, value)))
        if len(conditions) > MOST_CONDITIONS:
            raise LabelError(_("At most {most} conditions are allowed.").format(most=MOST_CONDITIONS))
        return cls(tuple(sorted(clean_tags(tags))), tuple(conditions), folder.strip().strip("/"))

    def __bool__(self) -> bool:
        return bool(self.tags or self.conditions or self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return tags, fields and folder as the arguments of `read`."""
        bounds = {operator: bound for bound, operator in OPERATORS.items()}
        metadata: dict[str, dict[str, Scalar]] = {}
        for condition in self.conditions:
            metadata.setdefault(condition.field, {})[bounds[condition.operator]] = condition.value
        return {"tags": list(self.tags), "metadata": metadata, "folder": self.folder}

    @property
    def condition(self) -> Q:
        """The condition for the ORM."""
        wanted = Q()
        if self.tags:
            wanted &= Q(tags__overlap=list(self.tags))
        if self.conditions:
            matches = Func("metadata", Value(self._path), template="(%(expressions)s::jsonpath)", arg_joiner=" @@ ")
            matches.output_field = BooleanField()
            wanted &= Q(matches)
        if self.folder:
            wanted &= Q(folder=self.folder) | Q(folder__startswith=f"{self.folder}/")
        return wanted | Q(knowledge_base__in=self.besides) if wanted and self.besides else wanted

    @property
    def where(self) -> str:
        """The condition in SQL; "true" if the filter is empty."""
        parts = ["tags && %(tags)s::varchar[]"] if self.tags else []
        parts += ["metadata @@ %(metadata)s::jsonpath"] if self.conditions else []
        parts += ["(folder = %(folder)s OR starts_with(folder, %(folder)s || '/'))"] if self.folder else []
        if not parts:
            return "true"
        where = " AND ".join(parts)
        return f"({where} OR knowledge_base_id = ANY(%(besides)s))" if self.besides else where

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `where`."""
        return {
            "tags": list(self.tags),
            "metadata": self._path,
            "folder": self.folder,
            "besides": list(self.besides),
        }

    @property
    def _path(self) -> str:
        return " && ".join(f"({condition.path})" for condition in self.conditions)


def _field_name(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise LabelError(_("A field needs a name."))
    name = " ".join(given.split())
    _check_text(name, LONGEST_FIELD, _("The field's name “{name}”").format(name=name[:LONGEST_FIELD]))
    return name


def _scalar(name: str, value: Any) -> Scalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not abs(value) <= _LARGEST:  # this form also refuses NaN; integers may be larger than any float
            raise LabelError(_("The number in the field “{name}” is too large.").format(name=name))
        return value
    if not isinstance(value, str):
        message = _("The field “{name}” must be text, a number, a date, or true or false.")
        raise LabelError(message.format(name=name))
    text = value.strip()
    if not text:
        raise LabelError(_("The field “{name}” has no value.").format(name=name))
    _check_text(text, LONGEST_VALUE, _("The value of the field “{name}”").format(name=name))
    return text


def _check_text(text: str, longest: int, what: str) -> None:
    if len(text) > longest:
        raise LabelError(_("{what} has more than {most} characters.").format(what=what, most=longest))
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise LabelError(_("{what} contains invisible characters.").format(what=what))
