"""The measurements of `manage.py bench_answers`: whether answers are honest, and whether they begin with the answer.

Each question is a real turn in its own session, after its earlier questions if any, with the site's model.
"""

import asyncio
import json
import logging
import math
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from django.conf import settings

from conversations import services
from conversations.citations.markers import MARKER
from conversations.models import ChatSession, Citation, Message, TraceStep
from conversations.turns import broker, lifecycle
from knowledge.models import Chunk
from ragsite.db import in_database
from ragsite.language.sentences import split_sentences
from retrieval.types import AnswerState
from tests import database_threads

ANSWERABLE, FOREIGN = "answerable", "foreign"
# `foreign` are answerable questions of another base's set.
KINDS = (ANSWERABLE, "near", "elsewhere", "objectless", FOREIGN)
ASKED_BACK, OTHER = "asked back", "other"
# The outcomes of an answer; small talk and failed turns are `OTHER`.
STATES = (ASKED_BACK, *AnswerState.values, OTHER)
ALL = "all"
RANKS = 5
# Percent of the answerable questions that the thresholds of a curve wrongly call "nothing" or "nearest".
WRONGLY = (1, 2, 3, 5, 8, 12, 15, 20)
# One at a time, so that no passages stay unread because others are being read.
SIDE_BY_SIDE = 1

# A score of the trace's step `relevance_gate`: below a threshold on the first, an answer is "nothing"; on the second,
# "nearest" or "nothing".
Score = Literal["relevance", "answering"]
SCORES: tuple[Score, ...] = ("relevance", "answering")

_SPACES_AND_MARKS = re.compile(r"[\s|*]+")
_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```[^\S\n]*$", re.MULTILINE | re.DOTALL)
# A line in bold is a heading unless it ends like a sentence.
_HEADING = re.compile(r"#{1,6}\s.*|\*\*(?:\\.|[^*\\])+(?<![.。!！])\*\*")
_CLOSING_NOTE = re.compile(r"\*?(?:Quoted from your documents|摘自您的文档)[^*]*\*?")
_LIST_MARK = re.compile(r"^(?:[-+*>]|\d{1,3}[.)])\s+")
# An escaped character, or markers of emphasis and code.
_INLINE = re.compile(r"\\([!-/:-@\[-`{-~])|[*`]+|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a set. An answerable one has a document and strings, one of which any correct answer contains.

    `earlier` questions are asked before it in the same chat, oldest first; their answers aren't judged.
    """

    id: str
    kind: str
    language: str
    text: str
    document: str = ""
    answers: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a question.

    For an answerable one, `passage` is the rank, from 1, of the first passage for the answer that contains an answer
    string, `own_passage` that of the first one from the named document, and `sentence` the position of the answer's
    first sentence that contains one; None if there is none. `relevance` and `answering` are scores of the trace.
    """

    question: Question
    state: str
    sentences: tuple[str, ...] = ()
    passage: int | None = None
    own_passage: int | None = None
    sentence: int | None = None
    relevance: float | None = None
    answering: float | None = None
    failed: bool = False

    def score(self, name: Score) -> float | None:
        """Return a score; below every other if nothing was found and so nothing was judged."""
        found: float | None = getattr(self, name)
        return -math.inf if found is None and self.state == AnswerState.NOTHING else found


@dataclass(frozen=True, slots=True)
class ToneRow:
    """The share of each state among the questions of a kind in a language."""

    kind: str
    language: str
    questions: int
    shares: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """The shares of answerable questions in a language with the right passage, and with an early answer.

    The passage is among the first five for the answer, from any document or from the named one; the answer is in the
    first sentence, or in the first three.
    """

    which: str
    language: str
    questions: int
    passage: float | None
    own_passage: float | None
    first: float | None
    first_three: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """At most `wrongly` percent of the answerable questions are below `threshold`, and these shares of other kinds."""

    wrongly: int
    threshold: float
    caught: Mapping[str, float | None]


def read_questions(lines: Iterable[str]) -> Iterator[Question]:
    """Yield the questions from JSON lines. Raises KeyError, TypeError or ValueError for an invalid line."""
    for line in lines:
        if not line.strip():
            continue
        found = json.loads(line)
        kind, answers = found["kind"], tuple(found.get("answers", ()))
        if kind not in KINDS[:-1]:
            raise ValueError(f"{found['id']} is of no known kind: {kind!r}")
        if kind == ANSWERABLE and not any(map(_normalised, answers)):
            raise ValueError(f"{found['id']} lacks its answers")
        earlier = tuple(found.get("earlier", ()))
        yield Question(
            found["id"], kind, found["language"], found["question"], found.get("document", ""), answers, earlier
        )


def as_foreign(questions: Iterable[Question]) -> list[Question]:
    """Return the answerable ones of another base's questions, which this base can't answer."""
    return [replace(each, kind=FOREIGN, document="", answers=()) for each in questions if each.kind == ANSWERABLE]


def first_of_each(questions: Iterable[Question], limit: int) -> list[Question]:
    """Return up to `limit` questions of each kind in each language."""
    taken: dict[tuple[str, str], list[Question]] = {}
    for each in questions:
        taken.setdefault((each.kind, each.language), []).append(each)
    return [each for group in taken.values() for each in group[:limit]]


def holds(text: str, answers: Iterable[str]) -> bool:
    """Return whether a text contains one of the answers, ignoring case, character forms, white space, `|` and `*`."""
    normalised = _normalised(text)
    return any(answer in normalised for answer in map(_normalised, answers) if answer)


def _normalised(text: str) -> str:
    return _SPACES_AND_MARKS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def sentences(blocks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the sentences of an answer's blocks, in order, without markers and Markdown.

    A table's row counts as one, after the table's header, and so does a block of code. Headings and the note that no
    model is configured don't count.
    """
    found: list[str] = []
    for block in blocks:
        if block["kind"] == "table":
            found += [" | ".join(map(str, [*(block["columns"] or ()), *row])) for row in block["rows"]]
        elif block["kind"] == "code":
            found.append(block["text"])
        elif block["kind"] == "text":
            # Code is at odd indexes.
            for place, text in enumerate(_FENCED.split(block["text"])):
                found += [text] if place % 2 else _sentences_of_markdown(text)
    return [text.strip() for text in found if any(map(str.isalnum, text))]


def _sentences_of_markdown(text: str) -> Iterator[str]:
    for line in MARKER.sub("", text).splitlines():
        words = line.strip()
        if not _HEADING.fullmatch(words) and not _CLOSING_NOTE.fullmatch(words):
            yield from split_sentences(_INLINE.sub(lambda match: match[1] or "", _LIST_MARK.sub("", words)))


def judge(
    question: Question,
    state: str,
    blocks: Iterable[Mapping[str, Any]],
    passages: Sequence[tuple[str, str]],
    scores: Mapping[str, Any] | None = None,
) -> Outcome:
    """Judge an answer by its blocks, the passages given to it (file name and text of each) and a trace's scores."""
    said = sentences(blocks)
    document = PurePosixPath(question.document).name
    right = [holds(text, question.answers) for _name, text in passages[:RANKS]]
    own = [is_right and name == document for is_right, (name, _text) in zip(right, passages, strict=False)]
    known = {name: value for name in SCORES if isinstance(value := (scores or {}).get(name), int | float)}
    return Outcome(
        question,
        state,
        tuple(said),
        passage=_first(right),
        own_passage=_first(own),
        sentence=_first(holds(sentence, question.answers) for sentence in said),
        relevance=known.get("relevance"),
        answering=known.get("answering"),
    )


def _first(which: Iterable[bool]) -> int | None:
    return next((place for place, is_it in enumerate(which, 1) if is_it), None)


def state_rows(outcomes: Iterable[Outcome]) -> list[ToneRow]:
    """Return the shares of states by kind and language, and for all languages if a kind has several."""
    rows = []
    for kind, language, group in _groups(outcomes):
        shares = {state: _share(outcome.state == state for outcome in group) for state in STATES}
        rows.append(ToneRow(kind, language, len(group), shares))
    return rows


def place_rows(outcomes: Iterable[Outcome]) -> list[PlaceRow]:
    """Return the places of answers by language: for all answerable questions, and for those with a state or passage."""
    rows = []
    for _kind, language, group in _groups(each for each in outcomes if each.question.kind == ANSWERABLE):
        answered = [each for each in group if each.state == AnswerState.ANSWERED]
        for which, part in (
            ("all", group),
            ("the passage among five", [each for each in group if each.passage]),
            ("answered", answered),
            ("answered, the passage among five", [each for each in answered if each.passage]),
        ):
            shares = [
                _share(each.passage is not None for each in part),
                _share(each.own_passage is not None for each in part),
                _share(each.sentence == 1 for each in part),
                _share(each.sentence is not None and each.sentence <= 3 for each in part),
            ]
            rows.append(PlaceRow(which, language, len(part), *shares))
    return rows


def curve(outcomes: Iterable[Outcome], score: Score) -> list[CurvePoint]:
    """Return the curve of thresholds on a score; empty without scores of answerable questions.

    Questions without a score, such as those asked back, don't count.
    """
    scores: dict[str, list[float]] = {}
    for each in outcomes:
        if (found := each.score(score)) is not None:
            scores.setdefault(each.question.kind, []).append(found)
    answerable = sorted(scores.pop(ANSWERABLE, ()))
    points = []
    for wrongly in WRONGLY if answerable else ():
        threshold = answerable[len(answerable) * wrongly // 100]
        if threshold > -math.inf:
            caught = {kind: _share(found < threshold for found in scores[kind]) for kind in KINDS if kind in scores}
            points.append(CurvePoint(wrongly, threshold, caught))
    return points


def languages(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the languages of the questions in order of occurrence, and `ALL` after several."""
    found = list(dict.fromkeys(outcome.question.language for outcome in outcomes))
    return [*found, ALL] if len(found) > 1 else found


def in_language(outcomes: Iterable[Outcome], language: str) -> list[Outcome]:
    """Return the outcomes of a language's questions, or all."""
    return [outcome for outcome in outcomes if language in (ALL, outcome.question.language)]


def _groups(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, str, list[Outcome]]]:
    every = list(outcomes)
    for kind in KINDS:
        of_kind = [outcome for outcome in every if outcome.question.kind == kind]
        yield from ((kind, language, in_language(of_kind, language)) for language in languages(of_kind))


def _share(which: Iterable[bool]) -> float | None:
    """Return the share of true values; None if there are none."""
    counted = list(which)
    return sum(counted) / len(counted) if counted else None


def ask_all(user: Any, base_id: int, questions: Sequence[Question], progress: Callable[[], object]) -> list[Outcome]:
    """Ask every question of a base on behalf of its user, a few in parallel; calls `progress` after each.

    The sessions created for this are deleted, even if it is interrupted. Raises `TurnRefused`.
    """
    title = f"bench_answers {uuid.uuid4()}"
    log = logging.getLogger("ragsite.qa")
    was_disabled, log.disabled = log.disabled, True
    try:
        return asyncio.run(_ask_all(user, base_id, questions, title, progress))
    finally:
        log.disabled = was_disabled
        database_threads.shut_down()  # work in its threads may still create a session
        ChatSession.objects.filter(owner=user, title=title).delete()


async def _ask_all(
    user: Any, base_id: int, questions: Sequence[Question], title: str, progress: Callable[[], object]
) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    waiting = iter(enumerate(questions))

    async def work() -> None:
        for place, question in waiting:
            session = await in_database(services.create_session, user, title, [base_id])
            language = "zh-hans" if question.language == "zh" else "en"
            for text in (*question.earlier, question.text):
                started = await lifecycle.start_turn(user, lifecycle.Ask(session.pk, text, language=language))
                async for _event in broker.listen(started.assistant_message_id):
                    pass
            outcomes[place] = await in_database(_outcome, question, started.assistant_message_id)
            await in_database(session.delete)  # at once, so that a killed run leaves only a few
            progress()

    count = max(1, min(SIDE_BY_SIDE, settings.MAX_CONCURRENT_TURNS - 1))
    tasks = [asyncio.create_task(work()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await lifecycle.interrupt_all()
    return [outcomes[place] for place in range(len(questions))]


def _outcome(question: Question, message_id: int) -> Outcome:
    """Return the outcome of a finished turn from what is stored."""
    message = Message.objects.select_related("turn").get(pk=message_id)
    state = ASKED_BACK if message.turn.action == "clarify" else message.answer_state or OTHER
    completed = message.status == Message.Status.COMPLETED
    citations = list(Citation.objects.filter(message=message, chunk__isnull=False).order_by("index")[:RANKS])
    chunks = Chunk.objects.in_bulk([pk for each in citations for pk in each.joined or (each.chunk_id,)])
    passages = [
        (each.filename, "\n".join(_text(chunks[pk]) for pk in each.joined or (each.chunk_id,) if pk in chunks))
        for each in citations
    ]
    scores = TraceStep.objects.filter(turn=message.turn, key="relevance_gate").values_list("detail", flat=True).first()
    judged = judge(question, state if completed else OTHER, message.blocks, passages, scores)
    return replace(judged, failed=not completed)


def _text(chunk: Chunk) -> str:
    rows = (" | ".join(map(str, row)) for row in chunk.table_rows or ())
    return "\n".join([chunk.content, *rows])
