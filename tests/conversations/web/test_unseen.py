"""Answers that end while their reader is elsewhere."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations import services
from conversations.inbox import unseen
from conversations.models import ChatSession, UnseenAnswer
from conversations.web import contexts
from ragsite.db import in_database
from tests.conversations.oob import Page
from tests.conversations.web.test_consumers import SHELL, Tab
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sessions(owner: User) -> list[ChatSession]:
    return [services.create_session(owner, title) for title in ("Asked", "Read meanwhile")]


async def test_pages_of_other_chats_show_that_an_answer_has_ended(
    owner: User, sessions: list[ChatSession], fake_llm: FakeLLM
) -> None:
    asked, other = (Tab(owner, session) for session in sessions)
    for tab in (asked, other):
        assert (await tab.connect())[0]
        await tab.load()
    other.page = Page(SHELL.format(""))
    await asked.ask("How heavy is the switch?")
    await other.until(lambda page: bool(page.soup.select("#sessions [data-unseen]")))
    row = other.page.soup.select_one("#sessions [data-unseen]")
    assert row is not None and "Asked" in row.get_text() and "New answer" in row.get_text()
    assert await in_database(UnseenAnswer.objects.filter(session=sessions[0]).exists)
    for tab in (asked, other):
        await tab.leave()


def test_opening_a_chat_marks_its_answer_as_seen(as_owner: Client, sessions: list[ChatSession]) -> None:
    unseen.mark(sessions[0].pk)
    page = as_owner.get(reverse("session", args=[sessions[1].pk])).content.decode()
    assert page.count("data-unseen=") == 1 and "New answer" in page
    page = as_owner.get(reverse("session", args=[sessions[0].pk])).content.decode()
    assert "data-unseen=" not in page
    assert not UnseenAnswer.objects.exists()


def test_only_the_owner_marks_an_answer_as_seen(
    as_owner: Client, as_colleague: Client, sessions: list[ChatSession]
) -> None:
    unseen.mark(sessions[0].pk)
    address = reverse("see-answer", args=[sessions[0].pk])
    assert as_colleague.post(address).status_code == 404
    assert UnseenAnswer.objects.count() == 1
    assert as_owner.post(address).status_code == 204
    assert not UnseenAnswer.objects.exists()


def test_the_row_for_another_page_has_no_title(owner: User, sessions: list[ChatSession]) -> None:
    row: Any = contexts.row_of(owner, sessions[0].pk, sessions[1].pk)
    assert "session-title" not in row and "data-current" not in row
    assert "session-title" in contexts.row_of(owner, sessions[0].pk)
