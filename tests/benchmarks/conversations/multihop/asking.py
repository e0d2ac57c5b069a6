"""Asking questions through named pipelines, and checking which of the needed passages are found."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils import translation

from conversations import services
from conversations.pipeline.state import Request, State
from conversations.prompts import active
from conversations.turns import lifecycle
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.db import in_database
from retrieval.engine.result_cache import results
from retrieval.search import Hit
from tests.benchmarks.conversations.multihop.corpus import path_of
from tests.benchmarks.conversations.multihop.questions import Question

# The number of first passages that count.
RANKS = 10
# Warm-up questions for each pipeline, so that loading models isn't measured.
_WARM_UP = "How is a setting changed?"


class UnknownPassages(Exception):
    """The documents lack passages that questions need; the message lists them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a question, and its cost.

    For each part that can be answered, `found` says whether its passage is among the first ones found, and `given`
    whether it reaches the answer. `reported` says whether a part was reported as missing, rightly or not; None if the
    question wasn't split. `failed` turns count with what they had.
    """

    question: Question
    found: tuple[bool, ...]
    given: tuple[bool, ...]
    reported: bool | None
    state: str
    searches: int
    ms: float
    failed: bool

    @property
    def recall(self) -> float:
        """The share of the needed passages that were found."""
        return sum(self.found) / len(self.found)

    @property
    def reaching(self) -> float:
        """The share of the needed passages that reach the answer."""
        return sum(self.given) / len(self.given)


def searches_of(state: State) -> int:
    """Return how many texts were searched for."""
    texts = {ranking.query.text for ranking in state.found.rankings}
    return len(texts.union(*(part.queries for part in state.found.parts)))


def says_missing(state: State, question: Question) -> bool | None:
    """Return whether an answer reports missing parts; None if the question wasn't split."""
    parts = state.found.parts
    return any(part.answer_state != "answered" for part in parts) if parts else None


def ask_all(
    base: KnowledgeBase, pipelines: Sequence[str], questions: Sequence[Question], progress: Callable[[], object]
) -> dict[str, list[Outcome]]:
    """Return the outcomes of all questions by pipeline. Each is asked in a new chat of the base's owner, one at a time.

    Raises `UnknownPassages`.
    """
    paths = {document.pk: path_of(document) for document in Document.objects.filter(knowledge_base=base)}
    check(questions, paths)
    return asyncio.run(_ask_all(base.owner, paths, pipelines, questions, progress))


def check(questions: Sequence[Question], paths: Mapping[int, str]) -> None:
    """Raise `UnknownPassages` if a needed passage is in no chunk, or in several non-adjacent ones."""
    ids = {path: pk for pk, path in paths.items()}
    wrong = []
    for question in questions:
        for passage in (passage for part in question.needed for passage in part.passages):
            chunks = Chunk.objects.filter(document=ids.get(passage.document)).order_by("ordinal")
            holding = [chunk.ordinal for chunk in chunks if passage.is_in(passage.document, chunk.content)]
            if not holding or holding[-1] - holding[0] > 1:
                wrong.append(f"{question.id}: {passage.document}: {passage.snippet}")
    if wrong:
        raise UnknownPassages("\n".join(["These needed passages are not in one place of the documents:", *wrong]))


async def _ask_all(
    user: User,
    paths: Mapping[int, str],
    pipelines: Sequence[str],
    questions: Sequence[Question],
    progress: Callable[[], object],
) -> dict[str, list[Outcome]]:
    outcomes: dict[str, list[Outcome]] = {name: [] for name in pipelines}
    for name in pipelines:
        await _turn(user, name, _WARM_UP, "en")
    for place, question in enumerate(questions):
        # The order alternates, so that no pipeline always benefits from the caches of another.
        for name in pipelines if place % 2 == 0 else reversed(pipelines):
            state, ms = await _turn(user, name, question.text, question.language)
            outcomes[name].append(_outcome(question, state, ms, paths))
        progress()
    return outcomes


async def _turn(user: User, pipeline: str, text: str, language: str) -> tuple[State, float]:
    """Return the state of a whole turn and its milliseconds; searches don't use cached results."""
    session = await in_database(services.create_session, user)
    request = Request(user.pk, session.pk, text, language="zh-hans" if language == "zh" else "en")
    results.clear()
    began = time.perf_counter()
    with active.pinned_setup(), translation.override(request.language):
        state = await lifecycle.pipeline(pipeline).run(State(request))
    ms = (time.perf_counter() - began) * 1000
    await in_database(session.delete)
    return state, ms


def _outcome(question: Question, state: State, ms: float, paths: Mapping[int, str]) -> Outcome:
    def among(hits: Sequence[Hit]) -> tuple[bool, ...]:
        texts = [(paths[hit.document_id], _text(hit)) for hit in hits]
        return tuple(
            any(passage.is_in(*text) for passage in part.passages for text in texts) for part in question.needed
        )

    return Outcome(
        question,
        found=among(state.found.hits[:RANKS]),
        given=among(state.prompt.evidence),
        reported=says_missing(state, question),
        state=state.found.answer_state,
        searches=searches_of(state),
        ms=ms,
        failed=state.answer.error is not None,
    )


def _text(hit: Hit) -> str:
    return "\n".join([hit.content, *(" | ".join(map(str, row)) for row in hit.rows or ())])
