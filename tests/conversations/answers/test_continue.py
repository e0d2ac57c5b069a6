"""Continuing a cut answer: it is one answer to its first question for the model, in title, export and history."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.urls import reverse

from conversations import history, queries
from conversations.models import ChatSession, Citation, Message, TraceStep, Turn
from conversations.sharing import export
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import ProviderError
from ragsite.llm.types import FinishPiece, TextPiece
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"
FIRST = "First, hold the reset button [1]."
BROKEN = ProviderError("The provider broke off.")


async def cut_turn(session: ChatSession, came: str, question: str = RESET, parent: Turn | None = None) -> Message:
    """Store a turn in the state that a killed server leaves; return its answer."""
    turn = await Turn.objects.acreate(session=session, parent_turn=parent)
    await Message.objects.acreate(turn=turn, role="user", content=question)
    blocks = [{"id": "b1", "kind": "text", "text": came}]
    return await Message.objects.acreate(
        turn=turn, role="assistant", status="interrupted", content=came, blocks=blocks, error_code="interrupted"
    )


async def gone_on(owner: User, message: Message) -> Message:
    """Press Continue and return the answer."""
    started = await lifecycle.continue_answer(owner, message.pk)
    await wait_for_all()
    return await Message.objects.select_related("turn").aget(pk=started.assistant_message_id)


async def past_of(session: ChatSession, leaf: Turn) -> list[tuple[str, str]]:
    branch = await in_database(history.branch_of, session.pk, leaf.pk)
    return [(turn.question, turn.answer) for turn in await in_database(history.past_turns, session.pk, branch, 5)]


async def test_the_model_gets_the_first_question_its_passages_and_the_partial_answer(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    cut = await cut_turn(session, FIRST)
    fake_llm.enqueue("Then let it go [1].")
    rest = await gone_on(owner, cut)
    _system, *past, last = fake_llm.calls[0].messages
    assert [message.content for message in past] == [RESET, "First, hold the reset button."]
    assert f"Question: {RESET}\n\nPlease continue." in last.content
    assert "ten seconds to restore the factory settings" in last.content
    search = await TraceStep.objects.aget(turn=rest.turn, key="search")
    assert {ranking["query"] for ranking in search.detail["rankings"]} == {RESET}
    assert (rest.turn.continues, rest.turn.parent_turn_id) == (True, cut.turn_id)
    await session.arefresh_from_db()
    assert session.title.startswith("How do I restore")


async def test_continued_twice_it_is_one_answer_in_the_history(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    cut = await cut_turn(session, FIRST)
    fake_llm.enqueue([TextPiece("Then count to ten"), BROKEN], "and let it go [1].", "Yes [1].")
    broken = await gone_on(owner, cut)
    assert broken.status == "failed"
    whole = await gone_on(owner, broken)
    assert [message.content for message in fake_llm.calls[1].messages[1:-1]] == [
        RESET,
        "First, hold the reset button.\nThen count to ten",
    ]
    one = (RESET, "First, hold the reset button.\nThen count to ten\nand let it go.")
    assert await past_of(session, whole.turn) == [one]
    await run_turn(owner, session, "Is it quick?")
    assert [message.content for message in fake_llm.calls[2].messages[1:-1]] == [*one]
    carried = (await TraceStep.objects.filter(key="understand").alatest("id")).detail["carried"]
    assert "factory" in carried or "settings" in carried


@pytest.mark.parametrize(
    ("statuses", "answer"),
    [
        (["stopped", "completed"], "a b"),
        (["stopped", "stopped", "completed"], "a b c"),
        (["stopped", "failed"], "a"),
        (["stopped", "interrupted", "completed"], "a b c"),
        (["interrupted", "failed"], ""),
    ],
)
async def test_the_history_has_the_last_turn_with_text_of_a_continued_answer(
    session: ChatSession, statuses: list[str], answer: str
) -> None:
    turn: Turn | None = None
    for number, status in enumerate(statuses):
        turn = await Turn.objects.acreate(session=session, parent_turn=turn, continues=turn is not None)
        await Message.objects.acreate(turn=turn, role="user", content=RESET)
        text = "a b c"[: 2 * number + 1]
        await Message.objects.acreate(turn=turn, role="assistant", status=status, content=text)
    assert turn is not None
    assert await past_of(session, turn) == [(RESET, answer)]


async def test_the_question_depends_only_on_turns_before_it(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("It has nine ports [1].", "Then wait [1].")
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    first = await Turn.objects.alatest("id")
    cut = await cut_turn(session, FIRST, "How is it reset?", first)
    await Message.objects.filter(pk=cut.pk).aupdate(status="stopped")  # a stopped answer counts as complete
    rest = await gone_on(owner, cut)
    detail = (await TraceStep.objects.aget(turn=rest.turn, key="understand")).detail
    assert "TL-SE2109" in detail["carried"], "not the question itself, which comes before its rest"
    assert [message.content for message in fake_llm.calls[1].messages[1:-1]] == [
        "How many ports has the TL-SE2109 switch?",
        "It has nine ports.",
        "How is it reset?",
        "First, hold the reset button.",
    ]


async def test_without_a_model_the_first_question_is_answered(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    whole = (await Message.objects.aget(role="assistant")).content
    assert "ten seconds to restore the factory settings" in whole
    came = whole[:30].rstrip()
    cut = await cut_turn(session, came)
    rest = await gone_on(owner, cut)
    assert (rest.status, rest.content) == ("completed", whole)
    assert (await past_of(session, rest.turn)) == [(RESET, history.strip_markers(whole))], "it started again"
    text = await in_database(lambda: export.markdown(session, through=rest.turn_id))
    assert text.count(f"> {RESET}") == 1 and f"\n\n{came}\n" not in text


async def test_a_retry_still_continues_the_answer(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    cut = await cut_turn(session, FIRST)
    fake_llm.enqueue(BROKEN, "Then let it go [1].")
    nothing = await gone_on(owner, cut)
    started = await lifecycle.regenerate(owner, nothing.pk)
    await wait_for_all()
    again = await Turn.objects.aget(pk=started.turn_id)
    assert (again.continues, again.parent_turn_id) == (True, cut.turn_id)
    assert fake_llm.calls[1].messages == fake_llm.calls[0].messages
    assert await past_of(session, again) == [(RESET, "First, hold the reset button.\nThen let it go.")]


async def test_the_page_and_the_api_show_that_it_continues(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    cut = await cut_turn(session, FIRST)
    fake_llm.enqueue("Then let it go [1].")
    rest = await gone_on(owner, cut)
    client = AsyncClient()
    await client.aforce_login(owner)
    page = (await client.get(reverse("session", args=[session.pk]))).content.decode()
    assert page.count(f'<h2 class="bubble">{RESET}</h2>') == page.count('<h2 class="bubble">Please continue.</h2>') == 1
    shown: dict[str, Any] = (await client.get(reverse("api-message", args=[rest.pk]))).json()
    assert shown["continues"] is True and shown["parent_turn_id"] == cut.turn_id


async def test_the_export_is_one_answer_with_consecutive_source_numbers(session: ChatSession) -> None:
    first = await cut_turn(session, "Hold it [1][2].")
    second = await cut_turn(session, "Let go [1], see `a[1]` [2].", parent=first.turn)
    await Turn.objects.filter(pk=second.turn_id).aupdate(continues=True)
    await Message.objects.filter(pk=second.pk).aupdate(status="completed", error_code="")
    for message, snippets in ((first, ("Hold.", "Ten seconds.")), (second, ("Let go.", "Hold."))):
        for number, snippet in enumerate(snippets, 1):
            await Citation.objects.acreate(
                message=message, index=number, request_id=message.turn.request_id, cited=True, filename="a.txt",
                title="a.txt", snippet=snippet,
            )  # fmt: skip
    text = await in_database(export.markdown, session)
    assert text.endswith(
        f"---\n\n> {RESET}\n\nHold it [1][2].\n\nLet go [3], see `a[1]` [1].\n\n**Sources**\n\n"
        "- [1] a.txt: “Hold.”\n- [2] a.txt: “Ten seconds.”\n- [3] a.txt: “Let go.”\n"
    )
    assert len(await in_database(queries.transcript, session)) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_answer_that_reached_its_length_is_continued_without_the_note_below_it(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM, language: str
) -> None:
    question = RESET if language == "en" else "如何恢复交换机的出厂设置？"
    fake_llm.enqueue([TextPiece("First, hold the"), FinishPiece("length")], "reset button [1].")
    await run_turn(owner, session, question)
    cut = await Message.objects.select_related("turn").aget(role="assistant")
    assert (cut.status, cut.finish_reason, cut.can_continue) == ("completed", "length", True)
    assert cut.content.startswith("First, hold the\n\n**")
    client = AsyncClient()
    await client.aforce_login(owner)
    shown: dict[str, Any] = (await client.get(reverse("api-message", args=[cut.pk]))).json()
    assert (shown["finish_reason"], shown["can_continue"]) == ("length", True)
    page = (await client.get(reverse("session", args=[session.pk]))).content.decode()
    assert reverse("continue", args=[cut.pk]) in page
    response = await client.post(reverse("api-continue", args=[cut.pk]))
    assert response.status_code == 202
    await wait_for_all()
    assert [message.content for message in fake_llm.calls[1].messages[1:-1]] == [question, "First, hold the"]
    rest = await Message.objects.select_related("turn").aget(pk=response.json()["assistant_message_id"])
    assert rest.finish_reason == "" and not rest.can_continue
    assert await past_of(session, rest.turn) == [(question, "First, hold the\nreset button.")]


async def test_a_stopped_answer_is_continued_from_the_page(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    cut = await cut_turn(session, FIRST)
    await Message.objects.filter(pk=cut.pk).aupdate(status="stopped", error_code="")
    client = AsyncClient()
    await client.aforce_login(owner)
    page = (await client.get(reverse("session", args=[session.pk]))).content.decode()
    assert reverse("continue", args=[cut.pk]) in page
    fake_llm.enqueue("Then let it go [1].")
    assert (await gone_on(owner, cut)).content == "Then let it go [1]."
