"""How a turn handles neighbouring hits, and a document that would fill the list."""

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.events import StepEvent
from conversations.models import ChatSession, TraceStep, Turn
from conversations.pipeline.nodes.select import Select
from conversations.pipeline.state import Found
from conversations.rendering.trace import steps
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests.conversations.conftest import run_turn
from tests.conversations.nodes import make_state
from tests.conversations.pipeline.writing.quoting.test_extractive import hit

pytestmark = pytest.mark.django_db(transaction=True)


async def test_each_step_describes_its_passages(
    owner: User, session: ChatSession, handbook: KnowledgeBase, settings: Settings
) -> None:
    settings.MERGE_NEIGHBOURS = False
    events = await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    messages = {event.key: event.message for event in events if isinstance(event, StepEvent) and event.message}
    assert (messages["fusion"], messages["compose_prompt"]) == ("4 passages to examine", "4 passages used")
    state = make_state(found=Found(hits=[hit("a"), hit("b")]))
    assert Select().message(state, {}) == "2 passages kept"


async def selection() -> list[dict[str, object]]:
    step = await TraceStep.objects.aget(key="select")
    hits: list[dict[str, object]] = step.detail["hits"]
    return hits


async def test_neighbouring_passages_are_joined(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    (joined,) = await selection()
    ids = joined["merged"]
    assert isinstance(ids, list) and len(ids) > 1 and joined["chunk_id"] in ids


@pytest.mark.parametrize(
    ("question", "hits"),
    [("How many ports has the TL-SE2109 switch?", 4), ("Compare the switch and the warranty of the kit.", 1)],
)
async def test_a_broad_question_keeps_few_hits_per_document(
    owner: User,
    session: ChatSession,
    handbook: KnowledgeBase,
    settings: pytest.MonkeyPatch,
    question: str,
    hits: int,
) -> None:
    settings.MERGE_NEIGHBOURS, settings.BROAD_MAX_HITS_PER_DOCUMENT = False, 1  # type: ignore[attr-defined]
    await run_turn(owner, session, question)
    assert len(await selection()) == hits


async def test_a_broad_question_to_one_document_keeps_all_its_hits(
    owner: User, session: ChatSession, handbook: KnowledgeBase, settings: Settings
) -> None:
    settings.MERGE_NEIGHBOURS, settings.BROAD_MAX_HITS_PER_DOCUMENT = False, 1
    await session.documents.aset([document async for document in handbook.documents.all()])
    await run_turn(owner, session, "Compare the switch and the warranty of the kit.")
    assert len(await selection()) > 1


async def test_the_trace_shows_how_the_hits_moved_and_what_was_joined(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    turn = await Turn.objects.aget()
    rows = await in_database(steps, turn, owner)
    (order,) = [step.lists[0] for step in rows if step.name == "Order the passages"]
    (chosen,) = [step.lists[0] for step in rows if step.name == "Join neighbouring passages"]
    assert [hit.sources for hit in order.hits][:1] == ["previously number 1"]
    assert order.hits[0].score > order.hits[1].score
    assert chosen.hits[0].sources.endswith("passages joined")
