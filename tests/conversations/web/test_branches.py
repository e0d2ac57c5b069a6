"""Using branches: two tabs, double clicks, leaving a running answer, siblings of siblings."""

import asyncio
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from conversations import queries
from conversations.models import ChatSession, Message, Turn
from conversations.web import contexts
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.types import TextPiece
from tests.conversations.conftest import run_turn
from tests.conversations.oob import Page
from tests.conversations.records import make_turn
from tests.conversations.web.test_consumers import SHELL, Tab, followers, statuses, tab, text, until_followed_anew
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

RESET = "How do I restore the factory settings of the switch?"
PORTS = "How many ports has the TL-SE2109?"
WARRANTY = "How long is the warranty of the rack mounting kit?"


async def step(here: Tab, session: ChatSession, turn_id: int) -> None:
    """Show the branch through a turn, like the page when switching to it."""
    context = await in_database(contexts.turns_context, session, turn_id)
    here.page = Page(SHELL.format(await in_database(render_to_string, "conversations/_turns.html", context)))
    marks = here.page.soup.select("[data-status=streaming]")
    await here.send(action="resume", seen=" ".join(f"{mark['data-message']}:{mark['data-seq']}" for mark in marks))


def leaf(here: Tab) -> str:
    return str(here.page.soup.select("#parent-turn")[0].attrs.get("value", ""))


def bubbles(here: Tab) -> list[str]:
    return [bubble.get_text(strip=True) for bubble in here.page.soup.select(".bubble")]


async def test_a_question_continues_the_visible_branch(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    async with tab(owner, session) as here:
        await here.send(action="edit", turn_id=first.pk, question=PORTS)
        await here.until_ended()
        await step(here, session, first.pk)
        await here.ask(WARRANTY, parent_turn_id=first.pk)
        await here.until(lambda page: len(page.soup.select(".turn")) == 2)
        await here.until_ended()
        assert bubbles(here) == [RESET, WARRANTY]
        newest = await Turn.objects.alatest("id")
        assert newest.parent_turn_id == first.pk and leaf(here) == str(newest.pk)


async def test_a_question_of_a_stale_tab_follows_the_newest_turn_of_its_branch(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    async with tab(owner, session) as left, tab(owner, session) as right:
        await left.ask(PORTS, parent_turn_id=first.pk)
        await left.until(lambda page: len(page.soup.select(".turn")) == 2)
        await left.until_ended()
        await right.ask(WARRANTY, parent_turn_id=first.pk)
        await right.until(lambda page: len(page.soup.select(".turn")) == 3)
        await right.until_ended()
        assert bubbles(right) == [RESET, PORTS, WARRANTY]
        assert text(right.page, "#notice").startswith("This chat was continued in another tab.")
        await left.until(lambda page: len(page.soup.select(".turn")) == 3)
        assert bubbles(left) == [RESET, PORTS, WARRANTY]
    assert await Turn.objects.filter(parent_turn=first).acount() == 1


async def test_two_tabs_asking_at_the_same_time_both_show_both_answers(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("Ten seconds [1].")
    await run_turn(owner, session, RESET)
    first = await Turn.objects.aget()
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("One"), go_on, TextPiece(" whole.")], [TextPiece("Two"), go_on, TextPiece(" whole.")])
    async with tab(owner, session) as left, tab(owner, session) as right:
        await left.ask(PORTS, parent_turn_id=first.pk)
        await left.until(lambda page: len(page.soup.select(".turn")) == 2)
        await right.ask(WARRANTY, parent_turn_id=first.pk)
        for here in (left, right):
            await here.until(lambda page: len(page.soup.select(".turn")) == 3)
        go_on.set()
        for here in (left, right):
            await here.until(lambda page: statuses(page) == ["completed"] * 3)


async def test_an_empty_tab_shows_a_question_asked_in_another(
    owner: User, session: ChatSession, handbook: KnowledgeBase
) -> None:
    async with tab(owner, session) as here:
        await run_turn(owner, session, RESET)
        await here.ask(PORTS, parent_turn_id="")
        await here.until(lambda page: len(page.soup.select(".turn")) == 2)
        await here.until_ended()
        assert bubbles(here) == [RESET, PORTS]


async def test_leaving_and_returning_to_a_running_answer(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("Ten seconds [1].")
    await run_turn(owner, session, RESET)
    first = await Message.objects.aget(role="assistant")
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("Once more"), go_on, TextPiece(" to the end.")])
    async with tab(owner, session) as here:
        await here.send(action="regenerate", message_id=first.pk)
        await here.until(lambda page: "Once more" in text(page, ".prose"))
        assert text(here.page, ".line .siblings") == "2/2"
        second = await Message.objects.filter(role="assistant").alatest("id")
        before = followers()
        await step(here, session, first.turn_id)
        assert statuses(here.page) == ["completed"]
        await step(here, session, second.turn_id)
        await until_followed_anew(before)
        go_on.set()
        await here.until_ended()
        assert text(here.page, ".prose") == "Once more to the end."
        await in_database(second.refresh_from_db)
        assert second.status == "completed"


async def test_stop_ends_only_the_visible_answer(
    owner: User, session: ChatSession, handbook: KnowledgeBase, fake_llm: FakeLLM
) -> None:
    go_on = asyncio.Event()
    fake_llm.enqueue([TextPiece("One"), go_on, TextPiece(" whole.")], [TextPiece("Two"), 120.0])
    async with tab(owner, session) as here:
        await here.ask(RESET)
        await here.until(lambda page: "One" in text(page, ".prose"))
        first = await Turn.objects.aget()
        await here.send(action="edit", turn_id=first.pk, question=PORTS)
        await here.until(lambda page: "Two" in text(page, ".prose"))
        await here.send(action="stop")
        await here.until_ended()
        go_on.set()
        await wait_for_all()
    found = [
        text async for text in Message.objects.filter(role="assistant").order_by("id").values_list("content", "status")
    ]
    assert found == [("One whole.", "completed"), ("Two", "stopped")]


@pytest.mark.parametrize("action", ["regenerate", "edit"])
async def test_a_button_pressed_twice_asks_once(
    owner: User, session: ChatSession, handbook: KnowledgeBase, action: str
) -> None:
    await run_turn(owner, session, RESET)
    message = await Message.objects.aget(role="assistant")
    form: dict[str, Any] = {"message_id": message.pk, "turn_id": message.turn_id, "question": PORTS}
    async with tab(owner, session) as here:
        form["request_id"] = str(uuid.uuid4())
        if action == "regenerate":
            button = here.page.soup.select_one('[title="Regenerate"]')
            assert button is not None
            form["request_id"] = str(button["value"])
            assert form["request_id"] in str(button["hx-vals"])
        await here.send(action=action, **form)
        await here.send(action=action, **form)
        await here.until(lambda page: text(page, ".siblings") == "2/2")
        await here.until_ended()
    assert await Turn.objects.acount() == 2


async def test_each_version_links_to_the_next(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, RESET)
    async with tab(owner, session) as here:
        for count in (2, 3):
            button = here.page.soup.select_one('[title="Regenerate"]')
            assert button is not None
            message = await Message.objects.filter(role="assistant").alatest("id")
            await here.send(action="regenerate", message_id=message.pk, request_id=str(button["value"]))
            await here.until(lambda page, count=count: text(page, ".siblings") == f"{count}/{count}")  # type: ignore[misc]
            await here.until_ended()
    assert await Turn.objects.filter(parent_turn=None).acount() == 3


def test_history_follows_the_branch_not_the_clock(owner: User, session: ChatSession) -> None:
    root = make_turn(session, "Root").turn
    left = make_turn(session, "Left", parent=root).turn
    right = make_turn(session, "Right", parent=root).turn
    make_turn(session, "Below left", parent=left)
    make_turn(session, "Below right", parent=right)
    shown = [view.question.content for view in queries.transcript(session, left.pk)]
    assert shown == ["Root", "Left", "Below left"]


def test_switching_versions_without_scripts(owner: User, session: ChatSession, as_owner: Client) -> None:
    root = make_turn(session, "Root").turn
    first, second, third = (make_turn(session, f"Version {number}", parent=root).turn for number in (1, 2, 3))
    make_turn(session, "Deeper", parent=second)
    make_turn(session, "Deeper again", parent=second)
    address = reverse("session", args=[session.pk])
    page = as_owner.get(f"{address}?turn={second.pk}").content.decode()
    assert "Deeper again" in page and 'bubble">Version 1<' not in page
    assert f'href="{address}?turn={first.pk}#turn-{first.pk}"' in page
    assert f'href="{address}?turn={third.pk}#turn-{third.pk}"' in page
    assert page.count('class="siblings"') == 2 and 'aria-label="Version 2 of 3"' in page
    gone = as_owner.get(f"{address}?turn=999999999").content.decode()
    assert "Deeper again" in gone  # the newest


@pytest.mark.parametrize("parent", ["999999999", "-1"])
async def test_a_parent_from_another_session_is_refused(owner: User, session: ChatSession, parent: str) -> None:
    async with tab(owner, session) as here:
        await here.send(action="ask", question=RESET, parent_turn_id=parent)
        await here.until(lambda page: "not in this chat" in text(page, "#toasts"))
    assert not await Turn.objects.aexists()
