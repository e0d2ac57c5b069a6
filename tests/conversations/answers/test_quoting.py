"""Quotes in whole turns: instead of a model that fails, and notes on what can't be searched."""

import pytest
from django.contrib.auth.models import User

from conversations.events import DoneEvent, ErrorEvent, SourcesEvent
from conversations.models import ChatSession, Citation, Message
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import Unauthorized, Unreachable
from ragsite.llm.types import TextPiece
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.conversations.conftest import index_document, run_turn
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

PORTS = "How many ports has the TL-SE2109 switch?"
INSTEAD = "The language model did not answer."
NOTE = "embedding model does not cover both languages"


async def last(session: ChatSession) -> Message:
    return await Message.objects.select_related("turn").filter(turn__session=session, role="assistant").alatest("id")


@pytest.mark.parametrize("error", [Unreachable("gone"), Unauthorized("no")])
async def test_a_model_that_fails_is_replaced_by_quotes_and_can_be_asked_again(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM, error: Exception
) -> None:
    fake_llm.enqueue(error)  # type: ignore[arg-type]
    events = await run_turn(owner, session, PORTS)
    message = await last(session)
    assert message.status == "failed" and message.error_code == error.code  # type: ignore[attr-defined]
    assert message.content.startswith(f"**{INSTEAD}") and "has nine ports. [1]" in message.content
    assert "no language model is configured" not in message.content
    assert [type(event) for event in events[-2:]] == [ErrorEvent, DoneEvent]
    assert any(isinstance(event, SourcesEvent) for event in events)
    assert await Citation.objects.filter(message=message, cited=True).acount() == 1
    assert not message.can_continue
    fake_llm.enqueue("Nine [1].")
    await lifecycle.regenerate(owner, message.pk)
    await wait_for_all()
    assert (await last(session)).content == "Nine [1]."


async def test_what_a_model_wrote_before_it_failed_is_kept_alone(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("It has "), Unreachable("gone")])
    await run_turn(owner, session, PORTS)
    message = await last(session)
    assert message.content == "It has" and message.can_continue


async def test_nothing_is_quoted_if_a_model_fails_to_chat(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue(Unreachable("gone"))
    await run_turn(owner, session, "Hello!")
    assert (await last(session)).content == ""


async def test_the_documents_are_listed_even_with_a_model(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    await run_turn(owner, session, "What can I ask you?")
    message = await last(session)
    assert "handbook.txt" in message.content and message.answer_state == "" and not fake_llm.calls


async def only(language: str) -> None:
    """Let the embedding model know one language only."""
    await EmbeddingSpace.objects.filter(active=True).aupdate(languages=[language])
    spaces.forget_active_space()


async def test_passages_in_another_language_are_named_once_a_chat(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await handbook.documents.aupdate(language="zh")
    await only("en")
    for question, noted in (("Who painted the Mona Lisa?", True), ("Who painted the ceiling of a chapel?", False)):
        await run_turn(owner, session, question)
        message = await last(session)
        assert message.answer_state == "nothing" and (NOTE in message.content) is noted
    assert "4 passages are in Chinese" in (await Message.objects.filter(role="assistant").afirst()).content  # type: ignore[union-attr]


@pytest.mark.parametrize("question", ["Hello!", "qwrt zxcv bnmp"])
async def test_they_are_not_named_to_greetings_and_nonsense(
    owner: User, session: ChatSession, handbook: KnowledgeBase, question: str
) -> None:
    await handbook.documents.aupdate(language="zh")
    await only("en")
    await run_turn(owner, session, question)
    assert NOTE not in (await last(session)).content


async def test_they_are_not_named_if_most_passages_can_be_searched(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await handbook.documents.aupdate(language="en")
    await in_database(index_document, handbook, ("风扇的保修期为三年。",), "fans.txt")
    await handbook.documents.filter(original_filename="fans.txt").aupdate(language="zh")
    await only("en")
    await run_turn(owner, session, "Who painted the Mona Lisa?")
    assert NOTE not in (await last(session)).content


async def test_what_the_site_says_of_a_table_is_not_doubted(owner: User, session: ChatSession) -> None:
    base = await in_database(factories.make_knowledge_base, owner, "Tools")
    document = await in_database(factories.make_document, base, "tools.csv")
    rows = [[f"Tool{number}", str(number * 7)] for number in range(30, 90)]
    fields = {"kind": "table", "table_columns": ["Tool", "Price"], "table_rows": rows, "heading_path": ["Tools"]}
    await in_database(lambda: factories.make_chunk(document, "Tool | Price", **fields))
    await in_database(factories.index_document, document.pk)
    await run_turn(owner, session, "How many tools are there?")
    message = await last(session)
    assert message.answer_state == "answered" and "**60** entries" in message.content
    assert "12 of 60 rows" in message.content
    assert [check for check in message.checks if check["status"] != "supported"] == []


@pytest.mark.parametrize(("model", "state"), [("RX-100", "answered"), ("RX-200", "nearest")])
async def test_other_models_of_a_series_are_only_nearest(
    owner: User, session: ChatSession, model: str, state: str
) -> None:
    base = await in_database(factories.make_knowledge_base, owner, "Boilers")
    await in_database(
        index_document, base, "boilers.txt", "The RX-100 costs 1,900 euros, the RX-300 costs 3,400 euros."
    )
    await run_turn(owner, session, f"What does the {model} cost in euros?")
    assert (await last(session)).answer_state == state
