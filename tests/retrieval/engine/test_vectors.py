"""Filtered vector search: the graph and the exact scan find the same."""

import numpy as np
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from numpy.typing import NDArray

from knowledge.models import Chunk, KnowledgeBase
from ragsite.llm.embedding.embedding import EmbeddingModel
from retrieval.engine import index, spaces, vectors
from retrieval.engine.index import IndexRow
from retrieval.models import EmbeddingSpace, Vector, VectorCount
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> EmbeddingSpace:
    return spaces.active_space()


def index_words(base: KnowledgeBase, count: int) -> list[int]:
    document = factories.make_document(base)
    chunk_ids = [made.pk for made in factories.make_chunks(document, [f"passage {number}" for number in range(count)])]
    index.index(IndexRow(chunk_id, document.pk, "passage") for chunk_id in chunk_ids)
    return chunk_ids


def fill(base: KnowledgeBase, space: EmbeddingSpace, rows: NDArray[np.float32]) -> list[int]:
    chunk_ids = index_words(base, len(rows))
    vectors.insert_into_active(space, chunk_ids, rows)
    return chunk_ids


def random_rows(count: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def nearest(rows: NDArray[np.float32], query: NDArray[np.float32], ids: list[int], k: int) -> list[int]:
    order = np.argsort(-(rows @ query), kind="stable")[:k]
    return [ids[place] for place in order]


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Search the graph wherever possible; return the limits of the graph searches."""
    monkeypatch.setattr(vectors, "OVERFETCH", 2)
    monkeypatch.setattr(vectors, "is_exact", lambda wanted, total, k: False)
    limits: list[int] = []
    walk = vectors._Question.walk

    def noted(self: vectors._Question, limit: int, most: int, *, filtered: bool) -> list[tuple[int, float]]:
        limits.append(limit)
        return walk(self, limit, most, filtered=filtered)

    monkeypatch.setattr(vectors._Question, "walk", noted)
    return limits


def test_exact_search_finds_the_nearest(owner: User, space: EmbeddingSpace) -> None:
    assert_both_bases_are_searched(owner, space)


def test_graph_search_finds_the_nearest(owner: User, space: EmbeddingSpace, walked: list[int]) -> None:
    assert_both_bases_are_searched(owner, space)
    assert walked == [5 * vectors.OVERFETCH, 5]  # a filtered search looks for more hits


def assert_both_bases_are_searched(owner: User, space: EmbeddingSpace) -> None:
    first, second = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    rows = random_rows(60, 1)
    first_ids, second_ids = fill(first, space, rows[:30]), fill(second, space, rows[30:])
    query = random_rows(1, 2)[0]
    found = vectors.search(space, query, [first.pk], 5)
    assert [chunk_id for chunk_id, *_ in found] == nearest(rows[:30], query, first_ids, 5)
    both = vectors.search(space, query, [first.pk, second.pk], 5)
    assert [chunk_id for chunk_id, *_ in both] == nearest(rows, query, first_ids + second_ids, 5)
    assert [score for _, score, _ in both] == pytest.approx(sorted(rows @ query, reverse=True)[:5], abs=2e-3)


def test_single_documents_are_searched_exactly(owner: User, space: EmbeddingSpace, walked: list[int]) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    rows = random_rows(60, 5)
    ids = [fill(each, space, rows[at : at + 20]) for at, each in ((0, base), (20, base), (40, other))]
    asked = [Chunk.objects.get(pk=ids[place][0]).document_id for place in (1, 2)]
    query = random_rows(1, 6)[0]
    found = vectors.search(space, query, [base.pk], 30, asked)
    assert [chunk_id for chunk_id, *_ in found] == nearest(rows[20:40], query, ids[1], 20)
    assert walked == []


def test_a_graph_search_with_too_few_hits_falls_back_to_exact(
    owner: User, space: EmbeddingSpace, walked: list[int]
) -> None:
    small, large = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    rows = random_rows(43, 3)
    ids = fill(small, space, rows[:3])
    fill(large, space, rows[3:])
    found = vectors.search(space, rows[5], [small.pk], 5)
    assert [chunk_id for chunk_id, *_ in found] == nearest(rows[:3], rows[5], ids, 3)
    assert walked == [5 * vectors.OVERFETCH]


def test_few_rows_are_searched_exactly_and_many_are_not() -> None:
    assert vectors.is_exact(1_500, 1_500, 50)
    assert vectors.is_exact(39_000, 100_000, 50)
    assert vectors.is_exact(20_000, 1_000_000, 50)
    assert vectors.is_exact(50_000, 1_000_000, 50)
    assert not vectors.is_exact(20_000, 20_000, 50)
    assert not vectors.is_exact(45_000, 100_000, 50)
    assert not vectors.is_exact(200_000, 1_000_000, 50)
    assert not vectors.is_exact(1_000_000, 1_000_000, 50)


@pytest.mark.parametrize("only", ["", vectors._ONLY])
def test_the_graph_is_used(owner: User, space: EmbeddingSpace, only: str) -> None:
    base = factories.make_knowledge_base(owner)
    fill(base, space, random_rows(20, 3))
    question = vectors._Question(space, vectors.literal(random_rows(1, 4)[0]), [base.pk], 5, [])
    question.walk(5, 100, filtered=bool(only))  # its options stay set in this transaction
    assert space.index_name in plan(vectors._GRAPH, question, only)
    question.compare(after_a_walk=True)
    assert space.index_name not in plan(vectors._EXACT, question, "")


def plan(statement: str, question: vectors._Question, only: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN " + vectors._fill(statement, question.space, only=only),
            {"vector": question.vector, "bases": question.bases, "k": 5},
        )
        return "\n".join(line for (line,) in cursor.fetchall())


def test_a_base_without_vectors_is_not_searched(owner: User, space: EmbeddingSpace) -> None:
    fill(factories.make_knowledge_base(owner), space, random_rows(20, 3))
    waiting = factories.make_knowledge_base(owner)
    index_words(waiting, 5)
    with CaptureQueriesContext(connection) as queries:
        assert vectors.search(space, random_rows(1, 4)[0], [waiting.pk], 5) == []
    assert not [query for query in queries.captured_queries if "<=>" in query["sql"]]


def test_counts_match_the_rows(owner: User, space: EmbeddingSpace) -> None:
    first, second = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    fill(first, space, random_rows(7, 1))
    ids = fill(second, space, random_rows(5, 2))
    vectors.insert_into_active(space, ids, random_rows(5, 3))  # stored already
    other = spaces.find_or_create(EmbeddingModel("local", str(settings.BUNDLED_MODEL_DIR)), 384)
    vectors.insert(other, ids[:2], random_rows(2, 4))
    assert counts() == {(space.pk, first.pk): 7, (space.pk, second.pk): 5, (other.pk, second.pk): 2}
    index.delete([Chunk.objects.get(pk=ids[0]).document_id])
    assert counts() == {(space.pk, first.pk): 7, (space.pk, second.pk): 0, (other.pk, second.pk): 0}
    assert Vector.objects.count() == 7
    first.delete()
    assert {pair: count for pair, count in counts().items() if count} == {}
    assert not Vector.objects.exists()


def counts() -> dict[tuple[int, int], int]:
    rows = VectorCount.objects.values_list("space_id", "knowledge_base_id", "vectors")
    return {(space_id, base_id): count for space_id, base_id, count in rows}


def test_vectors_of_deleted_chunks_are_skipped(owner: User, space: EmbeddingSpace) -> None:
    base = factories.make_knowledge_base(owner)
    ids = index_words(base, 3)
    vectors.insert_into_active(space, [*ids, ids[-1] + 1000], random_rows(4, 1))
    assert counts() == {(space.pk, base.pk): 3}
    assert vectors.missing(space, Chunk.objects.get(pk=ids[0]).document_id) == []


def test_vectors_are_stored_only_in_the_active_space(owner: User, space: EmbeddingSpace) -> None:
    ids = index_words(factories.make_knowledge_base(owner), 2)
    EmbeddingSpace.objects.filter(pk=space.pk).update(active=False)
    with pytest.raises(vectors.SpaceChanged):
        vectors.insert_into_active(space, ids, random_rows(2, 1))
    assert not Vector.objects.exists()


def test_a_dropped_space_differs_from_an_empty_one(owner: User, space: EmbeddingSpace) -> None:
    base = factories.make_knowledge_base(owner)
    fill(base, space, random_rows(3, 1))
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {space.table_name}")
    with pytest.raises(vectors.SpaceChanged), transaction.atomic():
        vectors.search(space, random_rows(1, 1)[0], [base.pk], 5)
    EmbeddingSpace.objects.filter(pk=space.pk).delete()
    with pytest.raises(vectors.SpaceChanged):
        vectors.search(space, random_rows(1, 1)[0], [base.pk], 5)


def test_search_can_be_limited_to_languages(owner: User, space: EmbeddingSpace, walked: list[int]) -> None:
    base = factories.make_knowledge_base(owner)
    texts = ["A switch with nine ports.", "九个端口的交换机。", "42 / 17", "Lunch is at noon."]
    chunks = factories.make_chunks(factories.make_document(base), texts)
    index.index(map(IndexRow.of, chunks))
    rows = random_rows(4, 1)
    vectors.insert_into_active(space, [chunk.pk for chunk in chunks], rows)
    ids = [chunk.pk for chunk in chunks]
    for languages, places in ((["zh"], [1]), (["en", ""], [0, 2, 3]), ([], [0, 1, 2, 3])):
        found = vectors.search(space, rows[0], [base.pk], 5, languages=languages)
        assert sorted(chunk_id for chunk_id, *_ in found) == [ids[place] for place in places]
    assert {chunk_id: language for chunk_id, _, language in found} == dict(
        zip(ids, ["en", "zh", "", "en"], strict=True)
    )
