"""From an answered question to a question set."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.models import Citation
from knowledge.models import Chunk
from retrieval.evaluation import sets
from tests import factories
from tests.conversations.records import CITATION, make_session, make_turn

HTMX = {"HX-Request": "true"}


@pytest.fixture
def chunks(owner: User) -> list[Chunk]:
    document = factories.make_document(factories.make_knowledge_base(owner), "handbook.txt")
    return [factories.make_chunk(document, text) for text in ("Hold the reset button.", "Read but not cited.")]


def test_cited_passages_are_ticked_and_others_offered(owner: User, as_owner: Client, chunks: list[Chunk]) -> None:
    message = make_turn(make_session(owner), "How do I <reset> it?", chunk=chunks[0])
    read = CITATION | {"chunk": chunks[1], "document": chunks[1].document}
    Citation.objects.create(message=message, index=2, request_id=message.turn.request_id, **read)
    sets.create_set(owner, chunks[0].document.knowledge_base, "Golden")
    popover = as_owner.get(reverse("add-answer-to-set", args=[message.pk]), headers=HTMX).content.decode()
    assert f'value="{chunks[0].pk}" checked' in popover
    assert f'value="{chunks[1].pk}" >' in popover
    assert "How do I &lt;reset&gt; it?" in popover
    assert "Golden" in popover
    assert "<html" not in popover


def test_the_button_is_shown_only_if_the_answer_has_sources(owner: User, as_owner: Client, chunks: list[Chunk]) -> None:
    session = make_session(owner)
    message = make_turn(session, chunk=chunks[0])
    address = reverse("add-answer-to-set", args=[message.pk])
    assert address in as_owner.get(reverse("session", args=[session.pk])).content.decode()
    message.citations.all().delete()
    assert address not in as_owner.get(reverse("session", args=[session.pk])).content.decode()


def test_a_deleted_passage_can_not_be_added(owner: User, as_owner: Client, chunks: list[Chunk]) -> None:
    message = make_turn(make_session(owner), chunk=chunks[0])
    chunks[0].document.delete()
    page = as_owner.get(reverse("add-answer-to-set", args=[message.pk])).content.decode()
    assert "Passages whose document was deleted" in page
    assert "<html" in page
