"""Merging adjacent hits, and limiting hits per document."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.reranking.reader import Reading
from retrieval.ranking.fusion import Source
from retrieval.ranking.neighbours import LONGEST_RUN, at_most_per_document, merge_neighbours
from retrieval.types import Hit


def hit(ordinal: int, document: int = 1, **fields: Any) -> Hit:
    defaults: dict[str, Any] = {"kind": "text", "heading": "Ports", "filename": "a.txt", "page": ordinal + 1}
    return Hit(
        chunk_id=document * 100 + ordinal,
        document_id=document,
        knowledge_base_id=1,
        content=f"Passage {ordinal}.",
        score=1.0,
        sources=[Source("bm25", ordinal + 1, 1.0, 0.1)],
        ordinal=ordinal,
        **defaults | fields,
    )


def test_adjacent_hits_are_merged_at_the_best_ones_place() -> None:
    found = merge_neighbours([hit(9), hit(4), hit(2, document=2), hit(3), hit(5)])
    assert [item.chunk_id for item in found] == [109, 104, 202]
    joined = found[1]
    assert joined.content == "Passage 3.\n\nPassage 4.\n\nPassage 5."
    assert joined.page == 5
    assert joined.merged == (103, 104, 105)
    assert [source.rank for source in joined.sources] == [5, 4, 6]
    assert found[0].merged == ()


def test_a_merged_hit_has_the_best_reading() -> None:
    middle = hit(4, reading=Reading(1.0, 0.9, 0.2, 8, 9, ((0, -3.0), (8, 2.0))))
    hits = [hit(3, reading=Reading(2.0, 0.5, 0.7, 0, 7, ((0, 1.0),))), middle, hit(5)]
    (joined,) = merge_neighbours(hits)
    assert joined.reading == Reading(2.0, 0.9, 0.7, 20, 21, ((0, 1.0), (12, -3.0), (20, 2.0)))
    assert joined.content[20:21] == "4"
    (joined,) = merge_neighbours([hit(3), hit(4, reading=Reading(2.0, 0.5))])
    assert joined.reading == Reading(2.0, 0.5)
    (joined,) = merge_neighbours([hit(3), hit(4)])
    assert joined.reading is None


def test_sections_documents_tables_and_pictures_are_not_merged() -> None:
    hits = [hit(1), hit(2, heading="Cables"), hit(3, document=2), hit(4, document=2, kind="table"), hit(2, document=3)]
    assert merge_neighbours(hits) == hits


def test_long_runs_are_cut() -> None:
    found = merge_neighbours([hit(ordinal) for ordinal in range(LONGEST_RUN + 2)])
    assert [len(item.merged) for item in found] == [LONGEST_RUN, 2]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3)), unique=True, max_size=15))
def test_no_passage_is_lost_or_doubled(places: list[tuple[int, int]]) -> None:
    hits = [hit(ordinal, document) for ordinal, document in places]
    found = merge_neighbours(hits)
    assert sorted(pk for item in found for pk in item.merged or (item.chunk_id,)) == sorted(h.chunk_id for h in hits)
    assert all(2 <= len(item.merged) <= LONGEST_RUN for item in found if item.merged)
    order = [h.chunk_id for h in hits]
    assert [item.chunk_id for item in found] == sorted((item.chunk_id for item in found), key=order.index)


@given(st.lists(st.integers(1, 3), max_size=12), st.integers(1, 4))
def test_a_document_has_its_best_hits_up_to_the_cap(documents: list[int], most: int) -> None:
    hits = [hit(ordinal, document) for ordinal, document in enumerate(documents)]
    kept = at_most_per_document(hits, most)
    for document in (1, 2, 3):
        of_it = [item for item in hits if item.document_id == document]
        assert [item for item in kept if item.document_id == document] == of_it[:most]
