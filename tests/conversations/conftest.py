"""What conversation tests share: an indexed base, and turns run to their end."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from django.contrib.auth.models import User

from conversations import broker, services, turns
from conversations.events import Event
from conversations.models import ChatSession
from knowledge.models import KnowledgeBase
from knowledge.signals import document_chunked
from ragsite.llm.errors import LLMError
from ragsite.llm.types import ChatMessage, Endpoint, Piece, TextPiece
from tests import factories

HANDBOOK = (
    "The TL-SE2109 switch has nine ports.",
    "Hold the reset button for ten seconds to restore the factory settings of the switch.",
    "The warranty of the rack mounting kit lasts three years.",
    "端口隔离可以在交换机的配置页面中启用。默认情况下端口隔离是关闭的。",
)


def index_document(knowledge_base: KnowledgeBase, passages: tuple[str, ...], filename: str = "handbook.txt") -> None:
    """Store a document of these passages and index it, words and vectors."""
    document = factories.make_document(knowledge_base, filename, content="\n".join(passages).encode())
    for passage in passages:
        factories.make_chunk(document, passage)
    document_chunked.send(sender=None, document_id=document.pk, progress=lambda percent: None)


@pytest.fixture
def handbook(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Handbook")
    index_document(base, HANDBOOK)
    return base


@pytest.fixture
def session(owner: User) -> ChatSession:
    return services.create_session(owner)


async def run_turn(user: User, session: ChatSession, question: str, **fields: object) -> list[Event]:
    """Ask, and return every event up to `done`."""
    ask = turns.Ask(session.pk, question, **fields)  # type: ignore[arg-type]
    started = await turns.start_turn(user, ask)
    events = [event async for event in broker.listen(started.assistant_message_id)]
    await turns.wait_for_all()
    return events


Script = list[Piece | LLMError | float]


class ScriptedLLM:
    """Stands in for the chat client: plays queued scripts of pieces, errors, and pauses in seconds."""

    def __init__(self) -> None:
        self.scripts: list[Script] = []
        self.calls: list[list[ChatMessage]] = []
        self.closed = False

    def enqueue(self, script: str | LLMError | Script) -> None:
        self.scripts.append(script if isinstance(script, list) else [_piece(script)])

    async def stream(self, messages: Sequence[ChatMessage], **options: object) -> AsyncIterator[Piece]:
        self.calls.append(list(messages))
        for item in self.scripts.pop(0):
            if isinstance(item, LLMError):
                raise item
            if isinstance(item, float):
                await asyncio.sleep(item)
            else:
                yield item

    async def aclose(self) -> None:
        self.closed = True


def _piece(script: str | LLMError) -> Piece | LLMError:
    return TextPiece(script) if isinstance(script, str) else script


@pytest.fixture
def fake_llm(monkeypatch: pytest.MonkeyPatch) -> ScriptedLLM:
    """Configure a model for every purpose; what it says is scripted by the test."""
    fake = ScriptedLLM()

    async def endpoint_for(purpose: str) -> Endpoint:
        return Endpoint(base_url="http://model.test/v1", model="fake")

    async def client_for(purpose: str) -> ScriptedLLM:
        return fake

    monkeypatch.setattr("conversations.pipeline.nodes.budget.endpoint_for", endpoint_for)
    monkeypatch.setattr("conversations.llm.client_for", client_for)
    return fake
