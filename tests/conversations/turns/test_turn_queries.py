"""How many queries a turn asks, node by node: bounded, so that none slips in unseen."""

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
# By node; those that are not named ask nothing. A turn's own are its beginning, its end, and what is left for
# after the answer: its vector, and a summary where the history overflows.
MOST = {
    OUTSIDE: 15,
    "save_question": 7,
    "system_context": 2,
    "memory": 1,
    "load_history": 3,
    "relevant_history": 1,
    "understand": 3,  # of a later question: the bases, how rare its words are, and which passages hold both
    "search": 16,  # bases, their languages, the state of their index, what holds words and meaning, how rare words are
    "load_passages": 1,
    "relevance_gate": 1,  # the languages of the documents, where nothing answers
    "compose_prompt": 1,
    "save": 5,
}


@pytest.fixture
def queries(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    # However long a turn takes, it makes no checkpoint on the way, and needn't ask again which space is active.
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
    assert queries.total() <= 38


async def test_a_question_searched_in_two_wordings(
    owner: User, handbook: KnowledgeBase, session: ChatSession, queries: Counter[str]
) -> None:
    await run_turn(owner, session, FIRST)
    queries.clear()
    await run_turn(owner, session, POINTING)
    within_bounds(queries)
    assert queries["understand"] == MOST["understand"] and queries.total() <= 46


async def test_with_a_model(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, queries: Counter[str]
) -> None:
    fake_llm.enqueue(*[[TextPiece("Hold it for ten seconds [1]."), UsagePiece(30, 7)]] * 2)
    await run_turn(owner, session, FIRST)
    queries.clear()
    await run_turn(owner, session, SECOND)
    within_bounds(queries)
    assert queries.total() <= 40  # its tokens are counted


async def test_a_long_conversation_asks_no_more(
    owner: User, handbook: KnowledgeBase, session: ChatSession, queries: Counter[str]
) -> None:
    counts = []
    for number in range(9):
        queries.clear()
        await run_turn(owner, session, f"{SECOND} ({number})")
        within_bounds(queries)
        counts.append(queries.total())
    assert counts[8] <= counts[2] + 8  # the relevant turns, and whether to summarise
