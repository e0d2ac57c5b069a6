"""Resolving references to passages after their documents have changed."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from knowledge.ingestion import corpora
from knowledge.models import Chunk, Document, KnowledgeBase
from retrieval.evaluation.loading.references import Reference, Target, resolve, resolve_names, similar_chunks
from tests import factories

pytestmark = pytest.mark.django_db

WARRANTY = "The warranty lasts two years from the day of purchase. It covers faults of material and of making."
RETURNS = "Goods may be returned within thirty days, unused and in their box. Postage is paid by the buyer."
CHINESE = "产品自购买之日起保修两年，涵盖材料和制造缺陷。人为损坏不在保修范围之内。"


@pytest.fixture
def document(base: KnowledgeBase) -> Document:
    made = factories.make_document(base, "Handbook.pdf")
    factories.make_chunks(made, [WARRANTY, RETURNS, CHINESE])
    return made


def reference_to(document: Document, ordinal: int, grade: int = 1) -> Reference:
    return Reference.to(document.chunks.select_related("document").get(ordinal=ordinal), grade)


def found(base: KnowledgeBase, reference: Reference) -> list[str]:
    target = resolve(base.pk, [reference])[reference]
    return (
        []
        if target is None
        else sorted(Chunk.objects.filter(pk__in=target.chunk_ids).values_list("content", flat=True))
    )


def parse_again(document: Document, *passages: str, name: str = "") -> Document:
    """Replace a document's chunks; with a name, replace the document with a new one."""
    if name:
        base = document.knowledge_base
        document.delete()
        document = factories.make_document(base, name)
    else:
        document.chunks.all().delete()
    factories.make_chunks(document, passages)
    return document


def test_a_chunk_is_found_by_its_id(base: KnowledgeBase, document: Document) -> None:
    reference = reference_to(document, 0, grade=2)
    assert Reference.from_dict(reference.to_dict()) == reference
    target = resolve(base.pk, [reference])[reference]
    assert target == Target(reference, "Handbook.pdf", WARRANTY, frozenset([document.chunks.get(ordinal=0).pk]))


@pytest.mark.parametrize("name", ["", "Handbook.pdf"])
def test_a_passage_is_found_by_its_text_after_parsing_again(base: KnowledgeBase, document: Document, name: str) -> None:
    references = [reference_to(document, ordinal) for ordinal in range(3)]
    # Other boundaries: a passage with more text, one split in two, one unchanged.
    halves = RETURNS.split(". ")
    parse_again(document, WARRANTY + " Keep the bill.", *halves, CHINESE, name=name)
    assert found(base, references[0]) == [WARRANTY + " Keep the bill."]
    assert found(base, references[1]) == sorted(halves)
    assert found(base, references[2]) == [CHINESE]


def test_chinese_passages_are_found_by_their_text(base: KnowledgeBase, document: Document) -> None:
    reference = reference_to(document, 2)
    parse_again(document, WARRANTY, "第三章 保修\n" + CHINESE, "退货须在三十天之内，由买家承担运费。")
    assert found(base, reference) == ["第三章 保修\n" + CHINESE]


def test_an_id_with_another_text_is_ignored(base: KnowledgeBase, document: Document) -> None:
    reference = reference_to(document, 0)
    document.chunks.filter(ordinal=0).update(content="Wholly other words about something else.")
    assert found(base, reference) == []
    factories.make_chunk(document, WARRANTY)
    assert found(base, reference) == [WARRANTY]


def test_deleted_targets_are_not_found(base: KnowledgeBase, document: Document) -> None:
    references = [reference_to(document, 0), Reference(document="Handbook.pdf"), Reference(passage="none")]
    document.delete()
    assert resolve(base.pk, references) == dict.fromkeys(references)


def test_a_whole_document_is_found_by_its_name(base: KnowledgeBase, document: Document) -> None:
    reference = Reference(document="Handbook.pdf")
    again = factories.make_document(base, "Handbook.pdf")
    target = resolve(base.pk, [reference])[reference]
    assert target is not None and target.document_ids == {document.pk, again.pk}


def test_another_base_is_not_searched(base: KnowledgeBase, document: Document, colleague: User) -> None:
    other = factories.make_knowledge_base(colleague)
    for reference in (reference_to(document, 0), Reference(document="Handbook.pdf")):
        assert resolve(other.pk, [reference]) == {reference: None}
        assert resolve_names(other.pk, [reference])[reference] is None


def test_names_are_looked_up_as_passage_then_file_then_chunk(base: KnowledgeBase, document: Document) -> None:
    chunk = document.chunks.select_related("document").get(ordinal=1)
    corpora.add(base, base.owner, [corpora.passage("4983", "", "A passage of a corpus.")])
    factories.make_document(base, "77")
    wanted = {
        Reference(2, name="4983"): Reference(2, passage="4983"),
        Reference(name="77"): Reference(document="77"),
        Reference(name="Handbook.pdf"): Reference(document="Handbook.pdf"),
        Reference(3, name=str(chunk.pk)): Reference.to(chunk, 3),
        Reference(chunk_id=chunk.pk): Reference.to(chunk),
        Reference(name="Handbook"): None,
        Reference(name="9" * 30): None,
        Reference(chunk_id=10**30): None,
        Reference(chunk_id=0): None,
        Reference(chunk_id=-1): None,
        Reference(passage="none"): None,
        Reference(document="none.pdf"): None,
    }
    assert resolve_names(base.pk, wanted) == wanted


def test_a_passage_of_a_corpus_is_named_by_its_id(base: KnowledgeBase) -> None:
    (chunk,) = corpora.add(base, base.owner, [corpora.passage("4983", "", "A passage.")])
    assert Reference.to(chunk) == Reference(passage="4983")
    target = resolve(base.pk, [Reference(passage="4983")])[Reference(passage="4983")]
    assert target is not None and target.document_ids == {chunk.document_id}


def test_a_picture_is_referenced_by_its_searchable_text(base: KnowledgeBase, document: Document) -> None:
    chunk = factories.make_chunk(document, "", kind="image", heading_path=["Ports"])
    reference = Reference.to(chunk)
    assert reference.text == "Ports"
    target = resolve(base.pk, [reference])[reference]
    assert target is not None and target.chunk_ids == {chunk.pk}


def test_any_number_of_references_takes_few_queries(
    base: KnowledgeBase, document: Document, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    references = [
        Reference.to(each) for each in factories.make_chunks(document, (f"Passage number {n}." for n in range(30)))
    ]
    references += [Reference(passage=str(n)) for n in range(30)]
    with django_assert_max_num_queries(4):  # type: ignore[attr-defined]
        assert sum(target is not None for target in resolve(base.pk, references).values()) == 30


def test_dissimilar_passages(document: Document) -> None:
    chunks = list(document.chunks.all())
    assert similar_chunks("The warranty of the buyer, within thirty years.", chunks) == []
    assert [chunk.content for chunk in similar_chunks("It covers faults of material", chunks)] == [WARRANTY]
    assert similar_chunks("", chunks) == []
