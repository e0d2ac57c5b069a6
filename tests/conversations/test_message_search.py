"""Tests of searching chats by words: prefixes, Chinese words, codes, access, and use of the index."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from conversations import queries
from conversations.message_search import word_query, word_vector
from conversations.models import ChatSession, Message
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(owner: User) -> ChatSession:
    session = make_session(owner, "Hardware")
    make_turn(session, "How many ports has the TL-SE2109?", "It's nine; see /etc/hosts and 10.0.0.1 [1].")
    make_turn(session, "Where is it?", "Behind ![The back](/pictures/4711), see [a page](https://example.org/manual).")
    make_turn(session, "端口隔离默认是打开的吗？", "默认情况下端口隔离是关闭的。")
    make_turn(session, "VLAN 隔离呢？", "也是关闭，\n于此。")
    return session


@pytest.mark.parametrize(
    "words",
    [
        "ports", "port", "PORTS", "nine ports", "hosts", "TL-SE2109", "se21", "tl-se", "TL_SE2109", "10.0", "it's",
        "back", "back see", "example.org/manual", "端口", "离是关", "隔离 ports", "hard", "hardware nine", "关闭于此",
        "VLAN隔离", "nine/see", "10/0/0", "隔離是關閉", "閉於此",
    ],
)  # fmt: skip
def test_chat_is_found_by(owner: User, session: ChatSession, words: str) -> None:
    make_session(owner, "Something else")
    assert list(queries.search_sessions(owner, words)) == [session]


@pytest.mark.parametrize(
    "words",
    [
        "orts",
        "pictures",
        "4711",
        "离端",
        "2109se",
        "nine zebra",
        "ports | zebra",
        "zebra:*",
        "!?",
        "\\'",
        "口默",
        "nine/hosts",
        "ine/see",
    ],
)
def test_chat_is_not_found_by(owner: User, session: ChatSession, words: str) -> None:
    assert not queries.search_sessions(owner, words)


def test_an_answer_is_found_once_it_has_ended(owner: User, session: ChatSession) -> None:
    answers = Message.objects.filter(role="assistant")
    answers.update(status="streaming")
    assert not queries.search_sessions(owner, "nine")
    answers.update(status="stopped")
    assert list(queries.search_sessions(owner, "nine")) == [session]


def test_others_chats_are_not_found(session: ChatSession, stranger: User) -> None:
    assert not queries.search_sessions(stranger, "ports")


def test_search_uses_the_index(session: ChatSession) -> None:
    ended = Message.objects.exclude(status="streaming")
    found = ended.alias(words=word_vector("content")).filter(words=word_query("zebra"))
    with connection.cursor() as cursor:
        # Only bitmap scans remain, and no other index supports one. The cheapest plan for three rows may vary.
        cursor.execute("DROP INDEX message_outcome")
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        assert "message_words" in found.explain()


def test_search_by_api(session: ChatSession, owner: User, as_owner: Client) -> None:
    make_session(owner, "Something else")
    found = as_owner.get("/api/chat/sessions", {"q": "ports nine"}).json()["results"]
    assert [item["id"] for item in found] == [session.pk]
    assert as_owner.get("/api/chat/sessions").json()["count"] == 2
