"""Vectors under filters: the graph and the exact scan find the same."""

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from numpy.typing import NDArray

from knowledge.models import KnowledgeBase
from retrieval import index, spaces, vectors
from retrieval.index import IndexRow
from retrieval.models import EmbeddingSpace
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> EmbeddingSpace:
    return spaces.active_space()


def fill(base: KnowledgeBase, space: EmbeddingSpace, rows: NDArray[np.float32]) -> list[int]:
    document = factories.make_document(base)
    chunk_ids = [factories.make_chunk(document, f"passage {number}").pk for number in range(len(rows))]
    index.index(IndexRow(chunk_id, document.pk, "passage") for chunk_id in chunk_ids)
    vectors.store(space, chunk_ids, rows)
    return chunk_ids


def random_rows(count: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("exact_rows", [0, 4_000])
def test_both_ways_find_the_nearest_of_the_bases_asked(
    owner: User, space: EmbeddingSpace, exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "EXACT_ROWS", exact_rows)
    monkeypatch.setattr(vectors, "GRAPH_COST", 0)
    first, second = factories.make_knowledge_base(owner), factories.make_knowledge_base(owner)
    rows = random_rows(60, 1)
    first_ids, second_ids = fill(first, space, rows[:30]), fill(second, space, rows[30:])
    query = random_rows(1, 2)[0]
    similarity = dict(zip(first_ids + second_ids, (rows @ query).tolist(), strict=True))
    for bases, ids in (([first.pk], first_ids), ([first.pk, second.pk], first_ids + second_ids)):
        found = vectors.search(space, query, bases, 5)
        assert [chunk_id for chunk_id, _ in found] == sorted(ids, key=lambda key: -similarity[key])[:5]
        assert [score for _, score in found] == pytest.approx([similarity[key] for key, _ in found], abs=2e-3)


def test_few_rows_are_compared_one_by_one_and_many_are_not() -> None:
    assert vectors.is_exact(3_000, 1_000_000, 50)
    assert vectors.is_exact(10_000, 1_000_000, 50)
    assert not vectors.is_exact(100_000, 1_000_000, 50)
    assert not vectors.is_exact(1_000_000, 1_000_000, 50)


def test_the_graph_is_used(owner: User, space: EmbeddingSpace) -> None:
    fill(factories.make_knowledge_base(owner), space, random_rows(20, 3))
    vectors._prepare_graph(5)
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN " + vectors._fill(vectors._GRAPH, space, only=""),
            {"vector": vectors.literal(random_rows(1, 4)[0]), "k": 5},
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert space.index_name in plan


def test_the_first_use_makes_one_active_space_with_its_languages(space: EmbeddingSpace) -> None:
    assert spaces.active_space() == space
    assert (space.active, space.dimension, space.languages) == (True, 384, ["en"])
    assert space.knows("en")
    assert not space.knows("zh")


def test_query_vectors_are_cached_within_bounds(space: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "CACHED_QUERIES", 2)
    first = spaces.embed_query(space, "one")
    assert spaces.embed_query(space, "one") is first
    spaces.embed_query(space, "two")
    spaces.embed_query(space, "three")
    assert spaces.embed_query(space, "one") is not first
    assert len(spaces._cache) == 2
