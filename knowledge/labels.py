"""What people say of documents beside their text: tags, and named fields; and narrowing documents by them.

A field's value is a text, a number, a boolean, or a date, which is a text of the form 2026-03-31: as such dates compare
as they follow each other. Two values of different kinds are never equal, and neither is above the other.
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
# Conditions and tags of one filter.
MOST_CONDITIONS = 20
_LARGEST = 1e15  # to which doubles and JavaScript count exactly
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")

Scalar = str | int | float | bool
Operator = Literal["==", ">=", ">", "<=", "<"]
OPERATORS: dict[str, Operator] = {"eq": "==", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}
# As people read them.
SIGNS: dict[Operator, str] = {"==": "=", ">=": "≥", ">": ">", "<=": "≤", "<": "<"}


class LabelError(ValueError):
    """Tags, fields or conditions that are not taken; the message is for a person."""


def clean_tags(values: Iterable[Any]) -> list[str]:
    """Return tags without blanks around them, each once, whatever its case; raises `LabelError`."""
    found: dict[str, str] = {}
    for value in values:
        if not isinstance(value, str):
            raise LabelError(_("A tag must be text."))
        tag = " ".join(value.split())
        if not tag:
            continue
        _check_text(tag, LONGEST_TAG, _("The tag “{name}”").format(name=tag[:LONGEST_TAG]))
        if any(mark in tag for mark in ",，、"):
            raise LabelError(_("The tag “{name}” has a comma in it, which stands between tags.").format(name=tag))
        found.setdefault(tag.casefold(), tag)
    if len(found) > MOST_TAGS:
        raise LabelError(_("A document has {most} tags at most.").format(most=MOST_TAGS))
    return list(found.values())


def tags_in(text: str) -> list[str]:
    """Return the tags that someone wrote, with commas between them; raises `LabelError`."""
    return clean_tags(re.split("[,，、\n]", text))


def clean_metadata(fields: Any) -> dict[str, Scalar]:
    """Return a document's fields by their names; raises `LabelError`, which names the field that is not taken."""
    if not isinstance(fields, Mapping):
        raise LabelError(_("Fields must be pairs of a name and a value."))
    if len(fields) > MOST_FIELDS:
        raise LabelError(_("A document has {most} fields at most.").format(most=MOST_FIELDS))
    cleaned: dict[str, Scalar] = {}
    for given, value in fields.items():
        name = _field_name(given)
        if name in cleaned:
            raise LabelError(_("The field “{name}” is there twice.").format(name=name))
        cleaned[name] = _scalar(name, value)
    return cleaned


def read_value(name: str, text: str, kind: str) -> Scalar:
    """Return what someone wrote as the value of a field: "text", "number", "date" or "boolean"; raises `LabelError`."""
    text = text.strip()
    if kind == "number":
        if not _NUMBER.fullmatch(text):
            raise LabelError(_("“{value}” in the field “{name}” is no number.").format(name=name, value=text))
        return float(text) if "." in text else int(text)
    if kind == "boolean":
        if text.casefold() not in ("true", "false"):
            raise LabelError(_("The field “{name}” takes true or false.").format(name=name))
        return text.casefold() == "true"
    if kind == "date" and not is_date(text):
        message = _("“{value}” in the field “{name}” is no date of the form 2026-03-31.")
        raise LabelError(message.format(name=name, value=text))
    return text


def kind_of(value: Scalar) -> str:
    """Return what `read_value` calls the kind of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "date" if is_date(value) else "text"


def is_date(text: str) -> bool:
    """Whether a text is a day that there is, such as 2026-03-31."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Condition:
    """What a field of a document has to be."""

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
    """Documents that have any of the tags, fulfil all conditions and lie in the folder or within it.

    It is false where there is nothing to narrow by.

    Those in the bases `besides` are not narrowed. `where` is the same in SQL, of a row of `knowledge_document`, with
    the named parameters of `parameters`.
    """

    tags: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    folder: str = ""
    besides: tuple[int, ...] = ()

    @classmethod
    def read(cls, tags: Iterable[Any] = (), metadata: Any = None, folder: str = "") -> "LabelFilter":
        """Return the filter of tags, fields and a folder as the API takes them; raises `LabelError`.

        Of a field either its value, or bounds: `{"year": 2026, "signed": {"gte": "2026-01-01", "lt": "2026-04-01"}}`.
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
                    message = _("“{bound}” is no bound of the field “{name}”; there are {known}.")
                    raise LabelError(message.format(bound=bound, name=name, known=", ".join(OPERATORS)))
                conditions.append(Condition(name, OPERATORS[bound], _scalar(name, value)))
        if len(conditions) > MOST_CONDITIONS:
            raise LabelError(_("At most {most} conditions are taken.").format(most=MOST_CONDITIONS))
        return cls(tuple(sorted(clean_tags(tags))), tuple(conditions), folder.strip().strip("/"))

    def __bool__(self) -> bool:
        return bool(self.tags or self.conditions or self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return tags, fields and folder as `read` takes them."""
        bounds = {operator: bound for bound, operator in OPERATORS.items()}
        metadata: dict[str, dict[str, Scalar]] = {}
        for condition in self.conditions:
            metadata.setdefault(condition.field, {})[bounds[condition.operator]] = condition.value
        return {"tags": list(self.tags), "metadata": metadata, "folder": self.folder}

    @property
    def condition(self) -> Q:
        """What documents have to fulfil, for the ORM."""
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
        """The condition in SQL; true without tags and conditions."""
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
        if not abs(value) <= _LARGEST:  # so that NaN, too, is none; whole numbers may be larger than any float
            raise LabelError(_("The number in the field “{name}” is too large.").format(name=name))
        return value
    if not isinstance(value, str):
        message = _("The field “{name}” takes a text, a number, a date or true or false, and nothing within.")
        raise LabelError(message.format(name=name))
    text = value.strip()
    if not text:
        raise LabelError(_("The field “{name}” has no value.").format(name=name))
    _check_text(text, LONGEST_VALUE, _("What is in the field “{name}”").format(name=name))
    return text


def _check_text(text: str, longest: int, what: str) -> None:
    if len(text) > longest:
        raise LabelError(_("{what} has more than {most} characters.").format(what=what, most=longest))
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise LabelError(_("{what} has characters in it that can't be seen.").format(what=what))
