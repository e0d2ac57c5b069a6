"""Formats cell values as shown in the sheet: dates, percentages, amounts, plain numbers."""

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

_QUOTED = re.compile(r'"([^"]*)"')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_PADDING = re.compile(r"[_*].")
_NUMBER = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*)?(?P<power>[eE][+-]?[0#]+)?")
_SIGNIFICANT = 11  # digits, as shown by the general format


class NumberFormat(NamedTuple):
    """The relevant properties of an Excel number format."""

    decimals: int | None  # None: as many as there are
    thousands: bool
    percent: bool
    scientific: bool
    prefix: str
    suffix: str


def show(value: object, number_format: str = "General") -> str:
    """Return a cell's value as its format shows it, "" for an empty cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        if not (value.hour or value.minute or value.second):
            return value.date().isoformat()
        return value.strftime("%Y-%m-%d %H:%M:%S" if value.second else "%Y-%m-%d %H:%M")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.strftime("%H:%M" if not value.second else "%H:%M:%S")
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, int | float):
        known = parse_format(number_format, value < 0)
        if known is None:
            return _general(value)
        shown = value * 100 if known.percent else value
        if known.scientific:
            text = f"{shown:.{known.decimals or 0}E}"
        elif known.decimals is None:
            text = _general(shown)
        else:
            text = f"{shown:{',' if known.thousands else ''}.{known.decimals}f}"
        sign = "-" if text.startswith("-") else ""
        return f"{sign}{known.prefix}{text.removeprefix('-')}{known.suffix}".strip()
    return str(value).strip()


def _general(value: float) -> str:
    if isinstance(value, int) or (value == value and abs(value) < 1e15 and value == int(value)):
        return str(int(value))
    return f"{value:.{_SIGNIFICANT}g}"


@lru_cache(maxsize=500)
def parse_format(number_format: str, negative: bool = False) -> NumberFormat | None:
    """Return the properties of a number format, or None for the general one and those that aren't for numbers."""
    sections = number_format.split(";")
    section = sections[1] if negative and len(sections) > 1 and sections[1] else sections[0]
    plain = _PADDING.sub("", _BRACKETS.sub("", _CURRENCY.sub(r'"\1"', section)).replace("\\", ""))
    bare = _QUOTED.sub("", plain)
    found = _NUMBER.search(bare)
    if found is None or "/" in bare or "general" in bare.lower():
        return None
    # The literal text before and after the number, without the parentheses or minus of a negative.
    number = found.group()
    start = plain.find(number)
    before, after = plain[:start], plain[start + len(number) :]
    clean_before, clean_after = (_QUOTED.sub(r"\1", part).strip("()-+ ") for part in (before, after))
    prefix, suffix = clean_before, (" " if after[:2] in ('" ', " ") else "") + clean_after
    digits = number.split(".")[1] if "." in number else ""
    return NumberFormat(
        decimals=sum(1 for character in digits.split("E")[0].split("e")[0] if character in "0#?"),
        thousands="," in number,
        percent="%" in bare,
        scientific=found.group("power") is not None,
        prefix=prefix,
        suffix=suffix,
    )
