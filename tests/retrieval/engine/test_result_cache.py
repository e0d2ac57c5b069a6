"""The result cache: identical searches run once, and never return results of an outdated index."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from knowledge.models import Document, KnowledgeBase
from ragsite.db import in_database
from retrieval.engine import engine, index, indexing, result_cache
from retrieval.engine.result_cache import ResultCache, answered_once, index_state
from retrieval.search import Query, Ranking, SearchFailed, SearchRequest, SearchResult, Stage, rankings_of, search
from tests import factories

STATE = (("size", 1, 0, "700"),)


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    result_cache.results.clear()
    yield
    result_cache.results.clear()


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner)
    add(base, "The switch has eight gigabit ports.")
    return base


def add(base: KnowledgeBase, passage: str) -> Document:
    document = factories.make_document(base)
    factories.make_chunk(document, passage)
    factories.index_document(document.pk)
    return document


def request(text: str = "gigabit ports", base: int = 1, **fields: Any) -> SearchRequest:
    return SearchRequest((Query(text),), (base,), **fields)


def result(hits: int = 0, **fields: Any) -> SearchResult:
    return SearchResult([None] * hits, [], 1.0, [], **fields)  # type: ignore[list-item]


async def nothing(request: SearchRequest) -> SearchResult:
    return result()


def key(text: str) -> result_cache.Key:
    return nothing, request(text), "en", STATE


class Work:
    """Counts its calls, and takes as long as configured."""

    def __init__(self, outcome: SearchResult | Exception) -> None:
        self.outcome, self.times, self.go_on = outcome, 0, asyncio.Event()
        self.go_on.set()

    async def __call__(self, request: SearchRequest) -> SearchResult:
        self.times += 1
        await self.go_on.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


# --- Cached results -------------------------------------------------------------------------------


async def test_a_second_search_uses_the_cached_result() -> None:
    work = Work(result())
    assert not (await answered_once(request(), STATE, work)).cached
    assert (await answered_once(request(), STATE, work)).cached
    assert work.times == 1


@pytest.mark.parametrize(
    "other",
    [
        request("other"),
        request(base=2),
        request(k=3),
        request(mode="fulltext"),
        request(reorder=False),
        request(bm25_threshold=1.0),
        request(vector_weight=0.5),
        request(merge_neighbours=True),
        request(ranking_query="ports"),
    ],
)
async def test_another_request_is_another_search(other: SearchRequest) -> None:
    work = Work(result())
    await answered_once(request(), STATE, work)
    await answered_once(other, STATE, work)
    assert work.times == 2


async def test_another_state_or_language_is_another_search() -> None:
    work = Work(result())
    await answered_once(request(), STATE, work)
    await answered_once(request(), (("size", 1, 0, "701"),), work)
    with override("zh-hans"):
        await answered_once(request(), STATE, work)
    assert work.times == 3


async def test_results_are_cached_per_function() -> None:
    sides, whole = Work(result()), Work(result(hits=3))
    assert len((await answered_once(request(), STATE, sides)).hits) == 0
    assert len((await answered_once(request(), STATE, whole)).hits) == 3
    assert (await answered_once(request(), STATE, sides)).cached and whole.times == 1


def test_rankings_count_towards_the_limit(settings: Any) -> None:
    settings.SEARCH_CACHE_HITS = 20
    cache, ranking = ResultCache(), Ranking("bm25", Query("ports"), 1.0, [(number, 1.0) for number in range(50)], 1.0)
    for name in "abcdef":
        cache.put(key(name), SearchResult([], [ranking, ranking], 1.0, []))
    assert len(cache) == 1  # 100 ids are worth ten hits


async def test_incomplete_results_are_not_cached() -> None:
    work = Work(result(stages=[Stage("rerank", 1.0, [], "The reranker failed.")]))
    for _ in range(2):
        assert not (await answered_once(request(), STATE, work)).cached
    assert work.times == 2


async def test_results_expire(settings: Any) -> None:
    settings.SEARCH_CACHE_SECONDS = 0.0
    work = Work(result())
    for _ in range(2):
        await asyncio.sleep(0.001)
        await answered_once(request(), STATE, work)
    assert work.times == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=40))
def test_the_cache_drops_the_least_recently_used(puts: list[tuple[int, int]]) -> None:
    cache = ResultCache()
    limit = 50
    with override_settings(SEARCH_CACHE_HITS=limit):
        for name, hits in puts:
            cache.put(key(str(name)), result(hits))
            assert cache.get(key(str(name))) is not None
            kept = [found for n in range(10) if (found := cache.get(key(str(n))))]
            assert len(cache) == len(kept)
            assert sum(1 + len(found.hits) for found in kept) <= limit


# --- Simultaneous searches ------------------------------------------------------------------------


async def test_simultaneous_identical_searches_run_once() -> None:
    work = Work(result())
    work.go_on.clear()
    waiting = [asyncio.create_task(answered_once(request(), STATE, work)) for _ in range(5)]
    await asyncio.sleep(0.01)
    work.go_on.set()
    await asyncio.gather(*waiting)
    assert work.times == 1


async def test_cancelling_one_caller_keeps_the_search() -> None:
    work = Work(result())
    work.go_on.clear()
    first, second = (asyncio.create_task(answered_once(request(), STATE, work)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.sleep(0.01)
    work.go_on.set()
    assert await second == result()
    assert first.cancelled() and work.times == 1


async def test_a_failure_reaches_all_callers_and_is_not_cached() -> None:
    work = Work(SearchFailed("down"))
    outcomes = await asyncio.gather(*(answered_once(request(), STATE, work) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [SearchFailed] * 3
    work.outcome = result()
    assert await answered_once(request(), STATE, work) == result()
    assert work.times == 2


# --- The state of the index -----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_each_write_changes_only_its_bases_state(base: KnowledgeBase, owner: User) -> None:
    other = factories.make_knowledge_base(owner)
    add(other, "Cables.")
    untouched = index_state([other.pk])
    states = [index_state([base.pk])]
    document = factories.make_document(base)
    factories.make_chunk(document, "A router.")
    indexing.index_words(document.pk)
    states.append(index_state([base.pk]))
    factories.index_document(document.pk)
    states.append(index_state([base.pk]))
    index.delete([document.pk])
    states.append(index_state([base.pk]))
    assert len(set(states)) == 4
    assert index_state([base.pk]) == states[-1]
    assert index_state([other.pk]) == untouched
    assert index_state([base.pk, other.pk]) != index_state([base.pk])


@pytest.mark.django_db(transaction=True)
async def test_a_search_sees_additions_and_deletions(base: KnowledgeBase) -> None:
    asked = request(base=base.pk)
    first = await search(asked)
    assert [hit.content for hit in (await search(asked)).hits] == [hit.content for hit in first.hits]
    assert (await search(asked)).cached
    added = await in_database(add, base, "Sixteen gigabit ports.")
    assert len((await search(asked)).hits) == 2
    await in_database(lambda: added.delete())
    found = await search(asked)
    assert not found.cached and [hit.content for hit in found.hits] == [hit.content for hit in first.hits]


@pytest.mark.django_db(transaction=True)
async def test_rankings_are_cached_separately(base: KnowledgeBase) -> None:
    asked = request(base=base.pk)
    whole, first = await search(asked), await rankings_of(asked)
    assert not first.cached and first.hits == []
    assert [ranking.hits for ranking in first.rankings] == [ranking.hits for ranking in whole.rankings]
    assert (await rankings_of(asked)).cached
    await in_database(add, base, "Sixteen gigabit ports.")
    again = await rankings_of(asked)
    assert not again.cached and len(again.rankings[1].hits) == 2
    assert not (await rankings_of(replace(asked, fresh=True))).cached


@pytest.mark.django_db(transaction=True)
async def test_a_fresh_search_bypasses_the_cache(base: KnowledgeBase) -> None:
    await search(request(base=base.pk))
    assert not (await search(request(base=base.pk, fresh=True))).cached
    assert (await search(request(base=base.pk))).cached


@pytest.mark.django_db(transaction=True)
async def test_a_search_with_a_failed_retriever_is_not_cached(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object) -> None:
        raise TimeoutError

    with monkeypatch.context() as patch:
        patch.setattr(engine, "search_vectors", fail)
        assert (await search(request(base=base.pk))).notes
    whole = await search(request(base=base.pk))
    assert not whole.cached and not whole.notes


@pytest.mark.django_db(transaction=True)
async def test_cached_results_equal_fresh_ones(base: KnowledgeBase) -> None:
    chance, words, there = random.Random(5), ("gigabit", "ports", "router", "cable"), list[Document]()

    def write() -> None:
        if there and chance.random() < 0.4:
            there.pop(chance.randrange(len(there))).delete()
        else:
            there.append(factories.make_document(base))
            factories.make_chunk(there[-1], " ".join(chance.choices(words, k=3)))
            indexing.index_words(there[-1].pk)

    kept = 0
    for _ in range(60):
        if chance.random() < 0.3:
            await in_database(write)
        asked = request(chance.choice(words), base=base.pk, mode="fulltext")
        found, fresh = await search(asked), await search(replace(asked, fresh=True))
        assert found.hits == fresh.hits
        kept += found.cached
    assert kept > 5
