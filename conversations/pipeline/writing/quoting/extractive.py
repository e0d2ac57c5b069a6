"""Chooses what to quote as an answer without a language model. Pure.

The best of the `candidates` is quoted first, with the parts of its paragraph that it can't be understood without
(`quotes`); other likely answers follow. Tables are quoted by rows, or computed (`from_rows`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from conversations.pipeline.writing.quoting.candidates import (
    MARGIN,
    ROW_MARGIN,
    Candidate,
    candidates_of,
    overlap,
    rank,
)
from conversations.pipeline.writing.quoting.editions import Edition, asked_for, editions
from conversations.pipeline.writing.quoting.extremes import counted_in, extreme_in, states_count
from conversations.pipeline.writing.quoting.from_rows import (
    FromRows,
    count_rows,
    find_extreme,
    find_within,
    holds_cell,
    holds_measure,
    is_one_row,
    named_cells,
    rows_with_range,
    tables_by_hit,
)
from conversations.pipeline.writing.quoting.introductions import (
    MAX_LIST_LINES,
    announces,
    beginning,
)
from conversations.pipeline.writing.quoting.limits import limit_in
from conversations.pipeline.writing.quoting.quotes import Quote, is_label, label_of, quote_of
from conversations.pipeline.writing.quoting.similarity import Similarity
from conversations.pipeline.writing.quoting.surroundings import Surroundings
from ragsite.language.answer_types import (
    is_broad,
    wants_explanation,
    wants_list,
    wants_picture,
    wants_procedure,
)
from ragsite.language.detection import language_of
from ragsite.language.facts import is_named, names
from ragsite.language.quantities import Quantity, quantities
from retrieval.answerability.gate import FIRST_PASSAGES
from retrieval.answerability.question_weights import QuestionWord, coverage
from retrieval.answerability.units import unit_terms, units
from retrieval.search import Hit

# The limits below were chosen by hand on the same questions as the weights; commits 600e0657, 1e08b7bd (by the reader's
# scores) and d861b8f4 (procedures).
#
# The most passages that are quoted.
MAX_PASSAGES = 3
# By `ANSWER_LENGTH`, the most sentences quoted for a fact and for an explanation, in addition to the sentences that
# these introduce or need.
MAX_SENTENCES = {"short": (1, 2), "normal": (3, 5), "detailed": (6, 10)}
MAX_ROWS, MAX_LISTED_ROWS = 3, 12
# The similarity from which a sentence without a word of the question may follow the one that answers.
ENOUGH_SIMILARITY = 1.75
# The share of all terms of two sentences that near-duplicates have in common.
DUPLICATE_SHARE = 0.8
# The share of a question that a picture's caption must cover if the question asks for a picture, and otherwise.
WANTED_PICTURE, OTHER_PICTURE = 0.3, 0.6
MAX_PICTURES = 2
# The least share of a how-to question that the heading of a procedure must contain.
PROCEDURE_HEADING_SHARE = 0.5
# The share of their terms that sentences of two versions of a document have in common if they say the same of it.
SAME_SUBJECT = 0.35
# The share of a question's words that a row must have, together with its columns' names, to hold its subject and its
# attribute.
ALL_WORDS = 0.99


@dataclass(frozen=True, slots=True)
class Form:
    """How the answer should be quoted: its length, a key of `MAX_SENTENCES`; the most sentences, None for the length's;
    and the language of the passages to prefer, empty for any.
    """

    length: str = "normal"
    sentences: int | None = None
    language: str = ""


@dataclass(slots=True)
class Extract:
    """The sentences, table rows and pictures to quote, by the position of their hit, in display order.

    `sizes` has the number of rows of each whole table, `labels` the names of documents that are versions of one thing,
    and `following` the passages that quoted ones announce, whose positions come after those of the hits. `computed` is
    what all rows of the first table say; with `holds_cell`, a row has a cell for both the subject and the attribute
    that the question names. With `is_partial`, the quotes are only a part of what it asks for.
    """

    quotes: list[Quote] = field(default_factory=list)
    tables: dict[int, list[list[str]]] = field(default_factory=dict)
    pictures: list[int] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    following: list[Hit] = field(default_factory=list)
    computed: FromRows | None = None
    is_partial: bool = False
    holds_cell: bool = False
    # The positions of the hits used, the best answer first.
    hits: list[int] = field(default_factory=list)


def extract(
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    similarity: Similarity | None = None,
    form: Form = Form(),
    around: Surroundings | None = None,
) -> Extract:
    """Choose what to quote from hits (best first) for a question; `asked` contains its words.

    `similarity` returns the similarity of texts to the question, and is None without a suitable model; `around`
    is what stands around the hits.
    """
    around = around or Surroundings()
    ranked = _with_cell_first(question, hits, rank(question, asked, hits[:FIRST_PASSAGES], similarity))
    if form.language:
        ranked = _in_language(form.language, ranked, hits)
    result = Extract()
    if ranked and not _compute(result, question, asked, hits, ranked, around):
        found = editions(hits, around.beginnings)
        leading = _of_editions(question, asked, hits, ranked, found)
        if leading:
            result.labels = {unit.hit: found[hits[unit.hit].document_id].label for unit in leading}
            versions = {hits[unit.hit].document_id for unit in leading[1:]}
            own = hits[leading[0].hit].document_id
            versions |= {key for key, edition in found.items() if key != own and edition.group == found[own].group}
            rest = (unit for unit in ranked if unit not in leading)
            ranked = [*leading, *(unit for unit in rest if hits[unit.hit].document_id not in versions)]
        explained = wants_procedure(question) or wants_explanation(question)
        if result.is_partial and not leading:
            leading = _one_of_each(ranked, hits)
        most = MAX_SENTENCES[form.length][explained]
        taken = _taken(ranked, min(most, form.sentences or most), leading or ranked[:1])
        _quote(result, question, asked, hits, taken, ranked, around)
        if form.sentences is not None:
            _shorten(result, form.sentences)
    # A picture is shown if the question asks for one, or if its caption covers most of the question.
    wanted = WANTED_PICTURE if wants_picture(question) else OTHER_PICTURE
    for position, hit in enumerate(hits):
        if hit.kind != "image" or len(result.pictures) >= MAX_PICTURES or position in result.pictures:
            continue
        if coverage(asked, unit_terms(hit.content)) >= wanted:
            result.pictures.append(position)
            result.hits.append(position)
    return result


def _in_language(language: str, ranked: list[Candidate], hits: Sequence[Hit]) -> list[Candidate]:
    """Return only the sentences in a language, if the best of them answers too; otherwise all.

    A wrong answer in the right language is worse than the other way round, so it must be as similar to the question as
    an answer is, and have the figures of the best sentence of all.
    """
    spoken = [unit for unit in ranked if language_of(hits[unit.hit].content) == language]
    if not spoken:
        return ranked
    best, reading = spoken[0], hits[spoken[0].hit].reading
    if best is ranked[0] or (best.strength is not None and best.strength >= 0):
        return spoken
    # Across languages the reader is less sure of a sentence than of its passage.
    answers = ranked[0].score - best.score <= MARGIN if reading is None else (reading.answers or 0.0) > 0
    # "A year" may be a word without a figure in the other language.
    figures = [{q.value for q in quantities(unit.text) if q.value != 1} for unit in (best, ranked[0])]
    is_same = (best.meaning or 0.0) >= ENOUGH_SIMILARITY and figures[0] == figures[1]
    return spoken if answers and is_same else ranked


def _shorten(result: Extract, most: int) -> None:
    """Leave out what exceeds a number of sentences; a list or a procedure that comes first stays whole.

    The first sentence of a quote is the one that answers.
    """
    left = most
    for quote in [*result.quotes]:
        if left <= 0 or (quote.in_order and quote is not result.quotes[0]):
            result.quotes.remove(quote)
            if quote.hit not in result.tables and quote.hit not in result.pictures:
                result.hits.remove(quote.hit)
        elif not quote.in_order:
            quote.sentences = quote.sentences[:left]
            quote.gaps = {index for index in quote.gaps if index < left}
        left -= len(quote.sentences)


def _with_cell_first(question: str, hits: Sequence[Hit], ranked: list[Candidate]) -> list[Candidate]:
    """Return the sentences with the row first that has a cell for what the question names, its row and its column.

    The reader underrates rows of short cells; a sentence in which it finds the answer stays first.
    """
    if not ranked or (ranked[0].strength is not None and ranked[0].strength >= 0):
        return ranked
    for unit in ranked:
        hit = hits[unit.hit]
        if hit.kind == "table" and hit.rows and _answers_by_cell(question, hit, unit.position, unit.own):
            return [unit, *(other for other in ranked if other is not unit)]
    return ranked


def _answers_by_cell(question: str, hit: Hit, position: int, own: float) -> bool:
    """Return whether a row, which covers a share of the question, has a cell for what it names or measures."""
    columns, row = hit.columns or (), (hit.rows or [])[position]
    return (own >= ALL_WORDS and holds_cell(question, columns, row)) or holds_measure(question, columns, row)


def _compute(
    result: Extract,
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    ranked: Sequence[Candidate],
    around: Surroundings,
) -> bool:
    """Answer a question that counts or compares all of something from the rows of a table; return whether it is done.

    If no table holds the answer and the best sentence doesn't state it, the quotes are marked as partial.
    """
    best = ranked[0]
    counted, extreme, limit = counted_in(question), extreme_in(question), limit_in(question)
    if counted is None and extreme is None and limit is None:
        return False
    tables = tables_by_hit(hits[:FIRST_PASSAGES], around.tables)
    if best.hit not in tables:
        if extreme and extreme.word.split()[0] in best.text.casefold():
            return False
        if counted and states_count(counted, unit_terms(counted.thing), best.text, best.terms):
            return False
    answers: dict[int, FromRows] = {}
    for position, rows in tables.items():
        hit = hits[position]
        found = find_extreme(extreme, asked, question, hit, rows) if extreme else None
        if limit:
            found = find_within(limit, asked, question, hit, rows)
        elif found is None and counted:
            found = count_rows(counted, asked, question, hit, rows)
        # Words that a table says nothing of show that it is about something else, unless it is in another language.
        is_foreign = language_of(hit.content) not in ("", language_of(question))
        if found is not None and (found.is_certain or position == best.hit or is_foreign):
            answers[position] = found
    if answers:
        position = min(answers, key=lambda position: (not answers[position].is_certain, position != best.hit, position))
        found = answers[position]
        most = MAX_LISTED_ROWS if len(found.rows) <= MAX_LISTED_ROWS else max(MAX_ROWS, found.answering)
        result.computed, result.hits = found, [position]
        result.sizes[position] = len(tables[position]) if limit else len(found.rows)
        result.tables[position] = found.rows[: min(most, MAX_LISTED_ROWS)]
        # The extreme of one table needn't be that of all.
        is_one_of_several = extreme and any(answers[other].is_certain for other in answers if other != position)
        result.is_partial = not found.is_certain or bool(is_one_of_several)
        return True
    if counted is None and extreme is None:
        return False
    above = unit_terms(f"{hits[best.hit].heading} {hits[best.hit].filename.rpartition('.')[0]}")
    if best.hit in tables:
        result.is_partial = not is_one_row(counted, question, hits[best.hit], tables[best.hit])
    elif extreme:
        result.is_partial = True
    elif counted:
        # What is counted stands only in the heading, so the sentence is about one of them.
        thing = unit_terms(counted.thing)
        result.is_partial = bool(thing) and thing <= above and not thing <= best.terms
    return False


def _of_editions(
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    ranked: Sequence[Candidate],
    found: Mapping[int, Edition],
) -> list[Candidate]:
    """Return what the versions of the document with the best sentence say, the newest first, or those asked for.

    Empty if the document is the only version. Passages that were not read are looked through as well.
    """
    best = ranked[0]
    own = found.get(hits[best.hit].document_id)
    if own is None:
        return []
    others = {key: edition for key, edition in found.items() if edition.group == own.group}
    said = {hits[best.hit].document_id: best}
    unread = (unit for at in range(FIRST_PASSAGES, len(hits)) for unit in candidates_of(at, hits[at], asked, False))
    for unit in sorted([*ranked, *unread], key=lambda unit: -overlap(unit, best)):
        document = hits[unit.hit].document_id
        same = overlap(unit, best) >= SAME_SUBJECT or unit.own >= best.own > 0
        if document in others and document not in said and same:
            said[document] = unit
    named = asked_for(question, others)
    in_order = sorted(said, key=lambda key: (key in named, others[key].order), reverse=True)
    if named and not any(edition.replaces for edition in others.values()):
        in_order = [key for key in in_order if key in named] or in_order
    return [said[key] for key in in_order[:MAX_PASSAGES]]


def _one_of_each(ranked: Sequence[Candidate], hits: Sequence[Hit]) -> list[Candidate]:
    """Return the best sentence of each paragraph of the best one's document, in order, if that is no table's row."""
    best = ranked[0]
    if hits[best.hit].kind != "text":
        return []
    found: dict[tuple[int, int], Candidate] = {}
    for unit in ranked:
        if hits[unit.hit].document_id == hits[best.hit].document_id and hits[unit.hit].kind == "text":
            found.setdefault((unit.hit, unit.paragraph), unit)
    return sorted([*found.values()][:MAX_LIST_LINES], key=lambda unit: (hits[unit.hit].ordinal, unit.position))


def _taken(ranked: Sequence[Candidate], most: int, leading: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences to quote, the leading ones first: few, from few passages, and no near-duplicates."""
    taken = [*leading]
    best = max(unit.score for unit in leading)
    for unit in ranked:
        if unit in leading:
            continue
        if len(taken) >= most or unit.score < best - MARGIN:
            break
        if not (unit.own or unit.context or (unit.meaning or 0.0) >= ENOUGH_SIMILARITY):
            continue
        passages = {other.hit for other in taken}
        if unit.hit not in passages and len(passages) >= MAX_PASSAGES:
            continue
        # Sentences that say the same with different figures aren't near-duplicates.
        if not any(
            overlap(unit, other) >= DUPLICATE_SHARE
            and [*map(_figure, quantities(unit.text))] == [*map(_figure, quantities(other.text))]
            for other in taken
        ):
            taken.append(unit)
    return taken


def _quote(
    result: Extract,
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    taken: Sequence[Candidate],
    ranked: Sequence[Candidate],
    around: Surroundings,
) -> None:
    """Fill the quotes and tables from the sentences taken, passage by passage, the best first."""
    procedural = wants_procedure(question)
    best = taken[0]
    for position in dict.fromkeys(unit.hit for unit in taken):
        if position in result.hits:  # announced by another one
            continue
        hit, mine = hits[position], [unit for unit in taken if unit.hit == position]
        if hit.kind == "image":
            if position != best.hit:
                continue  # pictures that the question asks for are chosen by `extract`
            result.pictures.append(position)
        elif hit.kind == "table" and hit.rows:
            if best.score - mine[0].score > ROW_MARGIN:
                continue
            _quote_rows(result, question, hit, [unit for unit in ranked if unit.hit == position], best)
            result.sizes[position] = len(around.tables.get(hit.chunk_id, ()))
        else:
            # Code examples have the same margin as rows.
            if (
                position != best.hit
                and all(unit.text.startswith("```") for unit in mine)
                and best.score - mine[0].score > ROW_MARGIN
            ):
                continue
            steps = procedural and coverage(asked, unit_terms(hit.heading)) >= PROCEDURE_HEADING_SHARE
            mine = [unit for unit in mine if unit is mine[0] or not is_label(unit.text) or (unit.own and not steps)]
            texts = units(hit)
            quote = quote_of(position, texts, mine, ranked, procedural, whole=steps)
            quote.label = result.labels.get(position) or label_of(question, asked, hit, texts, quote.sentences)
            result.quotes.append(quote)
            result.hits.append(position)
            if announces(texts[-1]) and texts[-1] in quote.sentences:
                _follow(result, hits, around.following.get(hit.chunk_id))
            continue
        result.hits.append(position)


def _quote_rows(result: Extract, question: str, hit: Hit, rows: list[Candidate], best: Candidate) -> None:
    """Fill the table of a hit with its rows, ranked, that the question means: those that it names, or the best ones."""
    position, held = rows[0].hit, hit.rows or []
    cells = {unit.position: len(named_cells(question, held[unit.position])) for unit in rows}
    most = max(cells.values())
    exact = [unit for unit in rows if most and cells[unit.position] == most]
    if within := rows_with_range(question, held):
        in_range = [unit for unit in rows if unit.position in within]
        exact = [unit for unit in exact if unit in in_range] or [*exact, *in_range]
    named = exact or [unit for unit in rows if any(is_named(name, unit.text) for name in names(question))]
    listed = is_broad(question) or wants_list(question)
    # A list is of all rows unless the question's words choose among them; what the reader prefers is only one of them.
    is_of_all = wants_list(question) and len({unit.own for unit in rows}) == 1
    if not named and len(rows) <= MAX_LISTED_ROWS and (is_of_all or not _is_one_meant(rows)):
        listed = True
    elif not exact:
        rows = [unit for unit in rows if best.score - unit.score <= ROW_MARGIN]
    # If a row has the name in the question, the other rows are about something else.
    if exact or not listed:
        rows = [unit for unit in rows if unit in named] or rows
    numbers = [unit.position for unit in rows]
    shown = sorted(numbers)[:MAX_LISTED_ROWS] if listed else numbers[:MAX_ROWS]
    result.tables[position] = [list(map(str, held[number])) for number in shown]
    if position == best.hit:
        result.holds_cell = _answers_by_cell(question, hit, shown[0], best.own)


def _follow(result: Extract, hits: Sequence[Hit], following: Hit | None) -> None:
    """Quote what a passage announces from the passage that follows it."""
    if following is None or following.kind == "image":
        return
    known = [position for position, hit in enumerate(hits) if following.chunk_id in (hit.chunk_id, *hit.merged)]
    position = known[0] if known else len(hits) + len(result.following)
    if position in result.hits:
        return
    if not known:
        result.following.append(following)
    if following.kind == "table" and following.rows:
        result.tables[position] = [list(map(str, row)) for row in following.rows[:MAX_LISTED_ROWS]]
    else:
        result.quotes.append(Quote(position, beginning(following.content)))
    result.hits.append(position)


def _figure(quantity: Quantity) -> tuple[object, ...]:
    return quantity.kind, quantity.value


def _is_one_meant(rows: Sequence[Candidate]) -> bool:
    """Return whether a question is about certain rows (the best first): it names few, or the reader prefers one.

    If it shares no word with any row, as in another language, it is about the first if that is far better than others.
    """
    most = max(row.own for row in rows)
    is_found = rows[0].strength is not None and rows[0].strength >= 0
    if not most and len(rows) > 1:
        return is_found or rows[0].score - rows[1].score > ROW_MARGIN
    return is_found or 2 * sum(row.own == most for row in rows) < len(rows)
