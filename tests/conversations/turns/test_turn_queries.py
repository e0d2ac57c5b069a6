"""Tests of the number of queries of a turn, by node, so that new ones are noticed."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import ChatSession
from conversations.turns import checkpoints, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.llm.types import TextPiece, UsagePiece
from retrieval.engine import spaces
from tests.benchmarks.conversations.counting import OUTSIDE, counted
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = "How do I restore the factory settings of the switch?"
SECOND = "How long is the warranty of the rack mounting kit?"
POINTING = "How many ports does it have?"
# By node; other nodes make no queries. The turn itself makes queries at its start, at its end, and for the work
# after the answer: its vector, and a summary if the history doesn't fit.
MOST = {
    OUTSIDE: 17,
    "save_question": 7,
    "system_context": 2,
    "memory": 1,
    "load_history": 3,
    "relevant_history": 1,
    "understand": 3,  # for a later question: the bases, word frequencies, and passages with both
    "search": 16,  # bases, languages, index state, hits by words and vectors, word frequencies
    "load_passages": 1,
    "relevance_gate": 1,  # the languages of the documents if nothing answers
    "compose_prompt": 1,
    "generate": 2,  # without a model: the passages around those quoted, and the beginnings of their documents
    "save": 5,
}


@pytest.fixture
def queries(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    # Prevent checkpoints and another lookup of the active space, however long a turn takes.
    monkeypatch.setattr(checkpoints, "next_tick", asyncio.Event().wait)
    monkeypatch.setattr(spaces, "ACTIVE_SPACE_SECONDS", 600.0)
    settings.PIPELINE_HOOKS = ["tests.benchmarks.conversations.counting.name_node"]
    lifecycle.pipeline.cache_clear()
    with counted() as counts:
        yield counts
    lifecycle.pipeline.cache_clear()


def within_bounds(queries: Counter[str]) -> None:
    over = {key: count for key, count in queries.items() if count > MOST.get(key, 0)}
    assert over == {}, f"more queries than { ({key: MOST.get(key, 0) for key in over}) }"
    assert {"save_question", "search", "save", OUTSIDE} <= set(queries), "nothing was counted"


async def test_without_a_model(
    owner: User, handbook: KnowledgeBase, session: ChatSession, queries: Counter[str]
) -> None:
    await run_turn(owner, session, FIRST)
    within_bounds(queries)
    queries.clear()
    await run_turn(owner, session, SECOND)
    within_bounds(queries)
    assert queries.total() <= 41


async def test_question_searched_in_two_wordings(
    owner: User, handbook: KnowledgeBase, session: ChatSession, queries: Counter[str]
) -> None:
    await run_turn(owner, session, FIRST)
    queries.clear()
    await run_turn(owner, session, POINTING)
    within_bounds(queries)
    assert queries["understand"] == MOST["understand"] and queries.total() <= 48


async def test_with_a_model(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, queries: Counter[str]
) -> None:
    fake_llm.enqueue(*[[TextPiece("Hold it for ten seconds [1]."), UsagePiece(30, 7)]] * 2)
    await run_turn(owner, session, FIRST)
    queries.clear()
    await run_turn(owner, session, SECOND)
    within_bounds(queries)
    assert queries.total() <= 41  # including its token usage


async def test_long_conversation_takes_no_more_queries(
    owner: User, handbook: KnowledgeBase, session: ChatSession, queries: Counter[str]
) -> None:
    counts = []
    for number in range(9):
        queries.clear()
        await run_turn(owner, session, f"{SECOND} ({number})")
        within_bounds(queries)
        counts.append(queries.total())
    assert counts[8] <= counts[2] + 8  # the relevant turns, and whether to summarise
