"""Chooses the sentences to quote as an answer without a language model. Pure.

Each sentence of the first passages is scored by a weighted sum (see `_Unit.score`), fitted so that the sentence
containing the answer comes first: by the reader's score, or else by its words and its similarity in meaning. It is
quoted first, with the parts of its paragraph that it can't be understood without; other likely answers follow.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from conversations.pipeline.writing.editions import Edition, asked_for, editions
from conversations.pipeline.writing.extremes import counted_in, extreme_in, states_count
from conversations.pipeline.writing.from_rows import (
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
from conversations.pipeline.writing.introductions import (
    LIST_ITEM,
    MAX_LIST_LINES,
    announced,
    announces,
    beginning,
    ends_in_colon,
)
from conversations.pipeline.writing.limits import limit_in
from conversations.pipeline.writing.similarity import Similarity
from conversations.pipeline.writing.surroundings import Surroundings
from knowledge.chunking.sections import MARK
from knowledge.parsing.mail.quotes import is_quoted
from ragsite.language.answer_types import (
    asks_which,
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
from retrieval.answerability.units import terms_above, unit_terms, units
from retrieval.search import Hit

# The limits below were chosen by hand on the same questions as the weights; commits 600e0657, 1e08b7bd (by the reader's
# scores) and d861b8f4 (procedures).
#
# The most passages that are quoted.
MAX_PASSAGES = 3
# By `ANSWER_LENGTH`, the most sentences quoted for a fact and for an explanation, in addition to the sentences that
# these introduce or need.
MAX_SENTENCES = {"short": (1, 2), "normal": (3, 5), "detailed": (6, 10)}
# A sentence whose score is this much lower than the best is not worth quoting; for table rows and code the margin is
# smaller.
MARGIN, ROW_MARGIN = 3.0, 1.0
MAX_ROWS, MAX_LISTED_ROWS = 3, 12
# The similarity from which a sentence without a word of the question may follow the one that answers.
ENOUGH_SIMILARITY = 1.75
# The assumed reader's score of a sentence that it didn't read, if it read others.
_UNREAD_STRENGTH = -15.0
# The share of all terms of two sentences that near-duplicates have in common.
DUPLICATE_SHARE = 0.8
# The share of a question that a picture's caption must cover if the question asks for a picture, and otherwise.
WANTED_PICTURE, OTHER_PICTURE = 0.3, 0.6
MAX_PICTURES = 2
# The most columns of a procedure quoted from its beginning, and the least share of a how-to question that its heading
# must contain.
MAX_PROCEDURE_COLUMNS, PROCEDURE_HEADING_SHARE = 620, 0.5
# The share of their terms that sentences of two versions of a document have in common if they say the same of it.
SAME_SUBJECT = 0.35
# The share of a question's words that a row must have, together with its columns' names, to hold its subject and its
# attribute.
ALL_WORDS = 0.99
# The longest heading, in columns, that a sentence is quoted with, and the least share of a question that it adds.
MAX_LABEL_COLUMNS, LABEL_SHARE = 90, 0.05
# The number of sentences that are compared in meaning; each costs an embedding.
COMPARED = 8

# The beginning of a definition: the term and a colon.
_TERM = re.compile(r"[^\s-][^.。:：\n]{1,80}[:：] ?\S")
_STEP = re.compile(r"\s*(?:[-*•]\s|\d{1,2}[.)、](?!\d)|[(（]?[a-z\d]{1,2}[)）]|步[骤驟])\s*\S", re.IGNORECASE)
# The beginning of a sentence that can't be understood without the one before it.
_REFERS_BACK = re.compile(
    r"(?:It|They|Th(?:is|ese|at|ose)|He|She|Its|Their|In this case|If so|Otherwise|The (?:default|same|[lf]\w+er))\b"
    r"|[它他她牠这這该該此其]|默[认認]|否[则則]|如果是"
)
_SECTION_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|第[一二三四五六七八九十\d]+[章节条部分]+)\s+")
_SENTENCE_END = re.compile(r"[.!?。！？…；;][\"'”’」』）)\]]*\s*$")


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature of a sentence in its score; see `_Unit`. `place` is its passage's: 1, 1/2, 1/3 …"""

    strength: float = 0.0
    own: float = 0.0
    context: float = 0.0
    meaning: float = 0.0
    place: float = 0.0


# Fitted as a choice of one sentence among a question's (softmax), on the answerable questions of
# tests/conversations/data/answers/dev-*, by `manage.py bench_answers --json`: commit cb506880 with a reader, 3b1f9d03
# across languages, 1255aa00 without a reader. docs/decisions/reader.md.
READ = Weights(strength=0.39, own=3.0, place=1.89)
READ_AND_COMPARED = Weights(strength=0.67 * 0.39, own=0.67 * 3.0, place=0.67 * 1.89, meaning=2.0)
UNREAD = Weights(own=5.0, context=4.5, meaning=1.8, place=3.5)


@dataclass(slots=True)
class Quote:
    """Sentences of one passage: the one that answers, then others in their order there.

    Each keeps the whitespace after it. `hit` is the passage's position among the hits; `gaps` contains the indices of
    sentences before which something is left out. `label` is the heading, or the document, that says what the first one
    is about; empty if it says so itself.
    """

    hit: int
    sentences: list[str] = field(default_factory=list)
    gaps: set[int] = field(default_factory=set)
    label: str = ""


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


@dataclass(slots=True)
class _Unit:
    """A sentence, a table row or a code block that may answer the question."""

    hit: int
    position: int
    text: str
    terms: frozenset[str]
    paragraph: int
    own: float  # the share of the question that it covers, a row together with its columns' names
    context: float  # the share that its headings add
    strength: float | None  # the reader's preference for an answer within it over none; None without a reader
    meaning: float | None = None  # its similarity to the question; None if sentences were not compared

    @property
    def score(self) -> float:
        """The weighted sum that sentences are ordered by."""
        if self.strength is None:
            weights = UNREAD
        else:
            weights = READ if self.meaning is None else READ_AND_COMPARED
        return (
            weights.strength * (self.strength or 0.0)
            + weights.own * self.own
            + weights.context * self.context
            + weights.meaning * (self.meaning or 0.0)
            + weights.place / (1 + self.hit)
        )


def extract(
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    similarity: Similarity | None = None,
    length: str = "normal",
    around: Surroundings | None = None,
) -> Extract:
    """Choose what to quote from hits (best first) for a question; `asked` contains its words.

    `similarity` returns the similarity of texts to the question, and is None without a suitable model; `length` is a
    key of `MAX_SENTENCES`; `around` is what stands around the hits.
    """
    around = around or Surroundings()
    ranked = _with_cell_first(question, hits, _ranked(question, asked, hits[:FIRST_PASSAGES], similarity))
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
        taken = _taken(ranked, MAX_SENTENCES[length][explained], leading or ranked[:1])
        _quote(result, question, asked, hits, taken, ranked, around)
    # A picture is shown if the question asks for one, or if its caption covers most of the question.
    wanted = WANTED_PICTURE if wants_picture(question) else OTHER_PICTURE
    for position, hit in enumerate(hits):
        if hit.kind != "image" or len(result.pictures) >= MAX_PICTURES or position in result.pictures:
            continue
        if coverage(asked, unit_terms(hit.content)) >= wanted:
            result.pictures.append(position)
            result.hits.append(position)
    return result


def _ranked(
    question: str, asked: Sequence[QuestionWord], hits: Sequence[Hit], similarity: Similarity | None
) -> list[_Unit]:
    """Return the sentences of the hits, the most likely answer first."""
    # Captions of pictures that the question doesn't ask for are skipped; `extract` shows those that cover the question.
    pictured = wants_picture(question) or all(hit.kind == "image" for hit in hits)
    quotable = [(position, hit) for position, hit in enumerate(hits) if pictured or hit.kind != "image"]
    is_read = any(hit.reading and hit.reading.sentences for _position, hit in quotable)
    found = [unit for position, hit in quotable for unit in _units_of(position, hit, asked, is_read)]
    found.sort(key=lambda unit: -unit.score)
    compared = found[:COMPARED]
    # Within a language the reader alone is better than with similarity; across languages the two add up.
    language = language_of(question)
    if similarity is not None and not (
        is_read and all(language_of(hits[unit.hit].content) in ("", language) for unit in compared)
    ):
        similarities = similarity([unit.text for unit in compared])
        for number, unit in enumerate(found):
            unit.meaning = max(0.0, similarities[number]) if number < len(similarities) else 0.0
        found.sort(key=lambda unit: -unit.score)
    # What a mail quotes from older ones is an answer only if it is far better than the mail's own words.
    own: dict[int, float] = {}
    for unit in reversed(found):
        if not is_quoted(hits[unit.hit].heading):
            own[hits[unit.hit].document_id] = unit.score
    return [
        unit
        for unit in found
        if not is_quoted(hits[unit.hit].heading)
        or unit.score > own.get(hits[unit.hit].document_id, float("-inf")) + MARGIN
    ]


def _with_cell_first(question: str, hits: Sequence[Hit], ranked: list[_Unit]) -> list[_Unit]:
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


def _units_of(position: int, hit: Hit, asked: Sequence[QuestionWord], is_read: bool) -> list[_Unit]:
    texts = units(hit)
    is_table = hit.kind == "table" and bool(hit.rows)
    above = terms_above(hit)
    # The names of a table's columns belong to each of its rows.
    columns = unit_terms(" ".join(map(str, hit.columns or ()))) if is_table else frozenset[str]()
    strengths = _strengths(hit, texts, is_table) if is_read else [None] * len(texts)
    found: list[_Unit] = []
    section: frozenset[str] = frozenset()
    paragraph = 0
    for number, (text, strength) in enumerate(zip(texts, strengths, strict=True)):
        own = unit_terms(text)
        is_asked = text.rstrip().endswith(("?", "？")) and (text.startswith("> ") or is_quoted(hit.heading))
        if text.startswith(MARK):
            section, paragraph = own, paragraph + 1
            continue
        held = coverage(asked, own | columns)
        # A number alone says nothing, and what a mail quotes may be the question.
        if is_table or (any(map(str.isalpha, text)) and not is_asked):
            context = coverage(asked, own | above | section) - held
            found.append(_Unit(position, number, text.strip(), own, paragraph, held, context, strength))
        if "\n\n" in text[len(text.rstrip()) :]:
            paragraph += 1
    return found


def _strengths(hit: Hit, texts: Sequence[str], is_table: bool) -> list[float | None]:
    """Return the reader's score of each sentence or row: the highest of the spans read within it."""
    read = hit.reading.sentences if hit.reading else ()
    if is_table:  # the rows are the table's last lines
        rows = [strength for _start, strength in read[-len(texts) :]]
        return [*[_UNREAD_STRENGTH] * (len(texts) - len(rows)), *rows]
    ends = [*accumulate(map(len, texts))]
    found: list[float | None] = [_UNREAD_STRENGTH] * len(texts)
    for start, strength in read:
        number = min(bisect_right(ends, start), len(texts) - 1)
        found[number] = max(strength, found[number] or _UNREAD_STRENGTH)
    return found


def _compute(
    result: Extract,
    question: str,
    asked: Sequence[QuestionWord],
    hits: Sequence[Hit],
    ranked: Sequence[_Unit],
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
    ranked: Sequence[_Unit],
    found: Mapping[int, Edition],
) -> list[_Unit]:
    """Return what the versions of the document with the best sentence say, the newest first, or those asked for.

    Empty if the document is the only version. Passages that were not read are looked through as well.
    """
    best = ranked[0]
    own = found.get(hits[best.hit].document_id)
    if own is None:
        return []
    others = {key: edition for key, edition in found.items() if edition.group == own.group}
    said = {hits[best.hit].document_id: best}
    unread = (unit for at in range(FIRST_PASSAGES, len(hits)) for unit in _units_of(at, hits[at], asked, False))
    for unit in sorted([*ranked, *unread], key=lambda unit: -_overlap(unit, best)):
        document = hits[unit.hit].document_id
        same = _overlap(unit, best) >= SAME_SUBJECT or unit.own >= best.own > 0
        if document in others and document not in said and same:
            said[document] = unit
    named = asked_for(question, others)
    in_order = sorted(said, key=lambda key: (key in named, others[key].order), reverse=True)
    if named and not any(edition.replaces for edition in others.values()):
        in_order = [key for key in in_order if key in named] or in_order
    return [said[key] for key in in_order[:MAX_PASSAGES]]


def _one_of_each(ranked: Sequence[_Unit], hits: Sequence[Hit]) -> list[_Unit]:
    """Return the best sentence of each paragraph of the best one's document, in order, if that is no table's row."""
    best = ranked[0]
    if hits[best.hit].kind != "text":
        return []
    found: dict[tuple[int, int], _Unit] = {}
    for unit in ranked:
        if hits[unit.hit].document_id == hits[best.hit].document_id and hits[unit.hit].kind == "text":
            found.setdefault((unit.hit, unit.paragraph), unit)
    return sorted([*found.values()][:MAX_LIST_LINES], key=lambda unit: (hits[unit.hit].ordinal, unit.position))


def _overlap(one: _Unit, other: _Unit) -> float:
    return len(one.terms & other.terms) / max(1, len(one.terms | other.terms))


def _taken(ranked: Sequence[_Unit], most: int, leading: Sequence[_Unit]) -> list[_Unit]:
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
            _overlap(unit, other) >= DUPLICATE_SHARE
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
    taken: Sequence[_Unit],
    ranked: Sequence[_Unit],
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
            mine = [unit for unit in mine if unit is mine[0] or not _is_label(unit.text) or (unit.own and not steps)]
            texts = units(hit)
            quote = _quote_of(position, texts, mine, ranked, procedural, whole=steps)
            quote.label = result.labels.get(position) or _label(question, asked, hit, texts, quote.sentences)
            result.quotes.append(quote)
            result.hits.append(position)
            if announces(texts[-1]) and texts[-1] in quote.sentences:
                _follow(result, hits, around.following.get(hit.chunk_id))
            continue
        result.hits.append(position)


def _quote_rows(result: Extract, question: str, hit: Hit, rows: list[_Unit], best: _Unit) -> None:
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


def _label(question: str, asked: Sequence[QuestionWord], hit: Hit, texts: Sequence[str], quoted: Sequence[str]) -> str:
    """Return the headings that say what a quote is about, if its sentences don't; else an empty string.

    They are needed if the question asks which thing something is true of, if the first sentence refers back, or if they
    hold words of the question that the sentences lack.
    """
    above = [part for part in hit.heading.split(" › ") if part]
    first = texts.index(quoted[0])
    above += [text.removeprefix(MARK).strip() for text in texts[:first] if text.startswith(MARK)][-1:]
    if len(above) > 1 and above[0] == hit.title:
        above = above[1:]
    # The subject of a sentence that refers back may be in a sentence that is quoted after it.
    refers_back = bool(_REFERS_BACK.match(quoted[0]))
    said = frozenset[str]().union(*map(unit_terms, quoted[:1] if refers_back else quoted))
    own = [bare for part in above if not unit_terms(bare := _SECTION_NUMBER.sub("", part)) <= said]
    label = " › ".join(own[-2:]).rstrip(":：")
    if not own or _columns(label) > MAX_LABEL_COLUMNS or label.endswith(("?", "？")) or quoted[0].startswith("```"):
        return ""
    adds = coverage(asked, said | unit_terms(label)) - coverage(asked, said) >= LABEL_SHARE
    return label if adds or refers_back or asks_which(question) else ""


def _figure(quantity: Quantity) -> tuple[object, ...]:
    return quantity.kind, quantity.value


def _is_one_meant(rows: Sequence[_Unit]) -> bool:
    """Return whether a question is about certain rows (the best first): it names few, or the reader prefers one.

    If it shares no word with any row, as in another language, it is about the first if that is far better than others.
    """
    most = max(row.own for row in rows)
    is_found = rows[0].strength is not None and rows[0].strength >= 0
    if not most and len(rows) > 1:
        return is_found or rows[0].score - rows[1].score > ROW_MARGIN
    return is_found or 2 * sum(row.own == most for row in rows) < len(rows)


def _quote_of(
    position: int, texts: Sequence[str], taken: Sequence[_Unit], ranked: Sequence[_Unit], procedural: bool, whole: bool
) -> Quote:
    """Return the quote of a text: its best sentence, then the others and those that they can't be understood without.

    A `whole` section is quoted from its beginning, since it describes step by step how to do what the question asks.
    """
    best = taken[0].position
    wanted = {unit.position for unit in taken}
    for unit in taken:
        wanted |= _needed(unit, texts, ranked)
        if procedural and (_STEP.match(unit.text) or announces(texts[unit.position])):
            wanted |= _procedure(texts, unit.position)
    if whole:
        begun = [
            number
            for number, columns in enumerate(accumulate(map(_columns, texts)))
            if columns <= MAX_PROCEDURE_COLUMNS
        ]
        code = {number - 1 for number in wanted if texts[number].startswith("```")}  # its introduction stays
        while begun and begun[-1] not in code and _is_label(texts[begun[-1]]):
            begun.pop()
        wanted |= set(begun)
    rest = sorted(position for position in wanted - {best} if texts[position].strip())
    # A list follows the line that introduces it, and steps are quoted in order.
    in_steps = any(_STEP.match(texts[number]) for number in (best, *rest))
    in_order = whole or in_steps or announces(texts[best])
    order = sorted([best, *rest]) if in_order else [best, *rest]
    order = [number for number in order if not texts[number].startswith(MARK)]
    while len(order) > 1 and (last := order[-1]) != best:
        before_code = last + 1 < len(texts) and texts[last + 1].startswith("```") and _is_label(texts[last])
        if not before_code and not ends_in_colon(texts[last]):
            break
        order.pop()  # it only introduces the text after it
    gaps = {index for index in range(1, len(order)) if order[index] != order[index - 1] + 1}
    return Quote(position, [texts[number] for number in order], gaps)


def _needed(unit: _Unit, texts: Sequence[str], ranked: Sequence[_Unit]) -> set[int]:
    """Return the sentences that one can't be understood without.

    They are the ones that it introduces, or the line that introduces its list; the one before it, if it starts with a
    word that refers back; and the term that its paragraph defines.
    """
    needed: set[int] = set()
    number = unit.position
    if LIST_ITEM.match(unit.text):
        above = number
        while above > 0 and not announces(texts[above]) and number - above <= MAX_LIST_LINES:
            above -= 1
        introduces = above < number and not LIST_ITEM.match(texts[above]) and announces(texts[above])
        if introduces and LIST_ITEM.match(texts[above + 1]):
            needed.add(above)
    if announces(texts[number]):
        needed.update(announced(texts, number))
    mine = [other.position for other in ranked if (other.hit, other.paragraph) == (unit.hit, unit.paragraph)]
    first = min(mine, default=number)
    if number > first and _REFERS_BACK.match(unit.text):
        needed.add(number - 1)
    if number > first and _TERM.match(texts[first]):
        needed.add(first)
    return needed


def _is_label(text: str) -> bool:
    """Return whether a text is neither a sentence nor a step nor code."""
    return not (text.startswith("```") or _STEP.match(text) or _SENTENCE_END.search(text))


def _procedure(texts: Sequence[str], number: int) -> set[int]:
    """Return the steps around one, from the line that introduces them."""
    first = number
    while first > 0 and _STEP.match(texts[first]):
        first -= 1
    taken: set[int] = set()
    columns = 0
    for position in range(first, len(texts)):
        columns += _columns(texts[position])
        if columns > MAX_PROCEDURE_COLUMNS or (position > number and not _STEP.match(texts[position])):
            break
        taken.add(position)
    return taken


def _columns(text: str) -> int:
    """Return the width of a text in columns; a Chinese character counts as two."""
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)
