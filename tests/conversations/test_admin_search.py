"""Searching records in the admin: by the index of words, whatever is combined, in few queries."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.admin import word_search
from conversations.models import ChatSession, ContextEntry, Message, Turn
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db
SEARCHED = [ChatSession, Turn, Message]


@pytest.fixture
def answer(owner: User) -> Message:
    make_turn(make_session(owner, "Routers"), "What of cables?", "They are blue [1].")
    return make_turn(
        make_session(owner, "Switches"), "端口隔离默认是打开的吗？", "It has nine ports, see /etc/hosts [1]."
    )


def found(client: Client, model: type[Any], words: str) -> list[Any]:
    response = client.get(reverse(f"admin:conversations_{model._meta.model_name}_changelist"), {"q": words})
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


@pytest.mark.parametrize("model", SEARCHED)
@pytest.mark.parametrize("words", ["nine", "nine por", "端口", "switches ports", '"nine ports"', "SWITCH", "etc/hosts"])
def test_records_are_found_by_words(answer: Message, as_staff: Client, model: type[Any], words: str) -> None:
    if model is Message and words == "端口":
        assert [row.role for row in found(as_staff, model, words)] == ["user"]
        return
    rows = found(as_staff, model, words)
    sessions = {row.turn.session for row in rows} if model is Message else rows
    assert len(rows) <= 2 and {getattr(row, "session", row) for row in sessions} == {answer.turn.session}


@pytest.mark.parametrize("model", SEARCHED)
@pytest.mark.parametrize("words", ["zebra", "nine zebra", "'", '"', "!?", "%"])
def test_nothing_is_found_by(answer: Message, as_staff: Client, model: type[Any], words: str) -> None:
    assert found(as_staff, model, words) == []


@pytest.mark.parametrize("model", [Turn, Message])
def test_a_request_id_finds_its_turn(answer: Message, as_staff: Client, model: type[Any]) -> None:
    for part in (str(answer.turn.request_id), str(answer.turn.request_id)[:13]):
        rows = found(as_staff, model, part)
        assert {getattr(row, "turn", row) for row in rows} == {answer.turn}


@pytest.mark.parametrize("model", SEARCHED)
@pytest.mark.parametrize("few", [-1, 5000])
def test_the_index_serves_the_search(
    answer: Message, staff: User, monkeypatch: pytest.MonkeyPatch, model: type[Any], few: int
) -> None:
    monkeypatch.setattr(word_search, "_FEW", few)
    request = RequestFactory().get("/")
    request.user = staff
    shown = admin.site._registry[model]
    with CaptureQueriesContext(connection) as made:
        rows, _duplicates = shown.get_search_results(request, shown.get_queryset(request), "nine")
        assert rows.exists()
    assert not [query["sql"] for query in made if re.search(r'"content"::text\) LIKE', query["sql"])]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    assert ("message_words" in rows.explain()) == (few < 0), "few are looked up beforehand"


@pytest.mark.parametrize("model", [model for model in admin.site._registry if model._meta.app_label == "conversations"])
def test_every_list_takes_few_queries(
    answer: Message, as_staff: Client, model: type[Any], django_assert_max_num_queries: Any
) -> None:
    for number in range(25):
        make_turn(answer.turn.session, f"Question {number} of ports")
    for words in ("", "ports"):
        with django_assert_max_num_queries(20):
            found(as_staff, model, words)


def test_context_is_found_by_what_was_said_and_by_its_own_words(answer: Message, as_staff: Client) -> None:
    session, turn = answer.turn.session, answer.turn
    fields = {"session": session, "turn": turn, "content": "Nine ports"}
    said = ContextEntry.objects.create(type="chat", role="assistant", **fields)
    summary = ContextEntry.objects.create(type="summary", role="system", **fields | {"content": "Of antennas."})
    assert found(as_staff, ContextEntry, "nine") == [said]
    assert found(as_staff, ContextEntry, "antenna") == [summary]
    assert set(found(as_staff, ContextEntry, "Switches")) == {said, summary}
