"""The entry point to search: both retrievers, their weights and failures."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import QuerySet
from pytest_django import Settings

from knowledge import services
from knowledge.labels import LabelFilter
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import TimedOut
from ragsite.site_settings.config import config
from retrieval import search as entrance
from retrieval.engine import engine, spaces, vectors
from retrieval.models import EmbeddingSpace
from retrieval.ranking.neighbours import LONGEST_RUN
from retrieval.ranking.rerank import Reranked
from retrieval.search import (
    Hit,
    Query,
    SearchFailed,
    SearchOverloaded,
    SearchRequest,
    SearchResult,
    describe,
    fuse,
    retrieve,
    search,
    select_hits,
)
from tests import factories
from tests.ragsite.llm import reading_model

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
    factories.make_chunks(document, passages)
    factories.index_document(document.pk)
    return knowledge_base


def request(base: KnowledgeBase, text: str, **fields: object) -> SearchRequest:
    return SearchRequest((Query(text),), (base.pk,), **fields)  # type: ignore[arg-type]


async def test_both_retrievers_find_hits(base: KnowledgeBase) -> None:
    result = await search(request(base, "statistics of a table"))
    first = result.hits[0]
    assert first.content == PASSAGES[2]
    assert {source.type for source in first.sources} == {"bm25", "vector"}
    assert first.score == pytest.approx(sum(source.rrf_score for source in first.sources))
    assert result.notes == []


async def test_vectors_find_passages_without_common_words(base: KnowledgeBase) -> None:
    result = await search(request(base, "happy kitten noises"))
    assert result.hits[0].content == PASSAGES[0]
    assert [source.type for source in result.hits[0].sources] == ["vector"]


async def test_an_english_model_has_no_weight_for_chinese(base: KnowledgeBase) -> None:
    await speaks_english_only()
    result = await search(request(base, "狸花猫吃什么鱼？"))
    assert [hit.content for hit in result.hits] == [PASSAGES[3]]
    (vector,) = [ranking for ranking in result.rankings if ranking.type == "vector"]
    assert not vector.hits and vector.weight == 0
    assert vector.weight == 0
    assert vector.note in result.notes


async def test_a_question_finds_passages_in_another_language(owner: User) -> None:
    english = ["Staff have 25 days of annual leave.", "The canteen is open at noon.", "Visitors sign in at the gate."]
    chinese = ["仓库每晚十点锁门。", "打印机的墨盒在二楼领取。", "会议室需要提前一天预订。"]

    def written() -> KnowledgeBase:
        both = factories.make_knowledge_base(owner)
        for language, passages in (("en", english), ("zh", chinese)):
            document = factories.make_document(both, f"{language}.txt", language=language)
            factories.make_chunks(document, passages)
            factories.index_document(document.pk)
        return both

    both = await in_database(written)
    assert (await search(request(both, "员工每年有几天年假？"))).hits[0].content == english[0]
    assert (await search(request(both, "How early must I reserve a room for a meeting?"))).hits[0].content == chinese[2]
    (vectors,) = [each for each in await retrieve(request(both, "员工每年有几天年假？")) if each.type == "vector"]
    similarities = [similarity for _chunk_id, similarity in vectors.hits]
    assert len(similarities) == 6 and similarities == sorted(similarities, reverse=True)
    # Passages in the question's language have higher cosines, but don't crowd it out of a short list.
    few = request(both, "员工每年有几天年假？", k=2, retriever_top_k=2, mode="vector")
    assert (await search(few)).hits[0].content == english[0]


async def test_vectors_are_used_if_no_word_is_found(base: KnowledgeBase) -> None:
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


async def test_each_mode_uses_its_retrievers(base: KnowledgeBase) -> None:
    for mode, side in (("vector", "vector"), ("fulltext", "bm25")):
        result = await search(request(base, "gigabit switch", mode=mode, k=1))
        assert [ranking.type for ranking in result.rankings] == [side]
        assert [hit.content for hit in result.hits] == [PASSAGES[1]]


async def test_thresholds_apply_to_each_retriever(base: KnowledgeBase) -> None:
    result = await search(request(base, "gigabit switch", vector_threshold=5.0, bm25_threshold=100.0))
    assert result.hits == []


async def test_a_failed_retriever_leaves_a_note(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise TimedOut

    monkeypatch.setattr(spaces, "embed_query", fail)
    result = await search(request(base, "gigabit switch"))
    assert result.hits[0].content == PASSAGES[1]
    assert len(result.notes) == 1


async def test_a_hanging_embedding_model_blocks_nothing_else(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(spaces, "embed_query", lambda space, text: go_on.wait(60))
    await in_database(spaces.active_space)
    searches = [asyncio.create_task(engine.search_vectors("cat", (base.pk,), 5)) for _ in range(40)]
    try:
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
            assert await asyncio.to_thread(str, "done") == "done"
    finally:
        for search_ in searches:
            search_.cancel()
        go_on.set()


async def test_the_search_fails_if_all_retrievers_fail(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*args: object) -> None:
        raise OperationalError

    monkeypatch.setattr(engine, "search_fulltext", fail)
    monkeypatch.setattr(engine, "search_vectors", fail)
    with pytest.raises(SearchFailed):
        await search(request(base, "gigabit switch"))


@pytest.mark.parametrize(("late", "other"), [("search_vectors", "bm25"), ("search_fulltext", "vector")])
async def test_a_slow_retriever_times_out(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: pytest.MonkeyPatch, late: str, other: str
) -> None:
    async def sleep(*args: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(engine, late, sleep)
    settings.SEARCH_TIMEOUT = 2.5  # type: ignore[attr-defined]
    result = await search(request(base, "gigabit switch"))
    assert result.hits[0].content == PASSAGES[1]
    assert {source.type for hit in result.hits for source in hit.sources} == {other}
    assert len(result.notes) == 1 and result.incomplete


async def test_a_chunk_deleted_meanwhile_is_dropped(base: KnowledgeBase) -> None:
    rankings = await retrieve(request(base, "gigabit switch"))
    fused = fuse(rankings, 10)
    await Chunk.objects.filter(pk=fused[0].chunk_id).adelete()
    assert [hit.chunk_id for hit in await describe(fused)] == [chunk.chunk_id for chunk in fused[1:]]


async def test_several_queries_count_by_their_weights(base: KnowledgeBase) -> None:
    queries = (Query("gigabit switch", 0.1), Query("statistics of a table"))
    result = await search(SearchRequest(queries, (base.pk,), k=2, reorder=False))
    assert [hit.content for hit in result.hits] == [PASSAGES[2], PASSAGES[1]]
    assert len(result.rankings) == 4


async def test_each_stage_records_its_hits(base: KnowledgeBase) -> None:
    result = await search(request(base, "gigabit switch", k=2, merge_neighbours=True, per_document=1))
    assert [stage.name for stage in result.stages] == ["fuse", "describe", "reorder", "neighbours", "documents"]
    for stage in result.stages[:3]:
        scores = [score for _chunk_id, score in stage.hits]
        assert scores == sorted(scores, reverse=True)
    assert len(result.hits) == 1  # all passages are from one document
    assert result.hits[0].content == "\n\n".join(PASSAGES[:LONGEST_RUN])
    plain = await search(request(base, "gigabit switch", reorder=False))
    assert [stage.name for stage in plain.stages] == ["fuse", "describe"]


def test_no_more_hits_are_taken_than_leave_k() -> None:
    def chosen(k: int, **fields: Any) -> list[tuple[int, ...]]:
        asked = SearchRequest((Query("q"),), (1,), k, **fields)
        return [found.merged or (found.chunk_id,) for found in select_hits(asked, hits)[0]]

    hits = [passage(place) for place in (11, 12, 18, 15, 19, 27)]  # of documents 1 and 2
    assert chosen(2) == [(11,), (12,)]
    assert chosen(2, merge_neighbours=True) == [(11, 12), (18,)]
    assert chosen(3, merge_neighbours=True) == [(11, 12), (18,), (15,)]
    assert chosen(4, merge_neighbours=True) == [(11, 12), (18, 19), (15,), (27,)]
    assert chosen(2, merge_neighbours=True, per_document=1) == [(11, 12), (27,)]
    assert chosen(3, per_document=2) == [(11,), (12,), (27,)]
    assert chosen(9, per_document=1) == [(11,), (27,)]


def passage(place: int) -> Hit:
    return Hit(place, place // 10, 1, f"Passage {place}.", "text", "a.txt", "Ports", 1, 1.0, [], ordinal=place % 10)


async def test_only_the_first_hits_are_reordered(base: KnowledgeBase, settings: pytest.MonkeyPatch) -> None:
    text, ranking_query = "cat content gigabit", "gigabit ports"
    settings.REORDER_TOP_N = 2  # type: ignore[attr-defined]
    before = await search(request(base, text, reorder=False))
    after = await search(request(base, text, reorder=True, ranking_query=ranking_query))
    ids = [hit.chunk_id for hit in before.hits]
    assert before.hits[0].content == PASSAGES[0] and after.hits[0].content == PASSAGES[1]
    assert [hit.chunk_id for hit in after.hits] == [ids[1], ids[0], *ids[2:]]
    settings.ENABLE_REORDER = False  # type: ignore[attr-defined]
    assert [hit.chunk_id for hit in (await search(request(base, text, ranking_query=ranking_query))).hits] == ids


@pytest.fixture
def reader(tmp_path: Path, settings: pytest.MonkeyPatch) -> Path:
    """A reader that is on and prefers tables."""
    folder = reading_model.write(tmp_path, {"table": 9.0}, calibration={"blend": 9})
    settings.READER_MODEL, settings.ENABLE_READER, settings.READER_TIMEOUT = str(folder), True, 60  # type: ignore[attr-defined]
    return folder


async def test_the_first_hits_are_read_after_reordering(
    base: KnowledgeBase, reader: Path, settings: pytest.MonkeyPatch
) -> None:
    before = await search(request(base, "gigabit switch ports", read=False))
    result = await search(request(base, "gigabit switch ports"))
    assert [stage.name for stage in result.stages] == ["fuse", "describe", "reorder", "reader"]
    assert before.hits[0].content == PASSAGES[1] and result.hits[0].content == PASSAGES[2]
    first = result.hits[0].reading
    assert first is not None and first.rank == 9.0 and first.end == len(PASSAGES[2])
    assert {hit.chunk_id: hit.worth for hit in result.hits} == dict(result.stages[2].hits)
    stage = result.stages[-1]
    assert [chunk_id for chunk_id, _score in stage.hits] == [hit.chunk_id for hit in result.hits]
    assert [score for _chunk_id, score in stage.hits] == sorted((score for _id, score in stage.hits), reverse=True)
    settings.READER_PASSAGES = 1  # type: ignore[attr-defined]
    one = await search(request(base, "gigabit switch ports", k=3))
    assert [hit.chunk_id for hit in one.hits] == [hit.chunk_id for hit in before.hits][:3]
    assert [hit.reading is not None for hit in one.hits] == [True, False, False]
    assert len(one.stages[-1].hits) == 1
    settings.READER_PASSAGES = 50  # type: ignore[attr-defined]
    assert entrance.pool_size(request(base, "gigabit switch ports")) == 50
    assert entrance.pool_size(request(base, "gigabit switch ports", read=False)) == 20


async def test_statements_are_not_read(base: KnowledgeBase, reader: Path, settings: pytest.MonkeyPatch) -> None:
    async def stages(text: str, **fields: object) -> list[str]:
        return [stage.name for stage in (await search(request(base, text, **fields))).stages]

    assert "reader" in await stages("Which switch has eight gigabit ports?")
    assert "reader" not in await stages("The switch has had eight gigabit ports since the first year.")
    assert "reader" in await stages("The switch has had eight ports since the year.", ranking_query="Ports?")
    settings.ENABLE_READER = False  # type: ignore[attr-defined]
    assert "reader" not in await stages("Which switch has eight gigabit ports?")
    assert "reader" in await stages("Which switch has eight gigabit ports?", read=True)
    settings.READER_MODEL = "off"  # type: ignore[attr-defined]
    assert "reader" not in await stages("Which switch has gigabit ports?", read=True)


async def test_a_reader_timeout_leaves_a_note_and_is_not_cached(
    base: KnowledgeBase, reader: Path, settings: pytest.MonkeyPatch
) -> None:
    settings.READER_TIMEOUT = 0  # type: ignore[attr-defined]
    result = await search(request(base, "gigabit switch ports"))
    assert result.hits[0].content == PASSAGES[1] and result.hits[0].reading is None
    assert result.notes == ["The passages were not read: the reader took too long."]
    settings.READER_TIMEOUT = 60  # type: ignore[attr-defined]
    result = await search(request(base, "gigabit switch ports"))
    assert result.notes == [] and result.hits[0].reading is not None and not result.cached


async def test_a_reranker_runs_after_the_reader(
    base: KnowledgeBase, reader: Path, settings: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def backwards(query: str, hits: list[Hit], options: object) -> Reranked:
        judged = [replace(hit, rerank_score=place / 10) for place, hit in enumerate(hits)][::-1]
        return Reranked(judged, {hit.chunk_id: hit.rerank_score or 0.0 for hit in judged})

    read = await search(request(base, "gigabit switch ports"))
    monkeypatch.setattr(entrance, "rerank", backwards)
    result = await search(replace(request(base, "gigabit switch ports"), fresh=True))
    assert [hit.chunk_id for hit in result.hits] == [hit.chunk_id for hit in read.hits][::-1]
    assert all(hit.reading is not None for hit in result.hits)


async def test_the_weight_of_vectors_is_taken_from_the_request(base: KnowledgeBase) -> None:
    def vote(result: SearchResult) -> float:
        (vector,) = [ranking for ranking in result.rankings if ranking.type == "vector"]
        return vector.weight

    assert vote(await search(request(base, "gigabit switch"))) == config.VECTOR_WEIGHT
    assert vote(await search(request(base, "gigabit switch", vector_weight=0.5))) == 0.5
    assert vote(await search(request(base, "gigabit switch", vector_weight=0.5, mode="vector"))) == 1.0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The retrievers as they are run, and `model` when a query is embedded."""
    ran: list[str] = []
    for module, name, called in (
        (engine, "search_fulltext", "bm25"), (engine, "search_vectors", "vector"), (spaces, "embed_query", "model"),
    ):  # fmt: skip
        original = getattr(module, name)

        def recorded(*args: Any, original: Any = original, called: str = called) -> Any:
            ran.append(called)
            return original(*args)

        monkeypatch.setattr(module, name, recorded)
    return ran


@pytest.mark.parametrize(
    ("site", "fields", "wanted"),
    [
        ("hybrid", {}, {"bm25", "vector", "model"}),
        ("words", {}, {"bm25"}),
        ("meaning", {}, {"vector", "model"}),
        ("words", {"mode": "hybrid"}, {"bm25", "vector", "model"}),  # the request comes first
        ("meaning", {"mode": "fulltext"}, {"bm25"}),
        ("hybrid", {"vector_weight": 0.0}, {"bm25"}),
        ("meaning", {"vector_weight": 0.0}, {"vector", "model"}),
    ],
)
async def test_only_the_retrievers_of_the_mode_are_run(
    base: KnowledgeBase, settings: Settings, asked: list[str], site: str, fields: dict[str, Any], wanted: set[str]
) -> None:
    settings.SEARCH_MODE = site
    result = await search(request(base, "gigabit switch", fresh=True, **fields))
    assert set(asked) == wanted and len(asked) == len(wanted)
    assert {source.type for hit in result.hits for source in hit.sources} == wanted - {"model"}
    assert result.hits[0].content == PASSAGES[1] and result.notes == []


async def test_a_search_by_words_that_finds_nothing_is_not_repeated(base: KnowledgeBase, asked: list[str]) -> None:
    assert (await search(request(base, "zebra", mode="fulltext", fresh=True))).hits == []
    assert asked == ["bm25"]


async def test_unknown_languages_use_vectors_only_as_a_last_resort(
    base: KnowledgeBase,
) -> None:
    async def vectors(*texts: str) -> list[tuple[bool, bool]]:
        asked = replace(request(base, texts[0]), queries=tuple(map(Query, texts)), fresh=True)
        found = [ranking for ranking in (await search(asked)).rankings if ranking.type == "vector"]
        return [(bool(ranking.hits), ranking.weight > 0) for ranking in found]

    assert await vectors("蒙娜丽莎", "gigabit switch") == [(True, True), (True, True)]
    await speaks_english_only()
    assert await vectors("蒙娜丽莎") == [(True, True)]
    assert await vectors("蒙娜丽莎", "月亮") == [(True, True), (True, True)]
    assert await vectors("蒙娜丽莎", "gigabit switch") == [(False, False), (True, True)]


async def speaks_english_only() -> None:
    await EmbeddingSpace.objects.filter(active=True).aupdate(languages=["en"])
    spaces.forget_active_space()


async def test_the_constant_of_the_fusion_is_taken_from_the_request(base: KnowledgeBase) -> None:
    for constant in (1, 60):
        result = await search(request(base, "gigabit switch", mode="fulltext", rrf_constant=constant))
        assert result.hits[0].score == pytest.approx(1 / (constant + 1))


@pytest.mark.parametrize(("place", "part"), [(entrance, "index_state"), (QuerySet, "in_bulk")])
async def test_an_unresponsive_database_is_reported(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, place: object, part: str
) -> None:
    def fail(*args: object) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    monkeypatch.setattr(place, part, fail)
    with pytest.raises(SearchFailed, match="database"):
        await search(request(base, "gigabit switch"))


async def test_searches_wait_or_are_refused(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: pytest.MonkeyPatch
) -> None:
    settings.SEARCH_CONCURRENCY, settings.SEARCH_QUEUE = 1, 1  # type: ignore[attr-defined]
    go_on, search_fulltext = asyncio.Event(), engine.search_fulltext

    async def wait(*args: Any) -> Any:
        await go_on.wait()
        return await search_fulltext(*args)

    monkeypatch.setattr(engine, "search_fulltext", wait)
    asked = [asyncio.create_task(search(request(base, text, mode="fulltext"))) for text in ("gigabit", "switch", "cat")]
    (sent_away,), others = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    assert isinstance(sent_away.exception(), SearchOverloaded)
    go_on.set()
    assert all(result.hits for result in await asyncio.gather(*others))


@pytest.mark.parametrize("mode", ["fulltext", "vector", "hybrid"])
@pytest.mark.parametrize("exact_rows", [20_000, 0])
def test_a_search_can_be_limited_by_tags_and_fields(
    owner: User, mode: str, exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "EXACT_ROWS", exact_rows)
    monkeypatch.setattr(vectors, "GRAPH_COST", 40 if exact_rows else 1e-9)
    base = factories.make_knowledge_base(owner)
    for number in range(12):
        labels = {"tags": ["red"] if number % 3 == 0 else ["blue"], "metadata": {"year": 2020 + number}}
        folder = "" if number < 9 else "southern"
        if number in (9, 10):
            folder = f"south/{number}"
        document = factories.make_document(base, f"{number}.txt", folder=folder, **labels)
        factories.make_chunk(document, f"The harbour has {number} cranes.")
        factories.index_document(document.pk)

    def found(tags: list[str], metadata: object, folder: str = "") -> list[str]:
        wanted = request(base, "cranes of the harbour", mode=mode, labels=LabelFilter.read(tags, metadata, folder))
        return sorted(hit.filename for hit in asyncio.run(search(wanted)).hits)

    assert found(["red"], None) == ["0.txt", "3.txt", "6.txt", "9.txt"]
    assert found(["red"], {"year": {"gt": 2023}}) == ["6.txt", "9.txt"]
    assert found([], {"year": 2025}) == ["5.txt"]
    assert found(["green"], None) == []
    assert found([], None, "south/") == ["10.txt", "9.txt"]
    assert found(["red"], None, "south/9") == ["9.txt"]
    # Cached results are outdated once a tag has changed.
    services.label(Document.objects.get(original_filename="0.txt"), ["green"], {})
    assert found(["green"], None) == ["0.txt"]
    assert found(["red"], None) == ["3.txt", "6.txt", "9.txt"]
