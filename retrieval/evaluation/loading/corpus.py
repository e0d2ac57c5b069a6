"""Reading benchmarks in BEIR's format: a corpus, queries, and relevance judgements (qrels).

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models" (2021).
Lines of `corpus.jsonl` are `{"_id", "title", "text"}`, those of `queries.jsonl` `{"_id", "text"}`; `qrels.tsv` has a
header line, then query id, passage id and grade. Everything is validated before anything is stored.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.ingestion.corpora import Passage, passage
from retrieval.evaluation.loading.jsonl import LineError, identifier, records, text_of
from retrieval.evaluation.loading.references import Reference
from retrieval.evaluation.questions import QuestionDraft


class CorpusError(Exception):
    """A file can't be used; the message names the file, the line if any, and the problem."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A line of the qrels: the grade of a passage for a query."""

    line: int
    query: str
    passage: str
    grade: int


def passages(path: Path) -> Iterator[Passage]:
    """Yield a corpus's passages. Raises `CorpusError`."""
    with _reading(path) as lines:
        for number, record in records(lines):
            title = "" if record.get("title") is None else text_of(number, record, "title")
            yield passage(identifier(number, record, "_id"), title, text_of(number, record, "text"))


def passage_ids(path: Path) -> set[str]:
    """Validate a whole corpus and return its ids. Raises `CorpusError`, also for duplicate ids or an empty corpus."""
    with _reading(path) as lines:
        seen: dict[str, int] = {}
        for number, record in records(lines):
            if record.get("title") is not None:
                text_of(number, record, "title")
            text_of(number, record, "text")
            _once(seen, identifier(number, record, "_id"), number)
    if not seen:
        raise CorpusError(_("{file} contains no passages.").format(file=path))
    return set(seen)


def questions(queries: Path, qrels: Path, known: set[str]) -> list[QuestionDraft]:
    """Return the queries that have right passages, with those passages, in the order of their file.

    `known` are the ids of the corpus. Raises `CorpusError`, also for qrels with unknown queries or passages.
    """
    with _reading(queries) as lines:
        seen: dict[str, int] = {}
        texts: dict[str, str] = {}
        for number, record in records(lines):
            key = identifier(number, record, "_id")
            _once(seen, key, number)
            texts[key] = text_of(number, record, "text").strip()
            if not texts[key]:
                raise LineError(number, _("“{field}” must be a non-empty string").format(field="text"))
    with _reading(qrels) as lines:
        found: dict[tuple[str, str], Judgement] = {}
        for number, line in enumerate(lines, start=1):
            judgement = _judgement(number, line)
            if judgement is None:
                continue
            pair = (judgement.query, judgement.passage)
            if found.setdefault(pair, judgement).grade != judgement.grade:
                message = _("this pair has a different grade on line {line}")
                raise LineError(number, message.format(line=found[pair].line))
    judgements = list(found.values())
    _refuse_unknown(qrels, judgements, {each.query for each in judgements} - texts.keys(), queries=True)
    _refuse_unknown(qrels, judgements, {each.passage for each in judgements} - known, queries=False)
    relevant: dict[str, list[Reference]] = {}
    for each in judgements:
        if each.grade > 0:
            relevant.setdefault(each.query, []).append(Reference(passage=each.passage, grade=each.grade))
    drafts = [QuestionDraft(key, text, tuple(relevant[key])) for key, text in texts.items() if key in relevant]
    if not drafts:
        message = _("{file} has no relevant passage for any of the queries in {queries}.")
        raise CorpusError(message.format(file=qrels, queries=queries))
    return drafts


def _judgement(number: int, line: bytes) -> Judgement | None:
    """Parse a line of qrels; return None for an empty line and for the header, whose grade isn't a number."""
    try:
        fields = [field.strip() for field in line.decode("utf-8-sig").split("\t")]
    except UnicodeDecodeError as error:
        raise LineError(number, _("this is not UTF-8 text (byte {place})").format(place=error.start + 1)) from None
    if fields == [""]:
        return None
    if len(fields) != 3:
        message = _("expected three tab-separated fields (query, passage, grade), found {count}")
        raise LineError(number, message.format(count=len(fields)))
    query, passage_id, grade = fields
    try:
        return Judgement(number, query, passage_id, int(grade))
    except ValueError:
        if number == 1:
            return None
        raise LineError(number, _("the grade must be a whole number, not “{grade}”").format(grade=grade)) from None


def _once(seen: dict[str, int], key: str, number: int) -> None:
    if (first := seen.setdefault(key, number)) != number:
        raise LineError(number, _("“_id” {id} is already used on line {line}").format(id=key, line=first))


def _refuse_unknown(path: Path, judgements: Iterable[Judgement], unknown: set[str], *, queries: bool) -> None:
    """Raise `CorpusError` for judgements on unknown ids, with their number and the first one."""
    concerned = [each for each in judgements if (each.query if queries else each.passage) in unknown]
    if not concerned:
        return
    first = concerned[0]
    if queries:
        message = ngettext(
            "{file}: {n} line names a query that isn't in the queries file (line {line}: {id}).",
            "{file}: {n} lines name queries that aren't in the queries file (the first is line {line}: {id}).",
            len(concerned),
        )
    else:
        message = ngettext(
            "{file}: {n} line names a passage that isn't in the corpus (line {line}: {id}).",
            "{file}: {n} lines name passages that aren't in the corpus (the first is line {line}: {id}).",
            len(concerned),
        )
    shown = first.query if queries else first.passage
    raise CorpusError(message.format(file=path, n=len(concerned), line=first.line, id=shown))


@contextmanager
def _reading(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file, and raise errors while it is read as `CorpusError` with its name."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        message = _("{file} can't be read: {reason}")
        raise CorpusError(message.format(file=path, reason=error.strerror or error)) from None
    except LineError as error:
        raise CorpusError(f"{path}, {error}") from None
