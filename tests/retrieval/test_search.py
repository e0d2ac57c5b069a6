"""The one entrance: both sides, their votes and their failures."""

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from knowledge.models import Chunk, KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import TimedOut
from retrieval import indexing, spaces
from retrieval.engine import engine
from retrieval.search import Query, SearchFailed, SearchRequest, describe, fuse, retrieve, search
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PASSAGES = [
    "A cat purrs when it is content.",
    "The TL-SE2109 switch has eight gigabit ports.",
    "PostgreSQL keeps statistics about the columns of a table.",
    "狸花猫喜欢晒太阳，也喜欢吃鱼。",
    "数据库索引可以加快查询速度。",
]


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return fill(factories.make_knowledge_base(owner), PASSAGES)


def fill(knowledge_base: KnowledgeBase, passages: list[str]) -> KnowledgeBase:
    document = factories.make_document(knowledge_base)
    for passage in passages:
        factories.make_chunk(document, passage)
    indexing.index_document(document.pk)
    return knowledge_base


def request(base: KnowledgeBase, text: str, **fields: object) -> SearchRequest:
    return SearchRequest((Query(text),), (base.pk,), **fields)  # type: ignore[arg-type]


async def test_both_sides_find_and_are_named(base: KnowledgeBase) -> None:
    result = await search(request(base, "statistics of a table"))
    first = result.hits[0]
    assert first.content == PASSAGES[2]
    assert {source.type for source in first.sources} == {"bm25", "vector"}
    assert first.score == pytest.approx(sum(source.rrf_score for source in first.sources))
    assert result.notes == []


async def test_a_meaning_without_a_common_word_is_found_by_vectors(base: KnowledgeBase) -> None:
    result = await search(request(base, "happy kitten noises"))
    assert result.hits[0].content == PASSAGES[0]
    assert [source.type for source in result.hits[0].sources] == ["vector"]


async def test_chinese_words_are_found_and_an_english_model_has_no_vote(base: KnowledgeBase) -> None:
    result = await search(request(base, "狸花猫吃什么鱼？"))
    assert [hit.content for hit in result.hits] == [PASSAGES[3]]
    (vector,) = [ranking for ranking in result.rankings if ranking.type == "vector"]
    assert not vector.hits and vector.weight == 0
    assert vector.weight == 0
    assert vector.note in result.notes


async def test_vectors_speak_when_no_word_is_known(base: KnowledgeBase) -> None:
    result = await search(request(base, "咖啡拉花"))
    assert result.hits
    assert all(ranking.weight for ranking in result.rankings if ranking.type == "vector")


async def test_other_bases_are_not_searched(base: KnowledgeBase, colleague: User) -> None:
    other = await in_database(
        lambda: fill(factories.make_knowledge_base(colleague), ["The TL-SE2109 switch of a colleague."])
    )
    result = await search(request(base, "TL-SE2109"))
    assert {hit.knowledge_base_id for hit in result.hits} == {base.pk}
    both = SearchRequest((Query("TL-SE2109"),), (base.pk, other.pk), mode="fulltext")
    assert {hit.knowledge_base_id for hit in (await search(both)).hits} == {base.pk, other.pk}
    assert (await search(SearchRequest((Query("TL-SE2109"),), ()))).hits == []


async def test_one_mode_asks_one_side(base: KnowledgeBase) -> None:
    for mode, side in (("vector", "vector"), ("fulltext", "bm25")):
        result = await search(request(base, "gigabit switch", mode=mode, k=1))
        assert [ranking.type for ranking in result.rankings] == [side]
        assert [hit.content for hit in result.hits] == [PASSAGES[1]]


async def test_thresholds_cut_each_side(base: KnowledgeBase) -> None:
    result = await search(request(base, "gigabit switch", vector_threshold=0.99, bm25_threshold=100.0))
    assert result.hits == []


async def test_a_failed_side_leaves_a_note_and_the_others_hits(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise TimedOut

    monkeypatch.setattr(spaces, "embed_query", fail)
    result = await search(request(base, "gigabit switch"))
    assert result.hits[0].content == PASSAGES[1]
    assert len(result.notes) == 1


async def test_without_any_side_the_search_fails(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*args: object) -> None:
        raise OperationalError

    monkeypatch.setattr(engine, "search_words", fail)
    monkeypatch.setattr(engine, "search_meaning", fail)
    with pytest.raises(SearchFailed):
        await search(request(base, "gigabit switch"))


async def test_a_slow_side_is_not_waited_for(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: pytest.MonkeyPatch
) -> None:
    import asyncio

    async def sleep(*args: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(engine, "search_meaning", sleep)
    settings.SEARCH_TIMEOUT = 0.3  # type: ignore[attr-defined]
    result = await search(request(base, "gigabit switch"))
    assert result.hits[0].content == PASSAGES[1]
    assert result.notes


async def test_a_chunk_deleted_meanwhile_is_dropped(base: KnowledgeBase) -> None:
    rankings = await retrieve(request(base, "gigabit switch"))
    fused = fuse(rankings, 10)
    await Chunk.objects.filter(pk=fused[0].chunk_id).adelete()
    assert [hit.chunk_id for hit in await describe(fused)] == [chunk.chunk_id for chunk in fused[1:]]


async def test_several_queries_vote_by_their_weights(base: KnowledgeBase) -> None:
    queries = (Query("gigabit switch", 0.1), Query("statistics of a table"))
    result = await search(SearchRequest(queries, (base.pk,), k=2))
    assert [hit.content for hit in result.hits] == [PASSAGES[2], PASSAGES[1]]
    assert len(result.rankings) == 4
