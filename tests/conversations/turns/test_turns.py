"""Tests of turns from question to stored answer, with and without a model, and of all their ends."""

import asyncio
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from conversations import queries, turn_store
from conversations.api.serializers import MessageSerializer
from conversations.events import Delta, DoneEvent, ErrorEvent, SessionEvent, SourcesEvent, StepEvent, ThinkEvent, fold
from conversations.models import ChatSession, Citation, ContextEntry, Message, TraceStep, Turn
from conversations.prompts.templates import get_prompt
from conversations.turns import broker, lifecycle
from knowledge.models import Document, KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import ProviderError
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.types import TextPiece, ThinkPiece, UsagePiece
from tests import factories
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"


async def answer_of(session: ChatSession) -> Message:
    return await Message.objects.filter(turn__session=session, role="assistant").alatest("id")


async def test_question_is_answered_by_quoting_with_its_source(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    events = await run_turn(owner, session, RESET)
    assert isinstance(events[0], SessionEvent)
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "completed"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    message = await answer_of(session)
    assert "Hold the reset button for ten seconds" in message.content
    assert "[1]" in message.content
    assert message.status == Message.Status.COMPLETED
    first = await Citation.objects.aget(message=message, index=1)
    assert first.cited and "reset button" in first.snippet and first.filename == "handbook.txt"
    assert {source["type"] for source in first.sources} <= {"vector", "bm25"} and first.sources
    assert all(source.keys() >= {"rank", "score", "rrf_score"} for source in first.sources) and first.score > 0
    assert first.request_id == (await Turn.objects.aget()).request_id


@pytest.mark.parametrize(
    ("question", "label"),
    [
        (RESET, "*Quoted from your documents — no language model is configured.*"),
        ("端口隔离在哪里启用？", "*摘自您的文档——未配置语言模型。*"),
    ],
)
async def test_quoting_answer_is_labelled_in_the_questions_language(
    owner: User, handbook: KnowledgeBase, session: ChatSession, question: str, label: str
) -> None:
    await run_turn(owner, session, question)
    assert (await answer_of(session)).blocks[-1]["text"] == label


async def test_missing_picture_is_quoted_by_its_caption(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await in_database(_index_caption, handbook)
    await run_turn(owner, session, "Show me the wiring diagram of the doorbell")
    assert "The wiring diagram of the doorbell, seen from behind. [1]" in (await answer_of(session)).content


def _index_caption(base: KnowledgeBase) -> None:
    document = factories.make_document(base, "doorbell.pdf")
    factories.make_chunk(document, "The wiring diagram of the doorbell, seen from behind.", kind="image")
    factories.index_document(document.pk)


async def test_sources_are_sent_before_the_text(owner: User, handbook: KnowledgeBase, session: ChatSession) -> None:
    events = await run_turn(owner, session, RESET)
    kinds = [type(event) for event in events]
    assert kinds.index(SourcesEvent) < kinds.index(Delta)


async def test_stored_answer_is_the_fold_of_the_events(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    events = await run_turn(owner, session, RESET)
    message = await answer_of(session)
    answer = fold(events)
    assert message.blocks == answer.blocks
    assert message.last_seq == answer.last_seq == events[-1].seq
    assert fold(message.stream_log) == answer


async def test_chinese_question_is_answered_from_chinese_passages(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, "端口隔离默认是打开的吗？")
    assert "默认情况下端口隔离是关闭的" in (await answer_of(session)).content


async def test_steps_follow_the_numbering_of_the_protocol(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    events = await run_turn(owner, session, RESET)
    completed = [event.step for event in events if isinstance(event, StepEvent) and event.status == "completed"]
    assert completed == [1, 2, 3, 4, 5, 6, 7, 7, 9]


async def test_turn_stores_context_trace_embedding_and_title(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, RESET)
    turn = await Turn.objects.aget(session=session)
    entries = [entry async for entry in ContextEntry.objects.filter(session=session)]
    kinds = sorted((entry.type, entry.role) for entry in entries)
    assert kinds == [("chat", "assistant"), ("chat", "user"), ("routes", "system")]
    assert all(entry.tokens > 0 for entry in entries)
    keys = [key async for key in TraceStep.objects.filter(turn=turn).values_list("key", flat=True)]
    assert {"understand", "search", "fusion", "compose_prompt", "generate", "save"} <= set(keys)
    assert turn.embedding is not None and turn.model == "extractive" and turn.token_count > 0
    await session.arefresh_from_db()
    assert session.title == RESET.rstrip("?")[:48].rsplit(" ", 1)[0] + "…" or session.title.startswith("How do I")


async def test_question_moves_its_session_to_the_top_at_once(session: ChatSession) -> None:
    long_ago = timezone.now() - timedelta(days=1)
    await ChatSession.objects.filter(pk=session.pk).aupdate(last_activity_at=long_ago)
    started = await in_database(turn_store.open_turn, session, RESET, None, uuid.uuid4())
    await session.arefresh_from_db()
    turn = await Turn.objects.aget(pk=started.turn_id)
    assert session.last_activity_at == turn.created_at > long_ago
    roles = [role async for role in turn.messages.order_by("id").values_list("role", flat=True)]
    assert roles == ["user", "assistant"] and started.user_message_id < started.assistant_message_id


async def test_context_is_plain_text_with_the_first_system_prompt(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("<think>Hm.</think>It has:\n\n| a | **b** |\n|---|---|\n| 1 | 2 |\n", "九个端口 [1]。")
    await run_turn(owner, session, "How many ports has the TL-SE2109?")
    entries = ContextEntry.objects.filter(session=session)
    first = [(entry.type, entry.role, entry.content) async for entry in entries.order_by("type", "-role")]
    assert first[:2] == [
        ("chat", "user", "How many ports has the TL-SE2109?"),
        ("chat", "assistant", "It has:\n\na | b\n--- | ---\n1 | 2"),
    ]
    assert first[2] == ("routes", "system", await in_database(lambda: get_prompt("answer", "en").system))
    await run_turn(owner, session, "端口隔离在哪里启用？")
    assert (await entries.aget(type="routes")).content == first[2][2]
    client = AsyncClient()
    await client.aforce_login(owner)
    shown = (await client.get(reverse("api-session", args=[session.pk]))).json()
    assert shown["system_prompt"] == first[2][2]


async def test_the_system_prompt_of_a_chat_is_the_one_that_was_sent(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("Hello!")
    await run_turn(owner, session, "Hello!")
    stored = await ContextEntry.objects.aget(session=session, type="routes")
    assert stored.content == fake_llm.calls[-1].messages[0].content
    assert stored.content != (await in_database(get_prompt, "answer", "en")).system


async def test_documents_of_others_are_not_found(stranger: User, handbook: KnowledgeBase, session: ChatSession) -> None:
    from conversations.services import create_session

    own = await in_database(create_session, stranger)
    await run_turn(stranger, own, RESET)
    message = await answer_of(own)
    assert "reset button" not in message.content
    assert not await Citation.objects.filter(message=message).aexists()
    with pytest.raises(Http404):
        await lifecycle.start_turn(stranger, lifecycle.Ask(session.pk, RESET))


async def test_greeting_is_not_searched(owner: User, handbook: KnowledgeBase, session: ChatSession) -> None:
    events = await run_turn(owner, session, "Hello!")
    assert not any(isinstance(event, SourcesEvent) for event in events)
    assert (await answer_of(session)).content.startswith("Hello!")


@pytest.mark.parametrize(("question", "code"), [("  ", "empty_question"), ("x" * 9000, "question_too_long")])
async def test_invalid_question_is_refused_and_not_stored(
    owner: User, session: ChatSession, question: str, code: str
) -> None:
    with pytest.raises(lifecycle.TurnRefused) as refused:
        await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, question))
    assert refused.value.code == code
    assert not await Turn.objects.aexists()


async def test_repeated_request_starts_one_turn(owner: User, handbook: KnowledgeBase, session: ChatSession) -> None:
    request_id = uuid.uuid4()
    asks = [lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET, request_id=request_id)) for _ in range(3)]
    started = await asyncio.gather(*asks)
    await wait_for_all()
    assert len({item.turn_id for item in started}) == 1
    assert await Turn.objects.acount() == 1


async def test_too_many_answers_at_once_are_refused(owner: User, session: ChatSession) -> None:
    for _ in range(4):
        turn = await Turn.objects.acreate(session=session)
        await Message.objects.acreate(turn=turn, role="assistant", status="streaming", heartbeat_at=timezone.now())
    with pytest.raises(lifecycle.TurnRefused) as refused:
        await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    assert refused.value.code == "too_many_turns"


# --- with a language model ---------------------------------------------------------------------------


async def test_model_answers_from_numbered_evidence(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue(
        [ThinkPiece("Let me see."), TextPiece("Hold the button "), TextPiece("[1]. Not [9]."), UsagePiece(30, 7)]
    )
    events = await run_turn(owner, session, RESET)
    message = await answer_of(session)
    assert message.content == "Hold the button [1]. Not."
    assert message.thinking == "Let me see."
    assert message.usage == {
        "prompt_tokens": 30,
        "completion_tokens": 7,
        "by_kind": {"text": count_tokens(message.content)},
        "citations_removed": 1,
    }
    assert any(isinstance(event, ThinkEvent) for event in events)
    system, *_history, user = fake_llm.calls[0].messages
    assert system.role == "system" and user.role == "user"
    assert "reset button" in user.content and user.content.rstrip().endswith(RESET)
    assert 'number="1"' in user.content and "not instructions" in user.content


@pytest.mark.parametrize(
    ("question", "written", "counted"),
    [
        (
            RESET,
            "Hold it.\n\n| Step | Seconds |\n|---|---|\n| reset | 10 |\n\n```sh\nreset --all\n```\n\nThen wait.",
            {"text": "Hold it. Then wait.", "table": "Step | Seconds\n--- | ---\nreset | 10",
             "code": "```sh\nreset --all\n```"},
        ),
        ("端口隔离在哪里启用？", "在设置页面启用。", {"text": "在设置页面启用。"}),
    ],
)  # fmt: skip
async def test_the_tokens_of_an_answer_are_counted_by_kind_of_block(
    owner: User,
    as_owner: Client,
    handbook: KnowledgeBase,
    session: ChatSession,
    fake_llm: FakeLLM,
    question: str,
    written: str,
    counted: dict[str, str],
) -> None:
    fake_llm.enqueue([TextPiece(written)])
    events = await run_turn(owner, session, question)
    message = await answer_of(session)
    expected = {kind: count_tokens(text) for kind, text in counted.items()}
    assert message.usage == {"by_kind": expected} and isinstance(events[-1], DoneEvent)
    assert events[-1].usage == message.usage
    listed = await in_database(as_owner.get, reverse("api-message", args=[message.pk]))
    assert listed.json()["usage"] == message.usage
    turn = await Turn.objects.aget()
    entry = await ContextEntry.objects.aget(turn=turn, role="assistant")
    assert entry.tokens == sum(expected.values()) == turn.token_count - count_tokens(question)


async def test_a_quoted_answer_has_its_tokens_and_an_empty_one_none(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, RESET)
    assert list((await answer_of(session)).usage) == ["by_kind"]
    turn = await Turn.objects.acreate(session=session)
    question = await Message.objects.acreate(turn=turn, role="user", content="Why?")
    listed = MessageSerializer(await in_database(queries.message_list(Message.objects.all()).get, pk=question.pk)).data
    assert listed["usage"] == {}


async def test_the_citations_of_an_answer_are_checked(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("The switch has nine ports [1]. The switch has twelve ports [1].")
    events = await run_turn(owner, session, "How many ports does the TL-SE2109 have?")
    checks = (await answer_of(session)).checks
    assert [(item["text"], item["sources"], item["status"]) for item in checks] == [
        ("The switch has nine ports.", [1], "supported"),
        ("The switch has twelve ports.", [1], "contradicted"),
    ]
    assert checks[1]["problems"] == [{"kind": "number", "what": "twelve", "says": "nine"}]
    assert isinstance(events[-1], DoneEvent) and events[-1].checks == checks


async def test_history_is_sent_without_thinking_and_in_order(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([ThinkPiece("secret"), TextPiece("Nine ports [1].")])
    fake_llm.enqueue("Three years [1].")
    await run_turn(owner, session, "How many ports has the TL-SE2109?")
    await run_turn(owner, session, "What is the warranty of the rack mounting kit?")
    messages = fake_llm.calls[1].messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2].content == "Nine ports."
    assert "secret" not in "".join(message.content for message in messages)


async def test_failure_of_the_provider_keeps_the_partial_answer(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("Hold the reset "), ProviderError("boom")])
    events = await run_turn(owner, session, RESET)
    message = await answer_of(session)
    assert message.status == Message.Status.FAILED
    assert message.content == "Hold the reset"
    assert message.error_code == "provider_error" and message.error_message
    assert isinstance(events[-2], ErrorEvent) and events[-2].retryable
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "failed"
    assert await Citation.objects.filter(message=message).aexists()


async def test_retry_creates_a_sibling_on_the_page(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue(ProviderError("boom"))
    fake_llm.enqueue("Ten seconds [1].")
    await run_turn(owner, session, RESET)
    failed = await answer_of(session)
    started = await lifecycle.regenerate(owner, failed.pk)
    await wait_for_all()
    views = await in_database(queries.transcript, session)
    assert [view.answer.pk for view in views] == [started.assistant_message_id]
    assert views[0].position == 2 and len(views[0].siblings) == 2
    assert views[0].question.content == RESET
    earlier = await in_database(queries.transcript, session, failed.turn_id)
    assert [view.answer.pk for view in earlier] == [failed.pk]


async def test_stop_keeps_the_partial_answer_and_closes_the_model(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("Hold the reset button"), 60.0, TextPiece(" never")])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    async for event in broker.listen(started.assistant_message_id):
        if isinstance(event, Delta):
            assert await lifecycle.stop_turn(owner, started.assistant_message_id)
    message = await answer_of(session)
    assert message.status == Message.Status.STOPPED and message.content == "Hold the reset button"
    assert fake_llm.closed
    assert not await lifecycle.stop_turn(owner, started.assistant_message_id)


async def test_stop_from_another_process(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("Hold the reset button"), 60.0])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    async with asyncio.timeout(60):
        async for event in broker.listen(started.assistant_message_id):
            if isinstance(event, Delta):
                break
        assert await in_database(turn_store.request_stop, started.assistant_message_id)
        await wait_for_all()
    message = await answer_of(session)
    assert message.status == Message.Status.STOPPED and message.content == "Hold the reset button"


async def test_late_and_reconnecting_listeners_miss_nothing(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([item for n in range(8) for item in (TextPiece(f"w{n} "), 0.06)])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    early: list[int] = []
    async for event in broker.listen(started.assistant_message_id):
        early.append(event.seq)
        if isinstance(event, Delta) and len(early) > 3:
            break
    rest = [event async for event in broker.listen(started.assistant_message_id, early[-1])]
    again = [event async for event in broker.listen(started.assistant_message_id)]
    await wait_for_all()
    assert early + [event.seq for event in rest] == [event.seq for event in again]
    assert fold(again).blocks[0]["text"] == "".join(f"w{n} " for n in range(8))


async def test_killed_server_leaves_an_interrupted_answer(owner: User, session: ChatSession) -> None:
    turn = await Turn.objects.acreate(session=session)
    await Message.objects.acreate(turn=turn, role="user", content="q")
    log = [{"type": "block_start", "seq": 1, "id": "b1", "kind": "text"},
           {"type": "delta", "seq": 2, "id": "b1", "text": "half an "}]  # fmt: skip
    message = await Message.objects.acreate(
        turn=turn, role="assistant", status="streaming", stream_log=log, last_seq=2,
        blocks=fold(log).blocks, heartbeat_at=timezone.now() - timedelta(seconds=20),
    )  # fmt: skip
    views = await in_database(queries.transcript, session)
    assert views[0].answer.status == Message.Status.INTERRUPTED
    assert views[0].answer.content == "half an"
    events = [event async for event in broker.listen(message.pk, 2)]
    assert isinstance(events[-1], DoneEvent) and events[-1].status == "interrupted"


async def test_emptied_log_is_replayed_from_the_stored_answer(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    events = await run_turn(owner, session, RESET)
    message = await answer_of(session)
    await Message.objects.filter(pk=message.pk).aupdate(stream_log=[])
    replayed = fold([event async for event in broker.listen(message.pk)])
    assert replayed.blocks == fold(events).blocks
    assert replayed.citations == fold(events).citations


async def test_citations_outlive_the_document(owner: User, handbook: KnowledgeBase, session: ChatSession) -> None:
    await run_turn(owner, session, RESET)
    await Document.objects.all().adelete()
    citation = await Citation.objects.aget(message=await answer_of(session), index=1)
    assert citation.document_id is None and citation.chunk_id is None and "reset button" in citation.snippet


async def test_passages_deleted_while_the_answer_was_written_keep_their_snapshots(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, RESET)
    message = await answer_of(session)
    stored = [citation async for citation in message.citations.select_related("chunk")]
    rows = [turn_store.citation_dict(citation) for citation in stored]
    await Citation.objects.all().adelete()
    rows[0]["chunk_id"] = 10**12  # deleted, while its document still exists
    request_id = str((await Turn.objects.aget()).request_id)
    for _twice in range(2):
        await in_database(turn_store.save_citations, message.pk, request_id, rows, {1})
    again = [citation async for citation in message.citations.all()]
    assert [turn_store.citation_dict(citation) for citation in again] == [
        rows[0] | {"chunk_id": None, "merged": []},
        *rows[1:],
    ]
    assert again[0].document_id == stored[0].document_id and again[0].cited
    await Citation.objects.all().adelete()
    await in_database(turn_store.save_citations, message.pk, request_id, [rows[0] | {"document_id": 10**12}], set())
    last = await message.citations.aget()
    assert last.document_id is None and last.snippet and not last.cited


async def test_questions_follow_the_requested_branch(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.alatest("id")
    await run_turn(owner, session, "How many ports has the TL-SE2109?")
    second = await Turn.objects.alatest("id")
    await run_turn(owner, session, "How long does the warranty last?", parent_turn_id=first.pk)
    third = await Turn.objects.alatest("id")
    assert (second.parent_turn_id, third.parent_turn_id) == (first.pk, first.pk)
    views = await in_database(queries.transcript, session)
    assert [view.turn.pk for view in views] == [first.pk, third.pk]
    await run_turn(owner, session, "Thank you!")  # without a parent, it follows the last turn
    assert (await Turn.objects.alatest("id")).parent_turn_id == third.pk


async def test_listening_past_the_end_of_a_finished_answer_ends(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    events = await run_turn(owner, session, RESET)
    message = await answer_of(session)
    async with asyncio.timeout(30):
        assert [event async for event in broker.listen(message.pk, events[-1].seq)] == []


async def test_disconnecting_while_a_turn_starts_does_not_affect_it(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    asking = asyncio.create_task(lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET)))
    while not lifecycle.running() and not asking.done():
        await asyncio.sleep(0)
    asking.cancel()
    await wait_for_all()
    assert (await answer_of(session)).status == Message.Status.COMPLETED


async def test_stopping_server_keeps_the_partial_answer(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue([TextPiece("Hold the reset button"), TextPiece(" for ten"), 60.0])
    started = await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, RESET))
    async for event in broker.listen(started.assistant_message_id):
        if isinstance(event, Delta):
            await lifecycle.interrupt_all(60)
            break
    message = await answer_of(session)
    assert message.status == Message.Status.INTERRUPTED and message.error_code == "interrupted"
    assert message.content.startswith("Hold the reset button")
