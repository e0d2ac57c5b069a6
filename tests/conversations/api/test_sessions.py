"""The sessions API: list, create, read, change and delete, only for their owner."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conversations import access, services
from conversations.models import ChatSession
from ragsite.accounts.tokens import create_token
from tests import factories
from tests.conversations.records import make_session

pytestmark = pytest.mark.django_db

SESSIONS = "/api/chat/sessions"


def url(session: ChatSession) -> str:
    return f"{SESSIONS}/{session.pk}"


def test_sessions_are_listed_newest_activity_first(owner: User, as_owner: Client) -> None:
    now = timezone.now()
    old = make_session(owner, "Old", last_activity_at=now - timedelta(days=2))
    new = make_session(owner, "New", last_activity_at=now)
    make_session(factories.make_user(), "Not mine")
    services.delete_session(make_session(owner, "Deleted"))
    body = as_owner.get(SESSIONS).json()
    assert [item["id"] for item in body["results"]] == [new.pk, old.pk]
    assert body["count"] == 2
    assert set(body["results"][0]) == {
        "id",
        "chat_title",
        "chat_time",
        "created_at",
        "pinned",
        "archived",
        "labels",
        "knowledge_bases",
        "documents",
        "tags",
        "metadata",
        "folder",
        "assistant",
        "model_id",
        "instructions",
    }


def test_pinned_sessions_come_first(owner: User, as_owner: Client) -> None:
    pinned = make_session(owner, "Pinned", pinned=True, last_activity_at=timezone.now() - timedelta(days=9))
    make_session(owner, "Newer")
    assert as_owner.get(SESSIONS).json()["results"][0]["id"] == pinned.pk


def test_the_list_costs_the_same_for_any_number(
    owner: User, as_owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        make_session(owner, f"Chat {number}")
    # session, user, count, sessions, their knowledge bases, documents and labels
    with django_assert_num_queries(7):
        as_owner.get(SESSIONS)
    for number in range(10):
        make_session(owner, f"More {number}")
    with django_assert_num_queries(7):
        as_owner.get(SESSIONS)


def test_the_list_is_paginated(owner: User, as_owner: Client) -> None:
    for number in range(5):
        make_session(owner, f"Chat {number}")
    page = as_owner.get(SESSIONS, {"page_size": 2, "page": 2}).json()
    assert len(page["results"]) == 2 and page["count"] == 5 and page["next"] and page["previous"]


def test_creating_without_a_title_numbers_it(owner: User, as_owner: Client) -> None:
    first = as_owner.post(SESSIONS, {}, content_type="application/json")
    second = as_owner.post(SESSIONS, {}, content_type="application/json")
    assert first.status_code == 201
    assert first.json() == {
        "success": True,
        "session_id": ChatSession.objects.earliest("id").pk,
        "chat_title": "New chat",
    }
    assert second.json()["chat_title"] == "New chat 1"
    listed = as_owner.get(SESSIONS, headers={"Accept-Language": "zh-hans"}).json()["results"]
    assert {each["chat_title"] for each in listed} == {"新会话", "新会话1"}


def test_creating_with_title_and_knowledge_bases(owner: User, colleague: User, as_owner: Client) -> None:
    shared = factories.make_knowledge_base(colleague)
    factories.share(shared, owner)
    body = {"chat_title": "Switches", "knowledge_bases": [shared.pk]}
    created = as_owner.post(SESSIONS, body, content_type="application/json").json()
    session = ChatSession.objects.get(pk=created["session_id"])
    assert session.owner == owner and session.title == "Switches" and not session.title_is_automatic
    assert list(session.knowledge_bases.all()) == [shared]


def test_a_strangers_knowledge_base_is_refused_like_one_that_does_not_exist(
    owner: User, as_owner: Client, stranger: User
) -> None:
    theirs = factories.make_knowledge_base(stranger)
    real = as_owner.post(SESSIONS, {"knowledge_bases": [theirs.pk]}, content_type="application/json")
    unreal = as_owner.post(SESSIONS, {"knowledge_bases": [theirs.pk + 999]}, content_type="application/json")
    assert real.status_code == unreal.status_code == 404
    assert real.json()["detail"].replace(str(theirs.pk), "N") == unreal.json()["detail"].replace(
        str(theirs.pk + 999), "N"
    )
    assert not ChatSession.objects.exists()
    session = make_session(owner)
    change = {"knowledge_bases": [theirs.pk], "pinned": True}
    assert as_owner.patch(url(session), change, content_type="application/json").status_code == 404
    session.refresh_from_db()
    assert not session.pinned


def test_reading_one(owner: User, as_owner: Client) -> None:
    session = make_session(owner, "Mine")
    body = as_owner.get(url(session)).json()
    assert (body["id"], body["chat_title"], body["pinned"]) == (session.pk, "Mine", False)


@pytest.mark.parametrize("method", ["put", "patch"])
def test_renaming(owner: User, as_owner: Client, method: str) -> None:
    session = make_session(owner, "Old")
    response = getattr(as_owner, method)(url(session), {"chat_title": "New"}, content_type="application/json")
    assert response.json() == {"success": True, "message": "The chat is updated."}
    session.refresh_from_db()
    assert session.title == "New"


def test_changing_one_thing_leaves_the_others(owner: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner)
    session = make_session(owner, "Title")
    session.knowledge_bases.add(base)
    as_owner.patch(url(session), {"pinned": True}, content_type="application/json")
    session.refresh_from_db()
    assert session.pinned and session.title == "Title" and list(session.knowledge_bases.all()) == [base]


@pytest.mark.parametrize(
    ("body", "field"),
    [({"chat_title": "  "}, "chat_title"), ({"chat_title": "x" * 201}, "chat_title"), ({"pinned": "maybe"}, "pinned")],
)
def test_a_bad_change_says_which_field(owner: User, as_owner: Client, body: dict[str, str], field: str) -> None:
    session = make_session(owner, "Title")
    response = as_owner.patch(url(session), body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["detail"].startswith(f"{field}: ") and response.json()["code"] == "invalid"
    session.refresh_from_db()
    assert session.title == "Title"


def test_deleting_hides_the_session_and_keeps_at_least_one(owner: User, as_owner: Client) -> None:
    session = make_session(owner, "Last")
    response = as_owner.delete(url(session))
    assert response.status_code == 204 and not response.content
    assert as_owner.get(url(session)).status_code == 404
    assert access.sessions(owner).count() == 1
    assert ChatSession.objects.filter(pk=session.pk, status="deleted").exists()


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_others_get_404_and_nothing_happens(
    owner: User, as_stranger: Client, as_colleague: Client, anonymous: Client, method: str
) -> None:
    session = make_session(owner, "Mine")
    for client in (as_stranger, as_colleague):
        response = getattr(client, method)(url(session), {"chat_title": "Taken"}, content_type="application/json")
        assert response.status_code == 404 and response.json()["code"] == "not_found"
    response = getattr(anonymous, method)(url(session))
    assert response.status_code == 401 and response.json()["code"] == "not_authenticated"
    session.refresh_from_db()
    assert session.title == "Mine" and session.status == "active"


@pytest.mark.parametrize("scheme", ["Token", "Bearer"])
def test_a_token_acts_as_its_user_without_csrf(owner: User, scheme: str) -> None:
    client = Client(enforce_csrf_checks=True, headers={"authorization": f"{scheme} {create_token(owner, 'test')}"})
    created = client.post(SESSIONS, {}, content_type="application/json")
    assert created.status_code == 201
    assert ChatSession.objects.get(pk=created.json()["session_id"]).owner == owner


def test_an_unknown_token_is_401(db: None) -> None:
    response = Client(headers={"authorization": "Token nonsense"}).get(SESSIONS)
    assert response.status_code == 401 and response.json()["code"] == "invalid_token"


def test_a_browser_session_needs_csrf(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(SESSIONS, {}, content_type="application/json").status_code == 403
    assert not ChatSession.objects.exists()


def test_a_session_searches_documents_or_knowledge_bases(owner: User, as_owner: Client, stranger: User) -> None:
    base = factories.make_knowledge_base(owner)
    document, theirs = factories.make_document(base), factories.make_document(factories.make_knowledge_base(stranger))

    def change(**data: object) -> tuple[int, list[int], list[int]]:
        code = as_owner.patch(address, data, content_type="application/json").status_code
        shown = as_owner.get(address).json()
        return code, shown["knowledge_bases"], shown["documents"]

    made = as_owner.post(SESSIONS, {"documents": [document.pk]}, content_type="application/json").json()
    address = f"{SESSIONS}/{made['session_id']}"
    assert change(chat_title="About it") == (200, [], [document.pk])
    assert change(documents=[theirs.pk]) == (404, [], [document.pk])
    assert change(documents=[document.pk], knowledge_bases=[base.pk]) == (400, [], [document.pk])
    assert change(knowledge_bases=[base.pk]) == (200, [base.pk], [])
    assert change(documents=[]) == (200, [base.pk], [])
    assert change(documents=[document.pk]) == (200, [], [document.pk])
    assert change(knowledge_bases=[]) == (200, [], [])
