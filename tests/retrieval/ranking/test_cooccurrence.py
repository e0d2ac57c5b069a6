"""Co-occurrence of words in passages, and the queries that order passages."""

import pytest
from django.contrib.auth.models import User

from ragsite.language.analysis import terms
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from retrieval.models import IndexEntry
from retrieval.ranking import cooccurrence
from retrieval.search import Query, SearchRequest
from tests import factories
from tests.retrieval.test_search import fill

# Each word has its own passage; 开关 and ports are in all of them, power and lamp in one.
PASSAGES = [f"The ports of the 开关 number n{number}." for number in range(30)] + [
    "The ports, the power and the lamp of the 开关.",
    "The ports of the 开关 and its power.",
]


@pytest.fixture
def bases(owner: User) -> list[int]:
    first, second = (factories.make_knowledge_base(owner, name) for name in ("One", "Two"))
    fill(first, PASSAGES)
    fill(second, PASSAGES[-2:])
    return [first.pk, second.pk]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("candidates", [3_000, 5])
@pytest.mark.parametrize("text", ["lamp power ports 开关", "power", "ports 开关", "n3 n4 ports"])
def test_the_best_passages_are_those_of_a_search(
    text: str, candidates: int, bases: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "CANDIDATES", candidates)
    found = [chunk_id for chunk_id, _score in fulltext.search(text, bases, 2)]
    held = IndexEntry.objects.in_bulk(found)
    likely = fulltext.terms_of_top_passages(terms(text), fulltext.frequencies(terms(text), bases), 2)
    assert [sorted(weights.indices()) for weights in likely] == [sorted(held[pk].weights.indices()) for pk in found]


@pytest.mark.django_db(transaction=True)
def test_known_terms_of_each_passage(bases: list[int]) -> None:
    known = fulltext.frequencies(["lamp", "power", "nowhere"], bases[:1])
    assert cooccurrence.held_together("a lamp, power and ports", known) == ({"lamp", "power"}, {"power"})


@pytest.mark.django_db(transaction=True)
def test_unknown_words_are_not_searched(bases: list[int]) -> None:
    assert cooccurrence.held_together("nowhere", fulltext.frequencies(["nowhere"], bases)) == ()
    assert cooccurrence.held_together("lamp", fulltext.frequencies(["lamp"], [])) == ()
    assert cooccurrence.held_together("lamp", Frequencies(9, {"lamp": 1})) == ()


def test_ordering_uses_all_queries_or_another_ranking_query() -> None:
    queries = (Query("ports"), Query("ports of the switch", 0.3))
    assert SearchRequest(queries, (1,)).ordered_by == queries
    assert SearchRequest(queries, (1,), ranking_query="ports of the switch").ordered_by == queries
    assert SearchRequest(queries, (1,), ranking_query="lamps").ordered_by == (Query("lamps"),)
