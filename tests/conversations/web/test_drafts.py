"""Unsent text, which the server keeps per chat."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations import services
from conversations.inbox import drafts
from conversations.models import ChatSession, Draft
from conversations.turn_store import open_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(owner: User) -> ChatSession:
    return services.create_session(owner)


def test_unsent_text_is_on_the_page_of_every_device(as_owner: Client, session: ChatSession) -> None:
    address, queued_id = reverse("draft", args=[session.pk]), uuid.uuid4()
    given = {"text": "Half a <question>", "queued": "年假有多少天？", "queued_id": str(queued_id)}
    assert as_owner.post(address, given).status_code == 204
    assert as_owner.get(address).json() == given
    page = as_owner.get(reverse("session", args=[session.pk])).content.decode()
    assert "Half a &lt;question&gt;</textarea>" in page
    assert f'data-kept="年假有多少天？" data-kept-id="{queued_id}"' in page
    assert as_owner.post(address, {"text": " "}).status_code == 204
    assert not Draft.objects.exists()


def test_only_the_owner_reads_and_writes_it(as_colleague: Client, session: ChatSession) -> None:
    drafts.keep(session.pk, "Mine")
    address = reverse("draft", args=[session.pk])
    assert as_colleague.get(address).status_code == as_colleague.post(address, {"text": "Yours"}).status_code == 404
    assert drafts.of(session.pk).text == "Mine"


def test_its_length_is_limited(as_owner: Client, session: ChatSession, settings: pytest.FixtureRequest) -> None:
    settings.MAX_QUESTION_CHARACTERS = 10
    as_owner.post(reverse("draft", args=[session.pk]), {"text": "x\x00" * 100, "queued_id": "none"})
    assert len(drafts.of(session.pk).text) == 10 and "\x00" not in drafts.of(session.pk).text


def test_what_is_sent_is_deleted(session: ChatSession) -> None:
    first, second = uuid.uuid4(), uuid.uuid4()
    drafts.keep(session.pk, "How long? ", "How heavy?", second)
    drafts.forget_sent(session.pk, "How wide?", uuid.uuid4())
    assert (drafts.of(session.pk).text, drafts.of(session.pk).queued) == ("How long? ", "How heavy?")
    drafts.forget_sent(session.pk, "How long?", first)
    assert (drafts.of(session.pk).text, drafts.of(session.pk).queued_id) == ("", second)
    drafts.forget_sent(session.pk, "How heavy?", second)
    assert not Draft.objects.exists()


def test_a_chat_with_unsent_text_is_not_reused_as_a_new_one(owner: User, session: ChatSession) -> None:
    assert services.empty_session(owner) == session
    drafts.keep(session.pk, "Later")
    assert services.empty_session(owner) != session


def test_a_queued_question_is_asked_once_from_two_devices(session: ChatSession) -> None:
    queued_id = uuid.uuid4()
    open_turn(session, "How heavy?", None, queued_id)
    with pytest.raises(Exception, match="already been asked"):
        open_turn(session, "How heavy?", None, queued_id)
    assert session.turns.count() == 1
