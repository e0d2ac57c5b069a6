"""Finished turns are rendered once and cached; any change to them is shown immediately."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations import services
from conversations.models import ChatSession, Message
from conversations.rendering.answer import AnswerPage
from knowledge import services as knowledge_services
from knowledge.models import Chunk
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["template_fragments"].clear()


@pytest.fixture
def chunk(owner: User) -> Chunk:
    return factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner)))


@pytest.fixture
def session(owner: User) -> ChatSession:
    return make_session(owner, "Devices")


@pytest.fixture
def answer(session: ChatSession, chunk: Chunk) -> Message:
    return make_turn(session, chunk=chunk)


def page_of(client: Client, session: ChatSession, **headers: str) -> str:
    return client.get(reverse("session", args=[session.pk]), headers=headers).content.decode()


def _turns(page: str) -> str:
    return page.partition('id="turns"')[2].partition('id="composer"')[0]


def test_a_finished_turn_is_rendered_once(
    as_owner: Client, session: ChatSession, answer: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = page_of(as_owner, session)
    monkeypatch.setattr(AnswerPage, "blocks_html", property(lambda page: pytest.fail("rendered again")))
    second = page_of(as_owner, session)
    assert "Hold the button" in first
    assert _turns(first) == _turns(second)


def test_changes_are_shown_immediately(
    as_owner: Client, owner: User, session: ChatSession, answer: Message, chunk: Chunk
) -> None:
    assert 'aria-pressed="true" title="Helpful"' not in page_of(as_owner, session)
    services.give_feedback(owner, answer, 1, "")
    assert 'aria-pressed="true" title="Helpful"' in page_of(as_owner, session)

    make_turn(session, "How do I reset it?", "Pull the plug [1].")
    page = page_of(as_owner, session)
    assert "2/2" in page
    assert "Pull the plug" in page

    first = f"{reverse('session', args=[session.pk])}?turn={answer.turn_id}"
    assert "has since been deleted" not in as_owner.get(first).content.decode()
    knowledge_services.delete_document(chunk.document)
    assert "has since been deleted" in as_owner.get(first).content.decode()


def test_a_running_answer_is_not_cached(as_owner: Client, session: ChatSession, answer: Message) -> None:
    def written(text: str) -> Any:
        start = {"type": "block_start", "seq": 1, "id": "b1", "kind": "text"}
        return [start, {"type": "delta", "seq": 2, "id": "b1", "text": text}]

    for text in ("Hold", "Hold the red one"):
        Message.objects.filter(pk=answer.pk).update(
            status="streaming", stream_log=written(text), heartbeat_at=timezone.now()
        )
        assert f"{text}</p>" in page_of(as_owner, session)
    Message.objects.filter(pk=answer.pk).update(status="completed")
    assert "Hold the button" in page_of(as_owner, session)


def test_each_language_has_its_own(as_owner: Client, session: ChatSession, answer: Message) -> None:
    assert 'title="Helpful"' in page_of(as_owner, session)
    assert 'title="有帮助"' in page_of(as_owner, session, **{"accept-language": "zh-hans"})


def test_the_list_shows_a_new_title(as_owner: Client, session: ChatSession) -> None:
    assert "Actions for “Devices”" in page_of(as_owner, session)
    services.rename_session(session, "Switches")
    services.set_pinned(session, True)
    page = page_of(as_owner, session)
    assert "Actions for “Switches”" in page
    assert "Unpin" in page
    assert page.count("data-current>") == 1
