"""The three states of an answer: decided once in the pipeline, the same wherever the answer is shown or counted."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.test import Client
from pytest_django import Settings

from conversations import turn_store
from conversations.events import Delta, DoneEvent, Event, SourcesEvent, fold
from conversations.models import ChatSession, Message, TraceStep
from conversations.pipeline.node import Node
from conversations.pipeline.state import State
from conversations.sharing import export, links
from conversations.turns import broker, checkpoints, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.language.detection import language_of
from ragsite.llm.errors import Unreachable
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.conversations.conftest import index_document, run_turn
from tests.conversations.records import make_turn
from tests.conversations.sse_client import decode
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"
ELSEWHERE = "Who painted the Mona Lisa?"

judged: dict[str, str] = {}


async def judge(node: Node, state: State, proceed: Any) -> None:
    """A hook that sets the judgement to what a test needs."""
    await proceed()
    if node.key == "relevance_gate" and "state" in judged:
        state.found.answer_state = judged["state"]
        state.found.hits = state.found.hits if judged["state"] != "nothing" else []


@pytest.fixture
def judgement(settings: Settings) -> Iterator[dict[str, str]]:
    settings.PIPELINE_HOOKS = [f"{__name__}.judge"]
    lifecycle.pipeline.cache_clear()
    yield judged
    judged.clear()
    lifecycle.pipeline.cache_clear()


async def answer_of(session: ChatSession) -> Message:
    return await Message.objects.select_related("turn").filter(turn__session=session, role="assistant").alatest("id")


def states_of(events: list[Event]) -> list[str | None]:
    """Return the states that were sent before any text and at the end."""
    first = next(index for index, event in enumerate(events) if isinstance(event, Delta))
    before = [event.answer_state for event in events[:first] if isinstance(event, SourcesEvent)]
    return [*before, *(event.answer_state for event in events if isinstance(event, DoneEvent))]


@pytest.mark.parametrize("state", ["answered", "nearest", "nothing"])
async def test_every_output_has_the_same_state(
    owner: User, as_owner: Client, anonymous: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
    judgement: dict[str, str], state: str,
) -> None:  # fmt: skip
    judgement["state"] = state
    fake_llm.enqueue("It has nine ports [1].")
    events = await run_turn(owner, session, PORTS)
    message = await answer_of(session)
    assert (message.answer_state, states_of(events)) == (state, [state, state])
    assert fold(message.stream_log) == fold(events) and fold(events).answer_state == state
    await Message.objects.filter(pk=message.pk).aupdate(stream_log=[])
    assert states_of([event async for event in broker.listen(message.pk)]) == [state, state]
    await in_database(_seen_by_readers, as_owner, anonymous, session, message, state)


def _seen_by_readers(as_owner: Client, anonymous: Client, session: ChatSession, message: Message, state: str) -> None:
    shown = as_owner.get(f"/api/chat/messages/{message.pk}").json()
    trace = as_owner.get(f"/api/chat/messages/{message.pk}/trace").json()
    exported = as_owner.get(f"/api/chat/sessions/{session.pk}/export.json").json()["messages"]
    assert (shown["answer_state"], trace["answer_state"]) == (state, state)
    assert [item["answer_state"] for item in exported] == [None, state]
    notes = {"nearest": "*(Closest passages only)*", "nothing": "*(Nothing found)*"}
    text = export.markdown(session)
    assert [name for name, note in notes.items() if note in text] == [name for name in notes if name == state]
    line = {"nearest": "Nothing answers this directly", "nothing": "Nothing found on this"}.get(state, "")
    link = links.create_link(session)
    for page in (as_owner.get(f"/c/{session.pk}/"), anonymous.get(f"/shared/{link.pk}/")):
        html = page.content.decode()
        assert "The closest passages" not in html and line in html  # a model has written about them
    assert (line or "Answered from 1 passage") in as_owner.get(f"/turns/{message.turn_id}/trace/").content.decode()


@pytest.mark.parametrize("question", ["Hello!", "What is it?"])
async def test_an_answer_without_documents_has_no_state(
    owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, question: str
) -> None:
    events = await run_turn(owner, session, question)
    message = await answer_of(session)
    assert (message.answer_state, states_of(events)) == ("", [None])
    shown = await in_database(lambda: as_owner.get(f"/api/chat/messages/{message.pk}").json())
    assert shown["answer_state"] is None and events[-1].to_dict()["answer_state"] is None


async def test_the_state_is_sent_without_a_model_too(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    assert states_of(await run_turn(owner, session, PORTS)) == ["answered", "answered"]
    assert states_of(await run_turn(owner, session, ELSEWHERE)) == ["nothing", "nothing"]
    text = (await answer_of(session)).content
    assert text == "Your documents contain nothing about this."


async def test_without_hits_left_by_the_filter_the_state_is_nothing(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.serves.add("filter")
    fake_llm.enqueue(*['{"keep": false, "reason": "no"}'] * 4, "Some have nine.")
    assert states_of(await run_turn(owner, session, PORTS, use_filter=True)) == ["nothing", "nothing"]


async def test_without_hits_left_by_a_third_party_hook_the_state_is_nothing(
    owner: User, handbook: KnowledgeBase, session: ChatSession, settings: Settings
) -> None:
    settings.PIPELINE_HOOKS = [f"{__name__}.take"]
    lifecycle.pipeline.cache_clear()
    try:
        assert states_of(await run_turn(owner, session, PORTS)) == ["nothing", "nothing"]
    finally:
        lifecycle.pipeline.cache_clear()


async def take(node: Node, state: State, proceed: Any) -> None:
    """A hook that removes the hits before the answer is written."""
    await proceed()
    if node.key == "select":
        state.found.hits = []


async def test_a_failed_turn_has_no_state(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, settings: Settings
) -> None:
    fake_llm.enqueue(Unreachable("gone"))
    await run_turn(owner, session, PORTS)
    message = await answer_of(session)
    assert (message.status, message.answer_state) == ("failed", "")
    settings.PIPELINE_HOOKS = [f"{__name__}.break_off"]
    lifecycle.pipeline.cache_clear()
    try:
        events = await run_turn(owner, session, PORTS)
    finally:
        lifecycle.pipeline.cache_clear()
    message = await answer_of(session)
    assert (message.status, message.answer_state) == ("failed", "")
    assert events[-1].to_dict()["answer_state"] is None


async def break_off(node: Node, state: State, proceed: Any) -> None:
    """A hook that fails the turn before the hits are judged."""
    if node.key == "load_passages":
        raise RuntimeError("no")
    await proceed()


async def test_an_answer_whose_server_died_keeps_the_state(session: ChatSession) -> None:
    events = [SourcesEvent(seq=1, citations=[], answer_state="nearest").to_dict()]
    message = await in_database(lambda: make_turn(session, status="streaming", stream_log=events, last_seq=1))
    await checkpoints.save(message.pk, fold(events), [])
    await Message.objects.filter(pk=message.pk).aupdate(heartbeat_at=None)
    assert await in_database(lambda: turn_store.interrupt_stale(message_id=message.pk)) == 1
    message = await Message.objects.aget(pk=message.pk)
    assert (message.status, message.answer_state) == ("interrupted", "nearest")
    assert message.stream_log[-1]["answer_state"] == "nearest"


async def test_the_prefix_stream_sends_it_with_each_source(
    owner: User, as_owner: Client, handbook: KnowledgeBase, async_client: Any
) -> None:
    await async_client.aforce_login(owner)
    response = await async_client.post("/api/chat/conversation", {"question": PORTS}, content_type="application/json")
    frames = [frame.data for frame in decode("".join([chunk.decode() async for chunk in response.streaming_content]))]
    sources = [json.loads(frame.removeprefix("SOURCE:")) for frame in frames if frame.startswith("SOURCE:")]
    assert sources and {source["answer_state"] for source in sources} == {"answered"}
    assert frames[-1] == "DONE:"
    await wait_for_all()


async def test_it_is_logged(
    owner: User, handbook: KnowledgeBase, session: ChatSession, caplog: pytest.LogCaptureFixture
) -> None:
    qa = logging.getLogger("ragsite.qa")
    qa.addHandler(caplog.handler)
    try:
        for question in (PORTS, ELSEWHERE, "Hello!"):
            await run_turn(owner, session, question)
    finally:
        qa.removeHandler(caplog.handler)
    lines = [record.fields for record in caplog.records if record.name == "ragsite.qa"]  # type: ignore[attr-defined]
    assert [line["answer_state"] for line in lines] == ["answered", "nothing", None]


def test_the_database_accepts_no_other_state(session: ChatSession) -> None:
    message = make_turn(session)
    with pytest.raises(IntegrityError, match="message_answer_state"):
        Message.objects.filter(pk=message.pk).update(answer_state="perhaps")


def test_the_admin_shows_and_filters_it(session: ChatSession, as_staff: Client) -> None:
    near = make_turn(session, "A near question", "A near answer", answer_state="nearest")
    make_turn(session, "An answered question", "A plain answer", answer_state="answered")
    for path, said in (("turn", "A near question"), ("message", "A near answer")):
        query = "outcome" if path == "turn" else "answer_state__exact"
        page = as_staff.get(f"/admin/conversations/{path}/", {query: "nearest"}).content.decode()
        assert said in page and "nswered question" not in page and "plain answer" not in page
        assert "Closest passages only</td>" in page
    page = as_staff.get(f"/admin/conversations/message/{near.pk}/change/").content.decode()
    assert "Closest passages only" in page


async def test_a_model_is_told_that_the_passages_may_not_answer(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, judgement: dict[str, str]
) -> None:
    for state, warned in (("nearest", True), ("answered", False)):
        judgement["state"] = state
        fake_llm.enqueue("Nine [1].")
        await run_turn(owner, session, PORTS)
        step = await TraceStep.objects.filter(key="compose_prompt").alatest("id")
        assert ("may not answer the question" in step.detail["messages"][-1]["content"]) is warned


@pytest.mark.parametrize(
    ("text", "question", "words"),
    [
        (
            "风扇的保修期为三年。电源的保修期也是三年。",
            "How long is the warranty of the fans?",
            "1 passage is in Chinese",
        ),
        ("The warranty of the fans lasts three years.", "风扇的保修期是多久？", "有 1 个片段是英语"),
    ],
)
async def test_documents_that_can_not_be_searched_are_named(
    owner: User, session: ChatSession, text: str, question: str, words: str
) -> None:
    base = await in_database(factories.make_knowledge_base, owner, "Fans")
    await in_database(index_document, base, (text,), "fans.txt")
    await base.documents.aupdate(language=language_of(text))
    await EmbeddingSpace.objects.filter(active=True).aupdate(languages=[language_of(question)])
    spaces.forget_active_space()
    await run_turn(owner, session, question)
    message = await answer_of(session)
    assert message.answer_state == "nothing" and words in message.content
