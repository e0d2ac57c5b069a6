"""Fixtures and helpers of the conversation tests: an indexed base, and turns run to completion."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from conversations import services
from conversations.events import Event
from conversations.models import ChatSession
from conversations.pipeline.declared_state import declared
from conversations.pipeline.graph import Context, Emit, Node
from conversations.pipeline.nodes import understand
from conversations.pipeline.state import State
from conversations.pipeline.understanding.carry_over import Known
from conversations.prompts import side_calls, templates
from conversations.prompts.defaults import DEFAULTS
from conversations.turns import broker, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.llm.types import Endpoint
from retrieval.engine.fulltext import Frequencies
from tests import factories
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

HANDBOOK = (
    "The TL-SE2109 switch has nine ports.",
    "Hold the reset button for ten seconds to restore the factory settings of the switch.",
    "The warranty of the rack mounting kit lasts three years.",
    "端口隔离可以在交换机的配置页面中启用。默认情况下端口隔离是关闭的。",
)


def index_document(knowledge_base: KnowledgeBase, passages: tuple[str, ...], filename: str = "handbook.txt") -> None:
    """Store a document with these passages and index it by words and vectors."""
    document = factories.make_document(knowledge_base, filename, content="\n".join(passages).encode())
    factories.make_chunks(document, passages)
    factories.index_document(document.pk)


@pytest.fixture(autouse=True)
def no_turn_left() -> Iterator[None]:
    """Fail tests that leave a turn running, for which the next test would wait in vain."""
    yield
    left, lifecycle._runners = lifecycle._runners, set()
    lifecycle._afterwards.clear()  # titles that no test has waited for
    assert not left


@pytest.fixture
def handbook(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Handbook")
    index_document(base, HANDBOOK)
    return base


@pytest.fixture
def session(owner: User) -> ChatSession:
    return services.create_session(owner)


async def run_turn(user: User, session: ChatSession, question: str, **fields: object) -> list[Event]:
    """Ask a question and return all events up to `done`."""
    ask = lifecycle.Ask(session.pk, question, **fields)  # type: ignore[arg-type]
    started = await lifecycle.start_turn(user, ask)
    events = [event async for event in broker.listen(started.assistant_message_id)]
    await wait_for_all()
    return events


@pytest.fixture
def fake_llm(fake_llm: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> FakeLLM:
    """Configure a model for the purposes that it serves; tests queue its replies."""

    async def endpoint_for(purpose: str) -> Endpoint | None:
        return fake_llm.endpoint if purpose in fake_llm.serves else None

    async def client_for(purpose: str) -> FakeLLM | None:
        return fake_llm if purpose in fake_llm.serves else None

    monkeypatch.setattr("conversations.pipeline.nodes.compose_prompt.endpoint_for", endpoint_for)
    monkeypatch.setattr("conversations.prompts.endpoints.client_for", client_for)
    return fake_llm


async def ignore(event: Event) -> None:
    """Ignore the events of a node that runs on its own."""


async def run_node(node: Node, state: State, emit: Emit = ignore) -> None:
    """Run a node on its own, with access only to its declared state."""
    detail = state.details.setdefault(node.key, {})

    async def fold(event: Event) -> None:
        state.answer.apply(event)
        await emit(event)

    await node.run(declared(node, state), Context(fold, detail, state.later))


@pytest.fixture
def default_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the default prompts for side calls, so that no database is needed."""

    async def aget_prompt(purpose: str, language: str) -> templates.Prompt:
        return templates.Prompt(*DEFAULTS[(purpose, language)], 0)

    monkeypatch.setattr(side_calls, "aget_prompt", aget_prompt)


@pytest.fixture
def unknown_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run nodes without a database, and so without word frequencies and the documents' languages."""

    async def nothing(state: State) -> Known:
        return Known(Frequencies(0, {}))

    monkeypatch.setattr(understand, "known_words", nothing)
