"""Scoring hits: matches, and hits that count once."""

from retrieval.evaluation.loading.references import Reference, Target
from retrieval.evaluation.metrics import Figures
from retrieval.evaluation.scoring import is_by_document, score
from retrieval.types import Hit


def hit(chunk_id: int, document_id: int = 1, merged: tuple[int, ...] = ()) -> Hit:
    return Hit(chunk_id, document_id, 1, "Words.", "text", "a.pdf", "", None, 1.0, [], merged=merged)


def passage(*chunk_ids: int, grade: int = 1) -> Target:
    return Target(Reference(grade, document="a.pdf", text=f"{chunk_ids}"), "a.pdf", "", chunk_ids=frozenset(chunk_ids))


def document(*document_ids: int, grade: int = 1) -> Target:
    name = f"{document_ids}.pdf"
    return Target(Reference(grade, document=name), name, "", document_ids=frozenset(document_ids))


def of_corpus(document_id: int, grade: int = 1) -> Target:
    return Target(Reference(grade, passage=str(document_id)), "", "", document_ids=frozenset([document_id]))


def test_right_chunks_get_their_grades_and_others_are_missed() -> None:
    targets = [passage(2, grade=3), passage(9)]
    scored = score([hit(1), hit(2), hit(3)], targets)
    assert scored.marks == [0, 3, 0]
    assert scored.missed == [targets[1]]
    assert scored.figures == Figures.of(["x", "2", "y"], {"2": 3, "9": 1})


def test_the_first_chunk_of_a_passage_counts() -> None:
    scored = score([hit(1), hit(2), hit(3), hit(4)], [passage(2, 4), passage(3)])
    assert scored.marks == [0, 1, 1, None]
    assert scored.figures == Figures.of(["x", "a", "b"], {"a": 1, "b": 1})


def test_a_merged_hit_matches_all_its_passages() -> None:
    scored = score([hit(1), hit(2, merged=(2, 3, 4)), hit(4)], [passage(3, grade=2), passage(4)])
    assert scored.marks == [0, 2, None] and scored.missed == []
    assert scored.figures == Figures.of(["x", "a", "b"], {"a": 2, "b": 1})


def test_hits_of_a_document_count_once_for_document_targets() -> None:
    targets = [document(7)]
    assert is_by_document(targets)
    scored = score([hit(1, 5), hit(2, 5), hit(3, 5), hit(4, 7), hit(5, 7)], targets)
    assert scored.marks == [0, None, None, 1, None]
    assert scored.figures.mrr_10 == 0.5


def test_wrong_chunks_count_individually_for_passage_targets() -> None:
    for target in (passage(4), of_corpus(7)):
        assert not is_by_document([target])
        assert score([hit(1, 5), hit(2, 5), hit(3, 5), hit(4, 7)], [target]).figures.mrr_10 == 0.25


def test_documents_with_the_same_name_are_one_target() -> None:
    scored = score([hit(1, 7), hit(2, 8)], [document(7, 8)])
    assert scored.marks == [1, None]
    assert scored.figures == Figures(1.0, 1.0, 1.0, 1.0)


def test_targets_in_the_same_chunk_are_merged() -> None:
    targets = [passage(2, grade=1), passage(2, grade=2)]
    scored = score([hit(2)], targets)
    assert scored.marks == [2]
    assert scored.missed == []
    assert scored.figures == Figures(1.0, 1.0, 1.0, 1.0)


def test_a_passage_takes_precedence_over_its_document() -> None:
    targets = [document(7, grade=1), passage(4, grade=3)]
    assert not is_by_document(targets)
    assert score([hit(4, 7), hit(5, 7)], targets).marks == [3, 1]


def test_a_merged_hit_matches_several_targets() -> None:
    assert score([hit(1, merged=(1, 2, 3))], [passage(3)]).marks == [1]


def test_only_ten_ranks_count() -> None:
    scored = score([hit(number) for number in range(1, 30)], [passage(11)])
    assert len(scored.marks) == 10
    assert scored.figures == Figures() and len(scored.missed) == 1
    # Ranks are those of documents here: the eleventh hit is of the second document.
    by_document = score([hit(number, 1 if number < 11 else 2) for number in range(1, 30)], [document(2)])
    assert by_document.figures.mrr_10 == 0.5


def test_nothing_found_is_all_missed() -> None:
    assert score([], [passage(1), document(2)]).figures == Figures()
