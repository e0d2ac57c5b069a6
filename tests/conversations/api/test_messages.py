"""The messages API: content, citations, trace and feedback, only for their owner."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import gettext_lazy, override
from pytest_django import DjangoAssertNumQueries

from conversations import turn_store
from conversations.models import Citation, Feedback, Message
from conversations.pipeline.failures import error_event, internal_error
from conversations.pipeline.node import NodeFailed
from ragsite.llm.errors import RateLimited, TimedOut, Unauthorized, Unreachable
from tests import factories
from tests.conversations.records import CITATION, make_session, make_turn

pytestmark = pytest.mark.django_db

FIELDS = {
    "id", "turn_id", "parent_turn_id", "continues", "role", "content", "blocks", "thinking", "status", "error",
    "citations", "checks", "created_at", "answer_state", "finish_reason",
    "can_continue", "usage",
}  # fmt: skip


@pytest.fixture
def answer(owner: User) -> Message:
    return make_turn(make_session(owner, "Chat"))


def test_a_session_gives_its_messages_oldest_first(answer: Message, as_owner: Client) -> None:
    later = make_turn(answer.turn.session, "And then?", "Let go.", parent=answer.turn)
    body = as_owner.get(f"/api/chat/sessions/{answer.turn.session_id}/content").json()
    assert [item["content"] for item in body["results"]] == [
        "How do I reset it?", "Hold the button [1].", "And then?", "Let go.",
    ]  # fmt: skip
    assert [item["role"] for item in body["results"]] == ["user", "assistant"] * 2
    assert body["results"][3]["parent_turn_id"] == answer.turn_id and body["results"][3]["id"] == later.pk
    assert set(body["results"][0]) == FIELDS


def test_the_messages_cost_the_same_for_any_number(
    answer: Message, as_owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _number in range(20):
        make_turn(answer.turn.session)
    # session, user, chat, stale answers, count, messages, citations
    with django_assert_num_queries(7):
        as_owner.get(f"/api/chat/sessions/{answer.turn.session_id}/content")


def test_a_message_has_its_blocks_and_citations(answer: Message, as_owner: Client) -> None:
    body = as_owner.get(f"/api/chat/messages/{answer.pk}").json()
    assert body["blocks"] == [{"id": "b1", "kind": "text", "text": "Hold the button [1]."}]
    assert body["status"] == "completed" and body["error"] is None
    assert body["citations"][0].items() >= (CITATION | {"index": 1, "document_id": None, "cited": True}).items()


LATER = RateLimited()
LATER.retry_after = 90
FAILURES = {
    "unreachable": Unreachable(),
    "timed_out": TimedOut(),
    "rate_limited": LATER,
    "timeout": TimeoutError(),
    "database_away": OperationalError(),
    "internal": KeyError(),
}


@pytest.mark.parametrize("code", [*FAILURES, "interrupted"])
def test_a_failed_message_says_why_in_the_reader_s_language(answer: Message, as_owner: Client, code: str) -> None:
    def stored() -> str:
        if code == "interrupted":
            return turn_store.interruption()
        failure = NodeFailed("search", FAILURES[code])
        return error_event(failure, gettext_lazy("Search")).message

    def shown(language: str) -> str:
        body = as_owner.get(f"/api/chat/messages/{answer.pk}", headers={"Accept-Language": language}).json()
        page = as_owner.get(f"/c/{answer.turn.session_id}/", headers={"Accept-Language": language})
        assert body["status"] == "failed" and body["error"]["code"] == code
        assert str(escape(body["error"]["message"])) in page.text
        return str(body["error"]["message"])

    said = {}
    for language in ("en", "zh-hans"):
        with override(language):
            said[language] = stored()
    assert said["en"] != said["zh-hans"]
    for language, message in said.items():
        other = "en" if language != "en" else "zh-hans"
        Message.objects.filter(pk=answer.pk).update(status="failed", error_code=code, error_message=message)
        assert shown(language) == message  # with its step, or the seconds to wait
        with override(other):
            general = internal_error().message if code == "internal" else said[other]
        assert shown(other)[:8] == general[:8]


def test_an_error_with_an_unknown_code_is_shown_as_stored(answer: Message, as_owner: Client) -> None:
    Message.objects.filter(pk=answer.pk).update(status="failed", error_code="stock", error_message="No stock.")
    body = as_owner.get(f"/api/chat/messages/{answer.pk}").json()
    assert body["error"] == {"code": "stock", "message": "No stock."}


def test_users_who_can_change_the_model_are_told_what_to_do(answer: Message, as_owner: Client, owner: User) -> None:
    Message.objects.filter(pk=answer.pk).update(
        status="failed", error_code="unauthorized", error_message=Unauthorized().message
    )

    def page() -> str:
        return as_owner.get(f"/c/{answer.turn.session_id}/").text

    assert "tell an administrator" in page()
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    assert "tell an administrator" in page()
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    assert "tell an administrator" not in page()
    assert "See “Model profiles” in the administration." in page()


@pytest.mark.parametrize("route", ["messages/{message}", "sessions/{session}/content"])
def test_an_answer_whose_writer_died_is_interrupted_on_reading(answer: Message, as_owner: Client, route: str) -> None:
    long_ago = timezone.now() - timedelta(minutes=1)
    Message.objects.filter(pk=answer.pk).update(status="streaming", heartbeat_at=long_ago, stream_log=[], last_seq=0)
    body = as_owner.get("/api/chat/" + route.format(message=answer.pk, session=answer.turn.session_id)).json()
    shown = body["results"][1] if "results" in body else body
    assert shown["status"] == "interrupted" and shown["error"]["code"] == "interrupted"


def test_citations_by_message_id(owner: User, as_owner: Client) -> None:
    chunk = factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner)))
    answer = make_turn(make_session(owner), chunk=chunk)
    [citation] = as_owner.get(f"/api/chat/messages/{answer.pk}/citations").json()["results"]
    assert citation["chunk_id"] == chunk.pk and citation["document_id"] == chunk.document_id
    assert citation["request_id"] == str(answer.turn.request_id)
    assert citation["sources"] == CITATION["sources"]


def test_citations_are_grouped_by_document(owner: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner)
    switch, price, kit = (factories.make_document(base, name) for name in ("a", "b", "c"))
    answer = make_turn(make_session(owner))
    answer.citations.all().delete()
    rows = [(switch, False), (price, True), (kit, True), (price, False), (switch, True), (None, False)]
    for index, (document, cited) in enumerate(rows, 1):
        place = {"document": document, "filename": document.path if document else "gone"}
        fields = CITATION | place | {"index": index, "cited": cited}
        Citation.objects.create(message=answer, request_id=answer.turn.request_id, **fields)
    session = f"/api/chat/sessions/{answer.turn.session_id}"
    told = [
        as_owner.get(f"/api/chat/messages/{answer.pk}/citations").json()["results"],
        as_owner.get(f"/api/chat/messages/{answer.pk}").json()["citations"],
        as_owner.get(f"{session}/content").json()["results"][1]["citations"],
        as_owner.get(f"{session}/export.json").json()["messages"][1]["citations"],
    ]
    assert [[citation["index"] for citation in citations] for citations in told] == [[2, 4, 3, 1, 5, 6]] * 4


def test_a_citation_names_all_passages_that_were_joined(owner: User, as_owner: Client) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    first, best = factories.make_chunk(document), factories.make_chunk(document)
    answer = make_turn(make_session(owner), chunk=best)
    Citation.objects.filter(message=answer).update(merged=[first.pk, best.pk])
    address = f"/api/chat/messages/{answer.pk}"
    for [citation] in (
        as_owner.get(f"{address}/citations").json()["results"],
        as_owner.get(address).json()["citations"],
    ):
        assert citation["chunk_id"] == best.pk and citation["merged"] == [first.pk, best.pk]
    document.delete()
    [citation] = as_owner.get(f"{address}/citations").json()["results"]
    assert citation["chunk_id"] is None and citation["merged"] == []


def test_a_citation_outlives_its_document(owner: User, as_owner: Client) -> None:
    chunk = factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner)))
    answer = make_turn(make_session(owner), chunk=chunk)
    chunk.document.delete()
    [citation] = as_owner.get(f"/api/chat/messages/{answer.pk}/citations").json()["results"]
    assert citation["chunk_id"] is None and citation["document_id"] is None
    assert citation["snippet"] == CITATION["snippet"] and Citation.objects.count() == 1


def test_the_trace_for_owner_and_staff(answer: Message, as_owner: Client, as_staff: Client) -> None:
    for client in (as_owner, as_staff):
        body = client.get(f"/api/chat/messages/{answer.pk}/trace").json()
        assert body["turn_id"] == answer.turn_id and body["action"] == "retrieve_vector"
        [step] = body["steps"]
        assert (step["key"], step["status"], step["ms"], step["detail"]) == (
            "understand",
            "completed",
            4.5,
            {"action": "chat"},
        )


def test_staff_read_traces_but_not_messages(answer: Message, as_staff: Client) -> None:
    assert as_staff.get(f"/api/chat/messages/{answer.pk}").status_code == 404


def test_feedback_is_given_replaced_and_taken_back(answer: Message, owner: User, as_owner: Client) -> None:
    route = f"/api/chat/messages/{answer.pk}/feedback"
    first = as_owner.put(route, {"value": 1}, content_type="application/json")
    assert first.status_code == 200 and first.json()["value"] == 1
    as_owner.put(route, {"value": -1, "reason": "wrong", "comment": "No."}, content_type="application/json")
    feedback = Feedback.objects.get(message=answer, user=owner)
    assert (feedback.value, feedback.reason, feedback.comment) == (-1, "wrong", "No.")
    assert as_owner.delete(route).status_code == 204
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("body", [{}, {"value": 0}, {"value": 2}, {"value": "up"}, {"value": 1, "reason": "x" * 41}])
def test_invalid_feedback_is_400_with_a_message(answer: Message, as_owner: Client, body: dict[str, object]) -> None:
    route = f"/api/chat/messages/{answer.pk}/feedback"
    response = as_owner.put(route, body, content_type="application/json")
    assert response.status_code == 400 and response.json()["detail"]
    assert not Feedback.objects.exists()


def test_a_question_cannot_be_rated(answer: Message, as_owner: Client) -> None:
    question = answer.turn.messages.get(role="user")
    response = as_owner.put(f"/api/chat/messages/{question.pk}/feedback", {"value": 1}, content_type="application/json")
    assert response.status_code == 409 and "answer" in response.json()["detail"]


@pytest.mark.parametrize(
    ("method", "rest"),
    [("get", ""), ("get", "/citations"), ("get", "/trace"), ("put", "/feedback"), ("delete", "/feedback")],
)
def test_others_get_404(
    answer: Message, as_stranger: Client, as_colleague: Client, anonymous: Client, method: str, rest: str
) -> None:
    Feedback.objects.create(message=answer, user=answer.turn.session.owner, value=1)
    route = f"/api/chat/messages/{answer.pk}{rest}"
    for client in (as_stranger, as_colleague):
        response = getattr(client, method)(route, {"value": -1}, content_type="application/json")
        assert response.status_code == 404 and response.json()["code"] == "not_found"
    assert getattr(anonymous, method)(route).status_code == 401
    assert Feedback.objects.get().value == 1


def test_a_sharer_of_the_knowledge_base_does_not_read_the_chat(
    owner: User, colleague: User, as_colleague: Client
) -> None:
    base = factories.make_knowledge_base(owner)
    factories.share(base, colleague)
    answer = make_turn(make_session(owner), chunk=factories.make_chunk(factories.make_document(base)))
    assert as_colleague.get(f"/api/chat/sessions/{answer.turn.session_id}/content").status_code == 404
