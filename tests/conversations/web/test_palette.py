"""The command palette."""

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations import services
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


def found(client: Client, words: str = "") -> list[str]:
    page = BeautifulSoup(client.get(reverse("palette"), {"q": words}).content, "html.parser")
    return [span.get_text(strip=True) for span in page.select("[role=option] > span")]


def test_chats_are_found_by_title_and_by_what_they_say(owner: User, as_owner: Client, as_colleague: Client) -> None:
    services.create_session(owner, "年假和加班")
    make_turn(make_session(owner, title="Hardware"), "How heavy is the overtime lamp?")
    assert found(as_owner, "年假") == ["年假和加班"]
    assert found(as_owner, "lamp overtime") == ["Hardware"]
    assert found(as_colleague, "年假") == found(as_colleague, "lamp overtime") == []


def test_documents_and_bases_are_limited_by_access(owner: User, as_owner: Client, as_colleague: Client) -> None:
    base = factories.make_knowledge_base(owner, name="Velm archive")
    factories.make_document(base, "velm-tower.md")
    assert found(as_owner, "velm") == ["velm-tower.md", "Velm archive"]
    assert found(as_colleague, "velm") == []


def test_pages_are_those_that_the_user_may_open(as_owner: Client, as_staff: Client) -> None:
    assert {"New chat", "Account"} <= set(found(as_owner)) and "Administration" not in found(as_owner)
    assert {"Connect a model", "Administration"} <= set(found(as_staff))
    assert found(as_staff, "CONNECT") == ["Connect a model"]


def test_nothing_found_says_so(as_owner: Client) -> None:
    page = as_owner.get(reverse("palette"), {"q": "<zzz>"}).content.decode()
    assert "Nothing is called “&lt;zzz&gt;”." in page
