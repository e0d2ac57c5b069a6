"""Questions answered from whole documents: a summary, a list, a comparison, with and without a model."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations import services
from conversations.assistants.choice import Choices, save_version
from conversations.assistants.configuration import Configuration
from conversations.events import Event, SourcesEvent, StepEvent, plain_text
from conversations.models import Assistant, ChatSession, Citation, Message, TokenCalibration, TraceStep
from conversations.turns import lifecycle, unstored
from knowledge.models import Document, KnowledgeBase
from ragsite.db import in_database
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.records import make_turn
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

Sections = Iterable[tuple[tuple[str, ...], str]]

VELM: Sections = (
    (("The Velm tower",), "The Velm tower stands on the northern quay. It is open all year."),
    (("The Velm tower", "The lamp"), "The lamp is lit an hour before sunset. Its glass was cut in Ghent."),
    (
        ("The Velm tower", "Error codes"),
        "The panel shows error codes:\n- E1: the lamp is cold\n- E2: the door is open\n- E3: no current",
    ),
    (("The Velm tower", "Visitors"), "Visitors climb 214 steps. Dogs stay below."),
)
VELM_NEW: Sections = (
    (("The Velm tower",), "The Velm tower stands on the northern quay. It is open all year."),
    (("The Velm tower", "The lamp"), "The lamp is lit two hours before sunset. Its glass was cut in Ghent."),
    (("The Velm tower", "Visitors"), "Visitors climb 214 steps. Dogs stay below. A lift was built in 2025."),
    (("The Velm tower", "Tickets"), "A ticket costs 4 EUR."),
)
LIGHTHOUSE: Sections = (
    (("灯塔手册",), "灯塔位于北码头。全年开放。"),
    (("灯塔手册", "灯具"), "灯在日落前一小时点亮。"),
    (("灯塔手册", "故障代码"), "面板显示以下故障代码：\n- E1：灯具过冷\n- E2：门未关"),
)
LIGHTHOUSE_NEW: Sections = (
    (("灯塔手册",), "灯塔位于北码头。全年开放。"),
    (("灯塔手册", "灯具"), "灯在日落前两小时点亮。"),
)


def store(base: KnowledgeBase, title: str, sections: Sections, filename: str = "", tokens: int = 60) -> Document:
    """Store a document of sections with the given number of tokens each."""
    document = factories.make_document(base, filename or f"{title}.md", title=title)
    for path, content in sections:
        factories.make_chunk(document, content, heading_path=list(path), token_count=tokens, page_from=2)
    return document


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner, "Towers")


@pytest.fixture
def model(provider: FakeProvider, settings: Settings) -> FakeProvider:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "fake-model"
    settings.LLM_CONTEXT_WINDOW, settings.LLM_MAX_TOKENS = 16_384, 1000
    return provider


def asking(owner: User, *documents: Document) -> ChatSession:
    """Return a session that is limited to these documents."""
    session = services.create_session(owner)
    session.documents.set(documents)
    return session


async def ask(owner: User, session: ChatSession, question: str) -> tuple[Message, list[Event]]:
    events = await run_turn(owner, session, question)
    return await Message.objects.select_related("turn").filter(role="assistant").alatest("pk"), events


async def trace(message: Message, key: str = "read_documents") -> TraceStep:
    return await TraceStep.objects.aget(turn_id=message.turn_id, key=key)


async def cited(message: Message) -> list[str]:
    """Return the headings of the sources that an answer cites, in its order."""
    rows = Citation.objects.filter(message=message, cited=True).order_by("index")
    return [row.heading.rpartition(" › ")[2] async for row in rows]


def requests_of(provider: FakeProvider, purpose: str) -> list[dict[str, Any]]:
    mark = {"notes": "You read one part", "notes zh": "你在阅读一份较长文档", "understand": '"kb_retrieval"'}[purpose]
    return [request for request in provider.requests if mark in request["messages"][0]["content"]]


# --- Without a model ------------------------------------------------------------------------------


async def test_a_question_for_the_documents_is_answered_with_their_names(owner: User, base: KnowledgeBase) -> None:
    document = await in_database(store, base, "The Velm tower", VELM)
    session = await in_database(asking, owner, document, await in_database(store, base, "灯塔手册", LIGHTHOUSE))
    message, _events = await ask(owner, session, "Which documents do you have?")
    assert message.content.startswith("2 documents")
    assert "The Velm tower" in message.content and "灯塔手册" in message.content


async def test_the_user_is_asked_for_a_document_that_was_not_named(owner: User, base: KnowledgeBase) -> None:
    await in_database(store, base, "The Velm tower", VELM)
    await in_database(store, base, "灯塔手册", LIGHTHOUSE)
    message, _events = await ask(owner, await in_database(services.create_session, owner), "Summarise this document")
    assert message.turn.action == "clarify" and message.content.startswith("Which document")


async def test_a_translation_needs_a_model(owner: User, base: KnowledgeBase) -> None:
    await in_database(store, base, "The Velm tower", VELM)
    session = await in_database(services.create_session, owner)
    message, _events = await ask(owner, session, "Translate the lamp of the Velm tower into French")
    assert message.turn.action == "answer_chat" and "translate" in message.content


@pytest.mark.parametrize(
    ("question", "sections", "first"),
    [
        ("Summarise this document.", VELM, "The Velm tower stands on the northern quay."),
        ("总结一下这份文档", LIGHTHOUSE, "灯塔位于北码头。"),
    ],
)
async def test_without_a_model_a_summary_is_an_outline_with_the_first_sentences(
    owner: User, base: KnowledgeBase, question: str, sections: Sequence[Any], first: str
) -> None:
    document = await in_database(store, base, "Guide", sections)
    session = await in_database(asking, owner, document)
    message, events = await ask(owner, session, question)
    assert message.status == "completed" and message.answer_state == "answered"
    for number, (path, _content) in enumerate(sections, 1):
        assert (
            f"- **{path[-1]}**{': ' if sections is VELM else '：'}" in message.content
            and f"[{number}]" in message.content
        )
    assert first in message.content
    assert await cited(message) == [path[-1] for path, _content in sections]
    assert all(check["status"] == "supported" for check in message.checks)
    steps = [event for event in events if isinstance(event, StepEvent)]
    assert "read_documents" in {step.key for step in steps} and "vector_search" not in {step.key for step in steps}
    assert (await trace(message, "search")).status == "skipped"
    language = {"Summarise this document.": "no language model", "总结一下这份文档": "未配置语言模型"}
    assert language[question] in message.content


@pytest.mark.parametrize(
    ("question", "sections", "items"),
    [
        ("List all error codes.", VELM, ["E1: the lamp is cold", "E2: the door is open", "E3: no current"]),
        ("列出所有的故障代码", LIGHTHOUSE, ["E1：灯具过冷", "E2：门未关"]),
    ],
)
async def test_without_a_model_a_list_contains_every_item_with_its_citation(
    owner: User, base: KnowledgeBase, question: str, sections: Sequence[Any], items: list[str]
) -> None:
    document = await in_database(store, base, "Guide", sections)
    session = await in_database(asking, owner, document)
    message, _events = await ask(owner, session, question)
    for item in items:
        assert f"- {item} [1]" in message.content
    assert message.content.count("[1]") == len(items)
    assert str(len(items)) in message.content.splitlines()[0]
    assert not [check for check in message.checks if check["status"] != "supported"]


async def test_rows_of_tables_keep_their_columns(owner: User, base: KnowledgeBase) -> None:
    def stored() -> ChatSession:
        document = store(base, "Guide", VELM)
        factories.make_chunk(
            document, "Port | Use\n80 | web\n443 | web, encrypted", kind="table", heading_path=["Ports"],
            token_count=60, table_columns=["Port", "Use"], table_rows=[["80", "web"], ["443", "web, encrypted"]],
        )  # fmt: skip
        return asking(owner, document)

    message, _events = await ask(owner, await in_database(stored), "List all ports.")
    table = next(block for block in message.blocks if block["kind"] == "table")
    assert (table["columns"], table["rows"]) == (["Port", "Use"], [["80", "web"], ["443", "web, encrypted"]])
    assert await cited(message) == ["Ports"]


@pytest.mark.parametrize(
    ("question", "old", "new", "said"),
    [
        (
            "What changed between these two?",
            VELM,
            VELM_NEW,
            ["an hour before sunset", "two hours before sunset", "A lift was built in 2025.", "Tickets", "Error codes"],
        ),
        ("这两个文件有什么区别？", LIGHTHOUSE, LIGHTHOUSE_NEW, ["日落前一小时", "日落前两小时", "故障代码"]),
    ],
)
async def test_without_a_model_a_comparison_quotes_what_changed(
    owner: User, base: KnowledgeBase, question: str, old: Sections, new: Sections, said: list[str]
) -> None:
    documents = [await in_database(store, base, *each) for each in (("Old", old), ("New", new))]
    session = await in_database(asking, owner, *documents)
    message, _events = await ask(owner, session, question)
    assert all(words in message.content for words in said)
    assert "northern quay" not in message.content and "北码头" not in message.content
    assert all(check["status"] == "supported" for check in message.checks)


async def test_equal_documents_are_reported(owner: User, base: KnowledgeBase) -> None:
    documents = [await in_database(store, base, title, VELM) for title in ("Old", "New")]
    message, _events = await ask(owner, await in_database(asking, owner, *documents), "Compare these two documents.")
    assert "the same text in every section" in message.content


# --- Which documents ------------------------------------------------------------------------------


async def test_a_document_is_found_by_its_name(owner: User, base: KnowledgeBase) -> None:
    await in_database(store, base, "Velm guide", VELM)
    await in_database(store, base, "灯塔手册", LIGHTHOUSE)
    session = await in_database(services.create_session, owner)
    message, _events = await ask(owner, session, "Please give me a summary of the Velm guide.")
    assert "northern quay" in message.content and "北码头" not in message.content
    message, _events = await ask(owner, session, "总结《灯塔手册》")
    assert "北码头" in message.content


async def test_other_peoples_documents_are_not_read(owner: User, stranger: User, base: KnowledgeBase) -> None:
    await in_database(store, base, "Velm guide", VELM)
    session = await in_database(services.create_session, stranger)
    message, _events = await ask(stranger, session, "Summarise the Velm guide.")
    assert "quay" not in message.content
    assert (await trace(message)).detail == {}


async def test_the_document_is_the_one_that_the_last_answer_cites(owner: User, base: KnowledgeBase) -> None:
    def stored() -> ChatSession:
        store(base, "Other", VELM_NEW)
        document = store(base, "Velm guide", VELM)
        session = services.create_session(owner)
        make_turn(session, "When is the lamp lit?", chunk=document.chunks.all()[1])
        Citation.objects.update(document=document)
        return session

    message, _events = await ask(owner, await in_database(stored), "Summarise this document.")
    assert "an hour before sunset" in message.content and "two hours" not in message.content


async def test_a_list_without_a_document_is_searched(owner: User, base: KnowledgeBase) -> None:
    for title in ("One", "Two"):
        await in_database(store, base, title, VELM)
    session = await in_database(services.create_session, owner)
    message, events = await ask(owner, session, "List all error codes.")
    assert (await trace(message, "search")).status == "completed"
    assert "read_documents" not in {event.key for event in events if isinstance(event, StepEvent)}


@pytest.mark.parametrize(
    ("question", "words"),
    [("What changed between these two?", "two documents"), ("Summarise these documents.", "at most 2")],
)
async def test_too_many_documents_are_refused_kindly(
    owner: User, base: KnowledgeBase, settings: Settings, question: str, words: str
) -> None:
    settings.READ_MAX_DOCUMENTS = 2
    documents = [await in_database(store, base, f"Document {number}", VELM) for number in range(3)]
    message, _events = await ask(owner, await in_database(asking, owner, *documents), question)
    assert message.status == "completed" and words in message.content and message.answer_state == ""


@pytest.mark.parametrize(("pipeline", "reads"), [("default", True), ("thorough", True), ("quick", False)])
async def test_it_needs_no_session(owner: User, base: KnowledgeBase, pipeline: str, reads: bool) -> None:
    def stored() -> tuple[Document, Choices]:
        assistant = Assistant.objects.create(name="Reader")
        save_version(assistant, Configuration(pipeline=pipeline), None)
        return store(base, "Velm guide", VELM), Choices(assistant_id=assistant.pk)

    document, choices = await in_database(stored)
    state = await unstored.answer(
        owner, "Summarise this.", document_ids=[document.pk], history=[("Hello", "Hello!")], choices=choices
    )
    assert bool(state.found.reading) == reads and state.answer.error is None
    assert ("Visitors climb 214 steps." in plain_text(state.answer.blocks)) == reads


# --- With a model ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "sections"), [("Summarise this document.", VELM), ("总结一下这份文档", LIGHTHOUSE)]
)
async def test_documents_that_fit_the_window_are_passed_on_unabridged(
    owner: User, base: KnowledgeBase, model: FakeProvider, question: str, sections: Sequence[Any]
) -> None:
    session = await in_database(asking, owner, await in_database(store, base, "Guide", sections))
    model.reply("All of it [1][3].")
    message, _events = await ask(owner, session, question)
    assert message.content == "All of it [1][3]."
    assert await cited(message) == [sections[0][0][-1], sections[2][0][-1]]
    writing = model.requests[0]["messages"][-1]["content"]
    assert all(content in writing for _path, content in sections)
    assert not requests_of(model, "notes") and not requests_of(model, "understand")


def long(sections: Sections) -> list[tuple[tuple[str, ...], str]]:
    """Return sections that are too long for the window, so that they are read in parts."""
    return [(path, content + " And so it was." * 160) for path, content in sections]


@pytest.fixture
def narrow(model: FakeProvider, settings: Settings) -> FakeProvider:
    settings.LLM_CONTEXT_WINDOW, settings.LLM_MAX_TOKENS = 3000, 600
    return model


@pytest.mark.parametrize(
    ("question", "sections", "purpose"),
    [
        ("Summarise this document.", VELM, "notes"),
        ("List all error codes.", VELM, "notes"),
        ("总结一下这份文档", LIGHTHOUSE, "notes zh"),
        ("列出所有的故障代码", LIGHTHOUSE, "notes zh"),
    ],
)
async def test_longer_documents_are_read_in_parts_and_answered_from_notes(
    owner: User, base: KnowledgeBase, narrow: FakeProvider, question: str, sections: Sequence[Any], purpose: str
) -> None:
    document = await in_database(store, base, "Guide", long(sections), "", 900)
    session = await in_database(asking, owner, document)
    narrow.reply("First and last [1][3].")
    message, events = await ask(owner, session, question)
    parts = requests_of(narrow, purpose)
    assert len(parts) > 1
    assert all(any(content in part["messages"][1]["content"] for part in parts) for _path, content in long(sections))
    assert message.content.startswith("First and last [1][3].\n\n*") and message.status == "completed"
    assert not [check for check in message.checks if check["status"] == "uncited"]
    assert await cited(message) == [sections[0][0][-1], sections[2][0][-1]]
    step = await trace(message)
    messages = [event.message for event in events if isinstance(event, StepEvent) and event.key == "read_documents"]
    number = len(parts)
    assert step.detail["calls"] == step.detail["parts"] == number and step.detail["failed"] == 0
    assert len(messages) >= number + 3 and all(str(number) in text for text in messages[1:-1])
    writing = narrow.requests[-1]["messages"][-1]["content"]
    assert "And so it was. And so it was." not in writing
    assert message.usage["prompt_tokens"] > step.detail["prompt_tokens"] > 0
    assert not await TokenCalibration.objects.filter(factor__gt=2).aexists()


@pytest.mark.parametrize(
    ("question", "old", "new", "same"),
    [
        ("What changed between these two?", VELM, VELM_NEW, "northern quay"),
        ("这两个文件有什么区别？", LIGHTHOUSE, LIGHTHOUSE_NEW, "北码头"),
    ],
)
async def test_a_model_gets_the_differing_sections_grouped_by_heading(
    owner: User, base: KnowledgeBase, model: FakeProvider, question: str, old: Sections, new: Sections, same: str
) -> None:
    documents = [await in_database(store, base, *each) for each in (("Old", old), ("New", new))]
    session = await in_database(asking, owner, *documents)
    model.reply("It is lit earlier [1][2].")
    message, _events = await ask(owner, session, question)
    writing = model.requests[0]["messages"][-1]["content"]
    assert same not in writing
    assert writing.index(list(old)[1][1]) < writing.index(list(new)[1][1])
    assert message.content == "It is lit earlier [1][2]." and len(await cited(message)) == 2


async def test_a_part_that_fails_is_tried_again(owner: User, base: KnowledgeBase, narrow: FakeProvider) -> None:
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    narrow.fail(400, purpose="notes")
    narrow.fail(400, purpose="notes")  # the client retries once without a field
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    assert (await trace(message)).detail["failed"] == 0 and "could not be read" not in message.content


async def test_a_part_that_fails_twice_is_named(
    owner: User, base: KnowledgeBase, narrow: FakeProvider, settings: Settings
) -> None:
    settings.READ_CONCURRENCY = 1
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    for _try in range(2):
        narrow.reply(" ", purpose="notes")
    narrow.reply("The rest [1].")
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    assert "The rest [1]." in message.content
    assert "could not be read" in message.content and "“The Velm tower” (p. 2)" in message.content
    assert not [check for check in message.checks if check["status"] == "uncited"]


async def test_if_the_model_reads_nothing_the_answer_is_quoted(
    owner: User, base: KnowledgeBase, narrow: FakeProvider
) -> None:
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    for _try in range(12):
        narrow.reply(" ", purpose="notes")
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    assert message.status == "completed" and "**The lamp**" in message.content
    assert "could not read them" in message.content and message.turn.model == "extractive"


async def test_unread_parts_are_named_by_their_headings(
    owner: User, base: KnowledgeBase, model: FakeProvider, settings: Settings
) -> None:
    settings.READ_MAX_TOKENS = 1000
    document = await in_database(store, base, "Guide", VELM, "", 450)
    model.reply("The beginning [1].")
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    writing = model.requests[0]["messages"][-1]["content"]
    assert "an hour before sunset" in writing and "214 steps" not in writing
    assert message.content.startswith("The beginning [1].")
    assert not [check for check in message.checks if check["status"] == "uncited"]
    assert "The last 2 sections were not read" in message.content and "- Visitors · p. 2" in message.content


async def test_notes_that_are_too_long_are_condensed(
    owner: User, base: KnowledgeBase, narrow: FakeProvider, settings: Settings
) -> None:
    settings.READ_CONCURRENCY = 1
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    for number in range(4):
        narrow.reply(f"Note {number} of a very long kind. " * 90 + "[1]", purpose="notes")
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    detail = (await trace(message)).detail
    assert detail["rounds"] >= 1 and detail["calls"] > detail["parts"] and message.status == "completed"


async def test_reading_stops_at_once(owner: User, base: KnowledgeBase, narrow: FakeProvider) -> None:
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    for _part in range(4):
        narrow.reply("Late [1].", purpose="notes", first_delay=60)
    session = await in_database(asking, owner, document)
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, "Summarise this document."))
    while not requests_of(narrow, "notes"):
        await asyncio.sleep(0.01)
    assert await lifecycle.stop_turn(owner, started.assistant_message_id)
    await asyncio.wait_for(wait_for_all(), 10)
    message = await Message.objects.aget(pk=started.assistant_message_id)
    assert message.status == "stopped"
    assert await in_database(narrow.wait_for_disconnect)


async def test_after_the_timeout_the_answer_uses_what_was_read(
    owner: User, base: KnowledgeBase, narrow: FakeProvider, settings: Settings
) -> None:
    settings.READ_TIMEOUT, settings.READ_CONCURRENCY = 2.0, 1
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    narrow.reply("The tower stands [1].", purpose="notes")
    narrow.reply("Late [1].", purpose="notes", first_delay=60)
    narrow.reply("It stands [1].")
    message, _events = await ask(owner, await in_database(asking, owner, document), "Summarise this document.")
    assert "It stands [1]." in message.content and "could not be read" in message.content


async def test_the_sources_are_the_sections_of_the_notes(
    owner: User, base: KnowledgeBase, narrow: FakeProvider
) -> None:
    document = await in_database(store, base, "Guide", long(VELM), "", 900)
    narrow.reply("NONE", purpose="notes")
    _message, events = await ask(owner, await in_database(asking, owner, document), "List all error codes.")
    sources = next(event for event in events if isinstance(event, SourcesEvent))
    assert 0 < len(sources.citations) < 4
