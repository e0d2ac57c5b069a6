"""Follow-up suggestions: headings near cited passages, in the question's language, without generic ones."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from conversations import queries
from conversations.models import Citation, Message
from conversations.rendering.answer import AnswerPage
from conversations.rendering.follow_ups import follow_ups
from knowledge.models import Chunk
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

HEADINGS = [
    "Introduction",
    "2.1 Restoring the factory settings",
    "12",
    "3 Updating the firmware",
    "保修期",
    "What is new",
    "No link",
    "Is there a lamp?",
]


def asked(owner: User, question: str, state: str = "answered", cite: int = 1) -> AnswerPage:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base)
    chunks = [
        Chunk.objects.create(document=document, ordinal=at, content=f"Text {at}.", heading_path=["Manual", heading])
        for at, heading in enumerate(HEADINGS)
    ]
    session = make_session(owner)
    answer = make_turn(session, question, chunk=chunks[cite], answer_state=state)
    Citation.objects.filter(message=answer).update(cited=True)
    view = queries.turn_view(session, answer.turn_id)
    assert view is not None
    return AnswerPage.of(view)


def test_headings_beside_the_passage_become_questions(owner: User) -> None:
    assert follow_ups(owner, asked(owner, "How do I restore it?")) == [
        "Tell me about updating the firmware.",
        "Is there a lamp?",
    ]


def test_the_asked_question_is_not_offered(owner: User) -> None:
    assert follow_ups(owner, asked(owner, "What of updating the firmware?")) == ["Is there a lamp?"]


def test_a_chinese_question_is_followed_by_chinese_ones(owner: User) -> None:
    (offered,) = follow_ups(owner, asked(owner, "怎么恢复出厂设置？"))
    assert "保修期" in offered


@pytest.mark.parametrize("state", ["nearest", "nothing", ""])
def test_no_follow_ups_without_results(owner: User, state: str) -> None:
    assert follow_ups(owner, asked(owner, "How do I restore it?", state)) == []


def test_no_follow_ups_from_documents_that_are_no_longer_readable(owner: User, stranger: User) -> None:
    assert follow_ups(stranger, asked(owner, "How do I restore it?")) == []


def test_the_page_shows_follow_ups(as_owner: Client, owner: User) -> None:
    page = asked(owner, "How do I restore it?")
    html = as_owner.get(f"/c/{page.session_id}/").content.decode()
    assert 'value="Is there a lamp?"' in html
    Message.objects.filter(pk=page.message_id).update(status="stopped")
    assert 'value="Is there a lamp?"' not in as_owner.get(f"/c/{page.session_id}/").content.decode()
