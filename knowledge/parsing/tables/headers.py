"""Finds the rows of a table that name its columns: words, or a series such as years, unlike the rows below."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

_NUMBER = re.compile(
    r"[-+−(]?\s*[$€£¥￥]?\s*[-+−(]?\s*\d[\d,.\s]*(?:[eE][-+]?\d+)?"
    r"\s*(?:[%‰$€£¥￥]|[kKMB千万萬亿億]?(?:[$€£元圆円]|EUR|USD|GBP|CNY|RMB)?|[kc]?[gm]|mm|[吨件个人次台家]|h|min)?\s*\)?$"
    r"|(?:\d+\s+)?\d+/\d+$|[$€£¥￥]?\s*[-–—]$|\d{1,6}\s*(?:[-–~～至]\s*\d{1,6}|\+)$"
)
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s*[/–-]\s*(?:\d\d)?\d\d)?$")
_DATE = re.compile(
    r"(?:1[5-9]|2[01])\d\d[-/.年](?:0?[1-9]|1[0-2])(?:[-/.月](?:[012]?\d|3[01])日?|月)?$"
    r"|\d{1,2}[-/]\d{1,2}(?:[-/]\d{2,4})?$|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?$"
)
_MOMENT = re.compile(r"\d{4}[-/.年]\d{1,2}.*|\d{1,2}:\d{2}.*|\d{1,2}[- ][A-Z][a-z]{2,8}[- ]\d{2,4}$")
_RANGE = re.compile(r"\d{1,6}\s*(?:[-–~～至]\s*\d{1,6}|\+)$")
_TIME = re.compile(r"\d{1,2}[:：]\d{2}(?:\s*[-–~至]\s*\d{1,2}[:：]\d{2})?$")
_WEEKDAY = re.compile(
    r"(?:周|週|星期|礼拜|禮拜)?[一二三四五六日天]$|(?:mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|nes|ur)?(?:day)?\.?$",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[（(]?(?:单位|單位|units?)[）)]?[:：]?$", re.IGNORECASE)
# Addresses, files and versions are values wherever they stand.
_ADDRESS = re.compile(
    r"https?://|www\.|[\w.+-]+@[\w-]+\.\w|\d+\.\d+\.\d|\S+\.(?:csv|deb|docx?|exe|gz|html?|iso|jar|jpe?g|msi|pdf|png|rpm|tar|txt|xlsx?|zip)$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[，。；！？]\w|[.;!?]\s")
_DIGITS = re.compile(r"\d[\d.,:\s]*")
_LONGEST, _LONGEST_MEAN = 120, 60  # characters of a column's name
_LONGEST_NUMBER = 60  # characters
_MOST_ROWS = 4  # of a header
_SAMPLE = 50  # rows below a header
# The least share of a header's columns that have a name; a table may leave some without.
_NAMED = 0.6
_NAMED_ABOVE_NUMBERS = 0.4
# The most cells below a series that may be of its kind: with more, it is an ordinary row.
_ALIKE = 0.3
_FIRST = 5  # named columns that may be followed by any number without a name
_FEW = 3  # rows that are more than a coincidence


def is_number(text: str) -> bool:
    """Return whether a cell contains a number, a percentage, an amount, a date or a time."""
    text = text.strip()
    if len(text) > _LONGEST_NUMBER:  # the pattern's time grows faster than the length
        return False
    return _NUMBER.match(text) is not None or _MOMENT.match(text) is not None


def count_header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows name the columns, at most four; 0 if none does.

    In rows that may be headers, cells that span columns have their text in all of them, and cells that span rows in
    all rows.
    """
    if len(rows) < 2 or len(rows[0]) < 2:
        return 0
    cells = [[cell.strip() for cell in row] for row in rows[: _MOST_ROWS + _SAMPLE]]
    fallback = 0  # if no count fits better
    for count in range(1, min(_MOST_ROWS, len(cells) - 1) + 1):
        levels, below = spread(cells[:count]), cells[count:]
        if not all(_may_name(row, levels[at - 1] if at else None, below, count) for at, row in enumerate(levels)):
            continue
        names = list(zip(*levels, strict=True))
        named = sum(map(any, names))
        share = named / (len(names) - (not any(names[0]))) if named > 1 else 0.0  # that of the rows' names needs none
        if not _are_levels(levels) or (share < _NAMED and not _are_words_above_numbers(names, below)):
            continue
        own = [name for name, _group in groupby(names) if any(name)]
        repeated = len(own) - len(set(own))
        if len(set(own)) < 2 or (3 * repeated > len(own) and not _are_words_above_numbers(names, below)):
            continue
        if count == 1 and len(cells) > 2 and _repeats(levels[0], cells[1]):
            continue  # cells span a row and the next one, which then names columns too
        divided = any(under and not any(name) for name, under in zip(names[1:], cells[count][1:], strict=True))
        if share >= _NAMED and not divided and len(own) == named:
            count += _describes(levels[-1], cells[count], cells[count + 1 :])
            while count < len(cells) - 1 and not any(
                cell and cell != name for cell, name in zip(cells[count], cells[count - 1], strict=True)
            ):
                count += 1  # the rest of cells that span rows
            return count
        if len(own) > 2 or share < _NAMED:
            fallback = fallback or count  # columns without a name or sharing one: perhaps the next row names them
    return fallback


def spread(levels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return header rows in which a text also covers the empty cells after it that have a text in the row below.

    This is how a name of several columns looks without merged cells.
    """
    result = [list(row) for row in levels]
    for row, under in pairwise(result):
        last = 0  # the column in which the text left of it stands
        for place in range(1, len(row)):
            if row[place]:
                last = place
            elif (
                under[place]
                and row[place - 1]
                and under[place - 1] not in ("", row[place - 1])
                and not (last and row[last] == row[last - 1])  # a merged cell covers only its own columns
            ):
                row[place] = row[place - 1]
    return result


def _are_words_above_numbers(names: Sequence[tuple[str, ...]], below: Sequence[Sequence[str]]) -> bool:
    """Return whether some columns, perhaps only the first, have names, and half of these are words above numbers."""
    named = [place for place, name in enumerate(names) if any(name)]
    amounts = [place for place in named if not any(map(is_number, names[place])) and _are_numbers(below, place)]
    first = len(named) >= _FIRST and named[-1] == len(named) - 1
    enough = first or len(named) >= len(names) * _NAMED_ABOVE_NUMBERS
    return len(named) > 1 and enough and 2 * len(amounts) >= len(named)


def _are_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    values = [row[place] for row in rows if row[place]]
    return bool(values) and sum(map(is_number, values)) > 0.7 * len(values)


def _are_levels(levels: Sequence[Sequence[str]]) -> bool:
    """Return whether each row divides names of the row above, and they don't name the rows differently."""
    return all(
        _repeats(above, under)
        or (
            not (above[0] and under[0] and above[0] != under[0])
            and any(left and left == right for left, right in pairwise(above))
        )
        for above, under in pairwise(levels)
    )


def _repeats(above: Sequence[str], under: Sequence[str]) -> bool:
    """Return whether half of the cells span two rows."""
    return 2 * sum(1 for one, other in zip(above, under, strict=True) if one and one == other) >= len(above)


def _describes(names: Sequence[str], row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the row below the names has their units, or more of their series: "1, 2, 3" above weekdays."""
    places = [place for place, cell in enumerate(row) if place and cell and cell != names[place]]  # not spanning both
    if len(places) < 2 or not below or not all(names[place] for place in places):
        return False
    if row[0] and row[0] == names[0]:
        return True  # a cell spans both
    values = [line[place] for line in below for place in places if line[place]]
    for kind in (_WEEKDAY, _TIME, _YEAR):
        if all(kind.match(row[place]) for place in places):
            if sum(kind.match(value) is not None for value in values) >= _ALIKE * len(values):
                return False
            if kind is _WEEKDAY or all(is_number(names[place]) for place in places):
                return True
            break
    else:
        if any(is_number(row[place]) for place in places):
            return False
    named = not row[0] or _UNIT.match(row[0]) is not None
    return named and all(_are_numbers(below, place) for place in places)


def _may_name(row: Sequence[str], above: Sequence[str] | None, below: Sequence[Sequence[str]], count: int) -> bool:
    """Return whether the cells of a row are short, and words or a series that the rows below don't continue."""
    filled = [cell for cell in row if cell]
    if len(filled) < 2 or max(map(len, filled)) > _LONGEST or sum(map(len, filled)) > _LONGEST_MEAN * len(filled):
        return False
    if any(left == right and _CLAUSE.search(left) for left, right in pairwise(row)):
        return False  # a sentence in merged cells
    for place, cell in enumerate(row):
        values = [line[place] for line in below if line[place]]
        if _ADDRESS.match(cell) and not _are_numbers(below, place):
            return False
        if _DIGITS.search(cell) and not is_number(cell):
            shape = _DIGITS.sub("0", cell)
            if sum(_DIGITS.sub("0", value) == shape and value != cell for value in values) > _ALIKE * len(values):
                return False  # such as "5 EUR" above "12 EUR"
    places = [place for place, cell in enumerate(row) if is_number(cell)]
    if not places or (above is not None and _repeats(above, row)):
        return True
    if 0 in places and count == 1:
        return False  # the first column names the rows
    if count == 1 and row[0] and len(below) >= _FEW and all(is_number(line[0]) for line in below):
        return True  # a word above numbers or dates that name the rows
    columns = [[line[place] for line in below if line[place]] for place in places]
    return _is_series([row[place] for place in places], columns, count > 1)


def _is_series(names: Sequence[str], columns: Sequence[Sequence[str]], of_several: bool) -> bool:
    """Return whether numbers, dates or times are names of the columns below them rather than values."""
    values = [cell for column in columns for cell in column]
    if not values:
        return of_several  # columns that are still to be filled in
    distinct = list(dict.fromkeys(names)) if of_several else list(names)
    for kind in (_YEAR, _DATE, _TIME, _RANGE):
        if all(kind.match(name) for name in distinct):
            unlike = sum(kind.match(value) is not None for value in values) < _ALIKE * len(values)
            if len(distinct) > 1:
                return unlike and len(set(distinct)) == len(distinct)
            # A single year or date may be a value beside words.
            return unlike and sum(map(is_number, values)) > len(values) / 2
    numbers = [_value(name) for name in distinct]
    if None in numbers or len(numbers) < 3:
        return False
    # The rows below of an ordinary row rise or fall like it, or have its step.
    rows = [row for cells in zip(*columns, strict=False) if None not in (row := [_value(cell) for cell in cells])]
    rising = [all(left < right for left, right in pairwise(row)) for row in (numbers, *rows)]  # type: ignore[operator]
    like = sum(rises == rising[0] and _is_even(row) for rises, row in zip(rising[1:], rows, strict=True))  # type: ignore[arg-type]
    return _is_even(numbers) and like <= _ALIKE * len(rows)  # type: ignore[arg-type]


def _is_even(numbers: Sequence[float]) -> bool:
    """Return whether numbers rise or fall by the same step or factor, such as sizes and numbers of pieces.

    Those of several groups of questions may begin at 1 again.
    """
    again = [place for place, number in enumerate(numbers) if number == 1 and place]
    if numbers[0] == 1 and again:
        ends = [*again, len(numbers)]
        return all(
            number == place - start + 1
            for start, end in zip([0, *again], ends, strict=True)
            for place, number in enumerate(numbers[start:end], start)
        )
    steps = [right - left for left, right in pairwise(numbers)]
    if all(abs(step - steps[0]) < 1e-9 for step in steps):
        return steps[0] != 0
    return (all(step > 0 for step in steps) or all(step < 0 for step in steps)) and all(
        number == round(number) for number in numbers
    )


def _value(text: str) -> float | None:
    digits = re.sub(r"[,\s$€£¥￥%]", "", text)
    try:
        return float(digits)
    except ValueError:
        return None
