"""Shows the values of cells as the sheet does, by their number formats."""

import math
from datetime import date, datetime, time, timedelta

from knowledge.parsing.xlsx.dates import serial, show_date
from knowledge.parsing.xlsx.number_format import NumberFormat, parse_format
from knowledge.parsing.xlsx.numbers import show_general, show_number

# The codes of formats that files refer to by number: those that openpyxl and xlrd don't know or know wrongly. Their
# meaning depends on Excel's language, which is Chinese or Japanese where there are files with them.
_BUILTIN = {
    27: 'yyyy"年"m"月"',
    28: 'm"月"d"日"',
    29: 'm"月"d"日"',
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    34: '上午/下午h"时"mm"分"',
    35: '上午/下午h"时"mm"分"ss"秒"',
    36: 'yyyy"年"m"月"',
    44: r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)',
    50: 'yyyy"年"m"月"',
    51: 'm"月"d"日"',
    52: 'yyyy"年"m"月"',
    53: 'm"月"d"日"',
    54: 'm"月"d"日"',
    55: '上午/下午h"时"mm"分"',
    56: '上午/下午h"时"mm"分"ss"秒"',
    57: 'yyyy"年"m"月"',
    58: 'm"月"d"日"',
}
_ERRORS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}


def builtin_format(number: int) -> str | None:
    """Return the code of a format that files refer to by number only, or None if a library knows it."""
    return _BUILTIN.get(number)


def show(value: object, number_format: str = "General") -> str:
    """Return a cell's value as its format shows it, "" for an empty cell.

    Dates in digits only, such as 5/2/24, are shown as 2024-02-05 since their order depends on the country. Values whose
    format isn't valid or has no section for them are shown in the general format.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        shown = None if number_format == "General" else _apply(value, parse_format(number_format))
        return show_general(value) if shown is None else shown
    if isinstance(value, date | time | timedelta):
        shown = None if number_format == "General" else _apply(serial(value), parse_format(number_format))
        return _plain(value) if shown is None else shown
    text = str(value).strip()
    known = None if number_format in ("General", "@") or text in _ERRORS else parse_format(number_format)
    if known is None or known.text is None:
        return text
    return "".join(text if token.kind in ("text", "general") else token.text for token in known.text.tokens).strip()


def _apply(number: float, known: NumberFormat | None) -> str | None:
    """Return a number or the number of a date by the first section that applies to it, or None if none does."""
    for section in known.numbers if known else ():
        if section.applies_to(number):
            shown = show_date(number, section) if section.kind == "date" else show_number(number, section)
            # Placeholders of which only the width is shown leave spaces.
            return None if shown is None else " ".join(shown.split())
    return None


def _plain(value: date | time | timedelta) -> str:
    """Return a date, time or duration without a format."""
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    clock = f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"
    if isinstance(value, time):
        return clock
    return f"{value.date()} {clock}" if value.time() != time() else value.date().isoformat()
