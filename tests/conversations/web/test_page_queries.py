"""The page of a long session needs a bounded number of queries, whatever it shows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import ChatSession, Turn
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

MOST = 16


@pytest.fixture
def long_session(owner: User) -> ChatSession:
    """A session of 60 turns with sources, every tenth of which was asked twice, among 100 chats."""
    now = timezone.now()
    others = (
        ChatSession(owner=owner, title=f"Chat {number}", title_is_automatic=False, last_activity_at=now)
        for number in range(100)
    )
    ChatSession.objects.bulk_create(others)
    chunk = factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner)))
    session = make_session(owner)
    parent: Turn | None = None
    for number in range(60):
        if number % 10 == 0:
            make_turn(session, f"Question {number}", parent=parent, chunk=chunk)
        parent = make_turn(session, f"Question {number}", parent=parent, chunk=chunk).turn
    return session


def test_sixty_turns(
    as_owner: Client, long_session: ChatSession, settings: Any, django_assert_max_num_queries: Any
) -> None:
    for query, base_url in (("", ""), ("?all", ""), ("", "http://model.invalid/v1")):
        settings.LLM_BASE_URL = base_url
        cache.clear()
        with django_assert_max_num_queries(MOST):
            page = as_owner.get(reverse("session", args=[long_session.pk]) + query).content.decode()
        assert page.count('<article class="turn"') == (60 if query else 20)
        assert page.count('class="siblings"') == (6 if query else 2)


def test_stepping_to_another_version(
    as_owner: Client, long_session: ChatSession, django_assert_max_num_queries: Any
) -> None:
    first = long_session.turns.order_by("id")[0]
    headers = {"HX-Request": "true", "HX-Target": "turns"}
    with django_assert_max_num_queries(MOST - 6):
        as_owner.get(reverse("session", args=[long_session.pk]), {"turn": first.pk}, headers=headers)


def test_showing_earlier_turns(as_owner: Client, long_session: ChatSession, django_assert_max_num_queries: Any) -> None:
    before = long_session.turns.order_by("-id")[19]
    with django_assert_max_num_queries(MOST - 6):
        page = as_owner.get(
            reverse("session", args=[long_session.pk]), {"before": before.pk}, headers={"HX-Request": "true"}
        ).content.decode()
    assert page.count('<article class="turn"') == 20
