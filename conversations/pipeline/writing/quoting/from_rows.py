"""Answers questions that count, or ask for the lowest or highest value or those within a limit, from a table. Pure."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from conversations.pipeline.writing.quoting.columns import (
    IN_BRACKETS,
    LEAST_NAME,
    dimensions_of,
    holds_dimension,
    is_price,
    measured_in,
    named_share,
    number_in,
    numeric_columns,
    unit_of,
)
from conversations.pipeline.writing.quoting.extremes import Counted, Extreme
from conversations.pipeline.writing.quoting.limits import Limit, bounds_in, bounds_of
from ragsite.language.analysis import terms
from ragsite.language.content_words import naming_likelihood
from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.quantities import quantities
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of
from retrieval.answerability.question_weights import QuestionWord
from retrieval.answerability.units import unit_terms
from retrieval.search import Hit

Rows = Sequence[Sequence[str]]

_SUMMARIES = words_of("summary_rows")
_SUMMARY_ROWS = re.compile(rf"(?:{'|'.join(_SUMMARIES)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FromRows:
    """An answer from a table: the column that holds it, its value, and the rows, those that answer first.

    `count` is None for an extreme; `limit` is the one that the rows are within, as "< 30". `is_certain` is False if the
    question has words that the table says nothing of.
    """

    column: str
    rows: list[list[str]]
    answering: int
    value: str = ""
    count: int | None = None
    limit: str = ""
    is_certain: bool = True


def count_rows(counted: Counted, asked: Sequence[QuestionWord], question: str, hit: Hit, rows: Rows) -> FromRows | None:
    """Count the things in a table's column, or return None if no column holds them or other words limit them."""
    columns, rows = [str(column) for column in hit.columns or ()], _entries(rows)
    numeric = numeric_columns(columns, rows)
    if not rows or _named_row(question, rows, numeric):
        return None
    texts = [number for number in range(len(columns)) if number not in numeric]
    holding = [number for number in texts if _is_named_by(columns[number], counted.thing)]
    if any(_is_named_by(columns[number], counted.thing) for number in numeric):
        return None
    place = f"{hit.heading} {hit.filename.rpartition('.')[0]}"
    if not holding and texts and counted.thing and _is_named_by(place, counted.thing):
        holding = texts[:1]
    if len(holding) != 1:
        return None
    kept, left = _filtered(asked, rows, columns, f"{place} {counted.words}")
    if left:
        return None
    values = dict.fromkeys(row[holding[0]].strip() for row in kept if row[holding[0]].strip())
    return FromRows(columns[holding[0]], kept, len(kept), count=len(values)) if values else None


def find_extreme(
    extreme: Extreme, asked: Sequence[QuestionWord], question: str, hit: Hit, rows: Rows
) -> FromRows | None:
    """Return the rows with the lowest or highest value first, or None if no column is sure to hold it.

    Of several columns that may, such as prices in two currencies, the first is taken if the same rows lead in all.
    """
    columns, rows = [str(column) for column in hit.columns or ()], _entries(rows)
    place = f"{hit.heading} {hit.filename.rpartition('.')[0]} {extreme.word}"
    kept, left = _filtered(asked, rows, columns, place)
    found: list[FromRows] = []
    numeric = numeric_columns(columns, rows)
    for column in _extreme_columns(extreme, asked, question, columns, numeric, is_about_it=not left):
        valued = [(value, row) for row in kept if (value := number_in(row[column])) is not None]
        if not valued:
            return None
        valued.sort(key=lambda pair: pair[0], reverse=extreme.end == "highest")
        first = sum(value == valued[0][0] for value, _row in valued)
        ordered = [row for _value, row in valued]
        found.append(FromRows(columns[column], ordered, first, value=ordered[0][column].strip(), is_certain=not left))
    if not found or any(each.rows[: each.answering] != found[0].rows[: found[0].answering] for each in found):
        return None
    return found[0]


def find_within(limit: Limit, asked: Sequence[QuestionWord], question: str, hit: Hit, rows: Rows) -> FromRows | None:
    """Return the rows within a limit, or None if there are none or no column is sure to hold what is limited."""
    columns, rows = [str(column) for column in hit.columns or ()], _entries(rows)
    limited = _limited_columns(limit, asked, question, columns, numeric_columns(columns, rows))
    if len(limited) != 1:
        return None
    (column,) = limited
    kept, left = _filtered(asked, rows, columns, f"{hit.heading} {hit.filename.rpartition('.')[0]} {limit.words}")
    each = unit_of(columns[column])[1] if limit.unit or limit.is_price else 1
    within = [row for row in kept if (value := number_in(row[column])) is not None and limit.admits(value * each)]
    if not within:
        return None
    shown = f"{limit.sign} {limit.text}"
    return FromRows(columns[column], within, len(within), count=len(within), limit=shown, is_certain=not left)


def is_one_row(counted: Counted | None, question: str, hit: Hit, rows: Rows) -> bool:
    """Return whether a question that counts is answered by a row's figure: it names the row, or the figure's column."""
    columns, rows = [str(column) for column in hit.columns or ()], _entries(rows)
    numeric = numeric_columns(columns, rows)
    if counted is None:
        return False
    return _named_row(question, rows, numeric) or any(_is_named_by(columns[each], counted.thing) for each in numeric)


def named_cells(question: str, row: Sequence[str]) -> set[int]:
    """Return the cells of a row, other than numbers, that a question names in full."""
    folded, asked = _folded(question), unit_terms(question)
    return {at for at, cell in enumerate(row) if number_in(str(cell)) is None and _is_named(str(cell), folded, asked)}


def holds_cell(question: str, columns: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether a question names both a row, by one of its cells, and a column of another one of its cells."""
    folded, asked = _folded(question), unit_terms(question)
    named = named_cells(question, row)
    return any(
        named - {at} and str(row[at]).strip() and _is_named(IN_BRACKETS.sub("", str(column)), folded, asked)
        for at, column in enumerate(columns[: len(row)])
    )


def holds_measure(question: str, columns: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether a question names a row and asks "how heavy" or the like, which one of its columns holds."""
    dimensions = measured_in(question)
    held = [at for at, name in enumerate(columns) if any(holds_dimension(str(name), each) for each in dimensions)]
    return len(held) == 1 and bool(named_cells(question, row))


def rows_with_range(question: str, rows: Rows) -> set[int]:
    """Return the positions of the rows in whose range a quantity of the question lies: 三年至六年 for five years.

    They are empty if no column has ranges of such a quantity, or if the question has several of them.
    """
    text = simplified(question)
    found = [quantity for quantity in quantities(text) if quantity.unit and not quantity.spelled]
    asked = [bounds_of(text, quantity) for quantity in found]
    for column in range(len(rows[0]) if asked and rows else 0):
        ranges = {at: bounds for at, row in enumerate(rows) if (bounds := bounds_in(str(row[column])))}
        kinds = {bounds.kind for bounds in ranges.values()}
        meant = [bounds for bounds in asked if bounds.kind in kinds]
        if len(ranges) > 1 and len(meant) == 1:
            same = {at for at, bounds in ranges.items() if bounds == meant[0]}
            return same or {at for at, bounds in ranges.items() if bounds.meets(meant[0])}
    return set()


def _is_named(name: str, folded: str, asked: Set[str]) -> bool:
    """Return whether a question contains a name, or all of its words in some form."""
    name = _folded(name)
    if len(name) < LEAST_NAME:
        return False
    if HAN_CHARACTER.search(name):
        return name in folded
    own = unit_terms(name)
    return bool(own) and own <= asked


def _folded(text: str) -> str:
    return simplified(text).strip().casefold()


def _entries(rows: Rows) -> list[list[str]]:
    """Return the rows without those that are empty or summarise others."""
    cells = ([str(cell) for cell in row] for row in rows)
    first = ((row, next((cell for cell in row if cell.strip()), "")) for row in cells)
    return [row for row, cell in first if cell and not _SUMMARY_ROWS.match(simplified(cell.strip()))]


def _named_row(question: str, rows: Rows, numeric: Sequence[int]) -> bool:
    """Return whether a question names a row by its first cell that isn't a number."""
    folded, asked = _folded(question), unit_terms(question)
    keys = (next((cell for at, cell in enumerate(row) if at not in numeric and cell.strip()), "") for row in rows)
    return any(_is_named(key, folded, asked) for key in keys)


def _is_named_by(name: str, thing: str) -> bool:
    """Return whether a column's name or a title contains the name of a thing; for Chinese, one may be in the other."""
    name = simplified(name)
    if HAN_CHARACTER.search(thing):
        bare = IN_BRACKETS.sub("", name)
        return thing in name or (len(bare) >= LEAST_NAME and bare in thing)
    wanted = set(terms(thing))
    return bool(wanted) and wanted <= unit_terms(name)


def _extreme_columns(
    extreme: Extreme,
    asked: Sequence[QuestionWord],
    question: str,
    columns: Sequence[str],
    numeric: Sequence[int],
    *,
    is_about_it: bool,
) -> list[int]:
    """Return the columns that may hold what an extreme is of: those that are named, of prices or of its dimension.

    The only column of numbers may too, if the table is about what the question names.
    """
    candidates = _named_most(asked, question, columns, numeric)
    if extreme.is_price:
        prices = [number for number in numeric if is_price(columns[number])]
        return [number for number in candidates if number in prices] or prices
    if dimensions := dimensions_of(extreme.word):
        held = [number for number in numeric if any(holds_dimension(columns[number], each) for each in dimensions)]
        candidates = [number for number in candidates if number in held] or held
    elif not candidates and len(numeric) == 1 and is_about_it:
        return list(numeric)
    return candidates if len(candidates) == 1 else []


def _limited_columns(
    limit: Limit, asked: Sequence[QuestionWord], question: str, columns: Sequence[str], numeric: Sequence[int]
) -> list[int]:
    """Return the columns that may hold what is limited: of prices, of a dimension, in its unit, or those named."""
    units = {number: unit_of(columns[number])[0] for number in numeric}
    fitting = [number for number in numeric if not limit.unit or units[number] in ("", limit.unit)]
    if limit.is_price:
        held = [number for number in fitting if is_price(columns[number])]
    else:
        fitting = [number for number in fitting if not is_price(columns[number])]
        held = [
            number for number in fitting if any(holds_dimension(columns[number], each) for each in limit.dimensions)
        ]
    same = [number for number in fitting if limit.unit and units[number] == limit.unit]
    folded, own = _folded(question), unit_terms(question)
    named = [number for number in fitting if _is_named(IN_BRACKETS.sub("", columns[number]), folded, own)]
    held = [number for number in held if number in same] or held or same
    return [number for number in named if number in held] or held or named


def _named_most(
    asked: Sequence[QuestionWord], question: str, columns: Sequence[str], numeric: Sequence[int]
) -> list[int]:
    named = {number: named_share(columns[number], asked, _folded(question)) for number in numeric}
    most = max(named.values(), default=0.0)
    return [number for number in numeric if most and named[number] == most]


def _filtered(
    asked: Sequence[QuestionWord], rows: list[list[str]], columns: Sequence[str], place: str
) -> tuple[list[list[str]], list[str]]:
    """Return the rows that the words of a question limit an answer to, and the words that the table doesn't hold."""
    known, kept, left = unit_terms(f"{place} {' '.join(columns)}"), rows, []
    text = simplified(f"{place} {' '.join(columns)}")
    for word in asked:
        is_han = bool(HAN_CHARACTER.match(word.text))
        if word.held_by(known) > 0 or word.text.casefold() in text.casefold() or naming_likelihood(word.text) < 1:
            continue
        if is_han and any(character in text for character in word.text):
            continue
        holding = [row for row in kept if any(word.held_by(unit_terms(cell)) >= 1 for cell in row)]
        if holding:
            kept = holding
        else:
            left.append(word.text)
    return kept, left


def tables_by_hit(hits: Sequence[Hit], whole: Mapping[int, Rows]) -> dict[int, Rows]:
    """Return the rows of the whole tables of hits, by the hits' positions."""
    return {
        position: whole.get(hit.chunk_id) or hit.rows
        for position, hit in enumerate(hits)
        if hit.kind == "table" and hit.rows
    }
