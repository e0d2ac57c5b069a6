"""Documents that are passages of a corpus: they have no file, but everything else works."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge import services
from knowledge.ingestion import corpora
from knowledge.models import Chunk, Document, KnowledgeBase
from tests import factories


@pytest.fixture
def passage(base: KnowledgeBase) -> Document:
    corpora.add(base, base.owner, [corpora.passage("4983", "Tea", "Green tea is steeped.")])
    return base.documents.get(external_id="4983")


def test_missing_passages_are_found_by_id_and_content(base: KnowledgeBase) -> None:
    passages = [corpora.passage("a", "", "One."), corpora.passage("b", "", "Two.")]
    assert corpora.missing(base, passages) == passages
    corpora.add(base, base.owner, passages)
    assert corpora.missing(base, passages) == []
    changed = corpora.passage("a", "Title", "One.")
    assert corpora.missing(base, [changed, passages[1]]) == [changed]


def test_the_same_text_under_two_ids_is_two_documents(base: KnowledgeBase) -> None:
    corpora.add(base, base.owner, [corpora.passage("a", "", "Same."), corpora.passage("b", "", "Same.")])
    assert base.documents.count() == 2


def test_the_text_to_index_is_that_of_the_chunk(base: KnowledgeBase, passage: Document) -> None:
    given = corpora.passage("4983", "Tea", "Green tea is steeped.")
    assert passage.chunks.get().searchable_text == given.searchable_text == "Tea\nGreen tea is steeped."


def test_its_pages_offer_no_file(as_owner: Client, as_colleague: Client, passage: Document) -> None:
    address = reverse("document", args=[passage.pk])
    for reader in (as_owner, as_colleague):
        page = reader.get(address).content.decode()
        assert "Green tea is steeped." in page and "passage 4983 of a corpus" in page
        assert reverse("document-file", args=[passage.pk]) not in page
        listed = reader.get(reverse("knowledge-base", args=[passage.knowledge_base_id])).content.decode()
        assert address in listed
        assert reverse("document-file", args=[passage.pk]) not in listed
        assert reverse("document-retry", args=[passage.pk]) not in listed
    assert as_owner.get(reverse("document-file", args=[passage.pk])).status_code == 404


def test_it_is_not_read_again(as_owner: Client, as_staff: Client, passage: Document) -> None:
    assert not services.reingest_document(passage)
    answer = as_owner.post(f"/api/documents/{passage.pk}/reingest")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_file")
    assert "no file to read again" in answer.json()["detail"]
    as_owner.post(reverse("document-retry", args=[passage.pk]))
    page = as_staff.get(reverse("admin:knowledge_document_change", args=[passage.pk]))
    assert page.status_code == 200 and reverse("document-file", args=[passage.pk]) not in page.content.decode()
    passage.refresh_from_db()
    assert passage.status == "ready" and passage.chunks.count() == 1


def test_it_is_deleted_like_any_other(as_owner: Client, passage: Document) -> None:
    assert as_owner.delete(f"/api/documents/{passage.pk}").status_code == 204
    assert not Chunk.objects.exists()


def test_a_base_of_them_is_deleted(
    base: KnowledgeBase, passage: Document, django_capture_on_commit_callbacks: object
) -> None:
    factories.make_document(base)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        services.delete_knowledge_base(base)
    assert not Document.objects.exists()


def test_ids_are_unique_in_a_base_and_not_beyond(base: KnowledgeBase, passage: Document, colleague: User) -> None:
    other = factories.make_knowledge_base(colleague)
    corpora.add(other, colleague, [corpora.passage("4983", "Tea", "Green tea is steeped.")])
    corpora.add(base, base.owner, [corpora.passage("4983", "Tea", "Black tea is steeped.")])
    assert base.documents.get().chunks.get().content == "Black tea is steeped."
    assert other.documents.get().chunks.get().content == "Green tea is steeped."
    # There may be many documents from files, which have no id.
    factories.make_document(base)
    factories.make_document(base)
