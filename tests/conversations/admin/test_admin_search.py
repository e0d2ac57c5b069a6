"""Searching records in the admin uses the word index and few queries, whatever is combined."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.models import ChatSession, Citation, ContextEntry, Feedback, Message, ShareLink, TraceStep, Turn
from tests.changelists import changelist_of
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db
SEARCHED = [ChatSession, Turn, Message]


@pytest.fixture
def answer(owner: User) -> Message:
    make_turn(make_session(owner, "Routers"), "What of cables?", "They are blue [1].")
    return make_turn(
        make_session(owner, "Switches"), "端口隔离默认是打开的吗？", "It has nine ports, see /etc/hosts [1]."
    )


def found(staff: User, model: type[Any], words: str) -> list[Any]:
    return list(changelist_of(staff, model, {"q": words}).result_list)


@pytest.mark.parametrize("model", SEARCHED)
@pytest.mark.parametrize("words", ["nine", "nine por", "端口", "switches ports", '"nine ports"', "SWITCH", "etc/hosts"])
def test_records_are_found_by_words(answer: Message, staff: User, model: type[Any], words: str) -> None:
    if model is Message and words == "端口":
        assert [row.role for row in found(staff, model, words)] == ["user"]
        return
    rows = found(staff, model, words)
    sessions = {row.turn.session for row in rows} if model is Message else rows
    assert len(rows) <= 2 and {getattr(row, "session", row) for row in sessions} == {answer.turn.session}


@pytest.mark.parametrize("model", SEARCHED)
@pytest.mark.parametrize("words", ["zebra", "nine zebra", "'", '"', "!?", "%"])
def test_searches_without_results(answer: Message, staff: User, model: type[Any], words: str) -> None:
    assert found(staff, model, words) == []


@pytest.mark.parametrize("model", [Turn, Message])
def test_a_request_id_finds_its_turn(answer: Message, staff: User, model: type[Any]) -> None:
    for part in (str(answer.turn.request_id), str(answer.turn.request_id)[:13]):
        rows = found(staff, model, part)
        assert {getattr(row, "turn", row) for row in rows} == {answer.turn}


@pytest.mark.parametrize("model", [*SEARCHED, ContextEntry, Feedback, Citation])
def test_messages_and_citations_are_not_scanned(answer: Message, staff: User, model: type[Any]) -> None:
    request = RequestFactory().get("/")
    request.user = staff
    shown = admin.site._registry[model]
    with connection.cursor() as cursor:  # plan as for large tables, regardless of statistics from earlier tests
        tables = (
            "('conversations_message', 'conversations_citation', 'conversations_turn', 'conversations_chatsession')"
        )
        cursor.execute(f"UPDATE pg_class SET relpages = 1, reltuples = 1e6 WHERE relname IN {tables}")
        cursor.execute(f"DELETE FROM pg_statistic USING pg_class WHERE starelid = pg_class.oid AND relname IN {tables}")
    with CaptureQueriesContext(connection) as made, connection.cursor() as cursor:
        # Only bitmap scans remain, for which no other index on these texts can be used.
        cursor.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_nestloop = off"
        )
        rows, _duplicates = shown.get_search_results(request, shown.get_queryset(request), "nine")
        list(rows)
    index = "citation_words" if model is Citation else "message_words"
    looked_up = [query["sql"] for query in made if "to_tsvector" in query["sql"]]
    with connection.cursor() as cursor:
        for sql in looked_up:
            cursor.execute(f"EXPLAIN {sql}")
            assert index in str(cursor.fetchall())
    assert len(looked_up) == 1
    texts = re.compile(r'_(message"."content|citation"."snippet)"::text\) LIKE')
    assert not [query["sql"] for query in made if texts.search(query["sql"])]


def test_context_is_found_by_messages_and_by_its_own_text(answer: Message, staff: User) -> None:
    session, turn = answer.turn.session, answer.turn
    fields = {"session": session, "turn": turn, "content": "Nine ports"}
    said = ContextEntry.objects.create(type="chat", role="assistant", **fields)
    summary = ContextEntry.objects.create(type="summary", role="system", **fields | {"content": "Of antennas."})
    assert found(staff, ContextEntry, "nine") == [said]
    assert found(staff, ContextEntry, "antenna") == [summary]
    assert set(found(staff, ContextEntry, "Switches")) == {said, summary}


def test_citations_are_found_by_title_file_heading_quotation_and_request(answer: Message, staff: User) -> None:
    cited = answer.citations.get()
    Citation.objects.filter(pk=cited.pk).update(
        title="Handbuch", filename="switch-9.pdf", heading="端口隔离", snippet="A green lamp."
    )
    for words in ("handbuch", "switch-9", "switch-9.pdf", "端口", "green la", "隔离 pdf", str(answer.turn.request_id)):
        assert found(staff, Citation, words) == [cited]
    for words in ("zebra", "口离", "handbuch zebra"):
        assert found(staff, Citation, words) == []


def test_feedback_is_found_by_comment_and_by_answer(answer: Message, staff: User, owner: User) -> None:
    thumb = Feedback.objects.create(message=answer, user=owner, value=-1, reason="wrong", comment="Not true.")
    for words in ("nine ports", "not true", "wrong", "owner", "nine owner"):
        assert found(staff, Feedback, words) == [thumb]
    assert found(staff, Feedback, "nine zebra") == []


def test_links_are_found_by_their_id_and_their_session(answer: Message, staff: User) -> None:
    link = ShareLink.objects.create(session=answer.turn.session, last_turn=answer.turn)
    for words in (str(link.pk), str(link.pk)[:8], "switches", "owner"):
        assert found(staff, ShareLink, words) == [link]
    assert found(staff, ShareLink, "zebra") == []


def test_steps_are_found_by_their_node_and_their_request(answer: Message, staff: User) -> None:
    step = answer.turn.trace.get()
    assert step in found(staff, TraceStep, "understand") and found(staff, TraceStep, "zebra") == []
    assert found(staff, TraceStep, str(answer.turn.request_id)) == [step]


def test_only_the_newest_of_many_matches_are_listed_with_a_note(
    answer: Message, as_staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.admin.word_search.MOST_FOUND", 2)
    turns = [make_turn(answer.turn.session, f"Where is cable {number}?").turn for number in range(3)]
    url = reverse("admin:conversations_turn_changelist")
    page = as_staff.get(url, {"q": "cable"})
    assert list(page.context["cl"].result_list) == turns[:0:-1]
    assert "More than 2 records match" in page.content.decode()
    page = as_staff.get(url, {"q": "nine ports"})
    assert list(page.context["cl"].result_list) == [answer.turn] and "records match" not in page.content.decode()


def test_turns_and_messages_are_filtered_by_answers_without_a_join(
    answer: Message, as_staff: Client, owner: User
) -> None:
    failed = make_turn(answer.turn.session, "And the plugs?", "They …")
    Message.objects.filter(pk=failed.pk).update(status="failed", answer_state="nothing")
    Feedback.objects.create(message=answer, user=owner, value=-1)
    everything = set(Turn.objects.all())
    for model, query, expected in (
        (Turn, {"answer": "failed"}, {failed.turn}),
        (Turn, {"answer": "completed"}, everything - {failed.turn}),  # although its question is completed
        (Turn, {"outcome": "nothing"}, {failed.turn}),
        (Message, {"thumb": "-1"}, {answer}),
        (Message, {"thumb": "1"}, set()),
        (Message, {"thumb": "x"}, set(Message.objects.all())),
    ):
        url = reverse(f"admin:conversations_{model._meta.model_name}_changelist")
        with CaptureQueriesContext(connection) as made:
            page = as_staff.get(url, query)
        assert set(page.context["cl"].result_list) == expected, query
        assert not [each["sql"] for each in made if f'DISTINCT "{model._meta.db_table}"."id"' in each["sql"]]
