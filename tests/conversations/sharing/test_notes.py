"""Tests of saving an answer as a document of a knowledge base."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.models import Citation, Message
from knowledge.models import Document, KnowledgeBase
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def answer(owner: User) -> Message:
    chunk = factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner, "Manuals")))
    return make_turn(make_session(owner, "Routers"), "How do I *reset* it?", "Hold the button [1].", chunk=chunk)


@pytest.fixture
def notes(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner, "Notes")


def test_an_answer_becomes_a_document_with_its_sources(as_owner: Client, answer: Message, notes: KnowledgeBase) -> None:
    address = reverse("save-note", args=[answer.pk])
    assert address in as_owner.get(reverse("session", args=[answer.turn.session_id])).content.decode()
    form = as_owner.get(address, headers=HTMX).content.decode()
    assert f'value="{notes.pk}"' in form and "Notes" in form
    saved = as_owner.post(address, {"knowledge_base": notes.pk}, headers=HTMX)
    document = notes.documents.get()
    assert "was saved to “Notes”" in saved.content.decode() and document.status == Document.Status.QUEUED
    text = document.file.read().decode()
    source = Citation.objects.get(message=answer)
    assert text.startswith("# How do I \\*reset\\* it?\n\nHold the button [1].")
    assert (
        f"/knowledge/documents/{source.document_id}/)" in text and f"[{source.title or source.filename}](http" in text
    )
    again = as_owner.post(f"/api/chat/messages/{answer.pk}/note", {"knowledge_base": notes.pk})
    assert again.status_code == 202 and again.json()["already_here"] and again.json()["id"] == document.pk


def test_it_needs_a_base_to_add_to_and_an_answer(
    as_owner: Client, answer: Message, notes: KnowledgeBase, stranger: User
) -> None:
    other = factories.make_knowledge_base(stranger, "Others", visibility=KnowledgeBase.Visibility.SITE)
    assert "Others" not in as_owner.get(reverse("save-note", args=[answer.pk])).content.decode()
    address = f"/api/chat/messages/{answer.pk}/note"
    assert as_owner.post(address, {"knowledge_base": other.pk}).status_code == 403
    Message.objects.filter(pk=answer.pk).update(blocks=[], content="")
    Citation.objects.all().delete()
    assert as_owner.post(address, {"knowledge_base": notes.pk}).status_code == 409
    assert not Document.objects.filter(knowledge_base__in=[notes, other]).exists()


def test_content_of_documents_that_are_no_longer_shared_is_left_out(
    as_owner: Client, answer: Message, notes: KnowledgeBase, stranger: User
) -> None:
    base = answer.citations.get().document.knowledge_base  # type: ignore[union-attr]
    KnowledgeBase.objects.filter(pk=base.pk).update(owner=stranger)
    refused = as_owner.post(reverse("save-note", args=[answer.pk]), {"knowledge_base": notes.pk}, follow=True)
    assert "nothing to save" in refused.content.decode() and not notes.documents.exists()
