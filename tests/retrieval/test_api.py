"""`/api/search`: the format that clients rely on, and access."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from knowledge.models import KnowledgeBase
from retrieval.api import views
from retrieval.engine import engine
from retrieval.search import SearchOverloaded
from tests import factories
from tests.ragsite.llm import reading_model

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/api/search"


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner)
    document = factories.make_document(base, "switches.pdf")
    factories.make_chunk(document, "Eight gigabit ports.", heading_path=["Switches", "TL-SE2109"], page_from=3)
    factories.make_chunk(document, "A router, which routes.")
    factories.index_document(document.pk)
    return base


def post(client: Client, **data: object) -> Any:
    return client.post(URL, data, content_type="application/json")


def test_a_search_returns_hits_with_all_scores(base: KnowledgeBase, as_owner: Client) -> None:
    answer = post(as_owner, query="TL-SE2109 ports").json()
    assert answer["query"] == "TL-SE2109 ports"
    assert answer["took_ms"] > 0
    hit = answer["hits"][0]
    assert (hit["filename"], hit["heading"], hit["page"]) == ("switches.pdf", "Switches › TL-SE2109", 3)
    assert hit["content"] == "Eight gigabit ports."
    assert {source["type"] for source in hit["sources"]} == {"bm25", "vector"}
    assert set(hit["sources"][0]) == {"type", "rank", "score", "rrf_score"}
    assert hit["score"] == pytest.approx(sum(source["rrf_score"] for source in hit["sources"]))


def test_mode_and_k_are_used(base: KnowledgeBase, as_owner: Client) -> None:
    answer = post(as_owner, query="gigabit router", mode="fulltext", k=1).json()
    assert len(answer["hits"]) == 1
    assert [source["type"] for source in answer["hits"][0]["sources"]] == ["bm25"]


def test_a_stranger_finds_nothing(base: KnowledgeBase, as_stranger: Client, as_owner: Client) -> None:
    assert post(as_stranger, query="gigabit").json()["hits"] == []
    refused = post(as_stranger, query="gigabit", knowledge_bases=[base.pk])
    assert refused.status_code == 404
    assert post(as_owner, query="gigabit", knowledge_bases=[base.pk]).json()["hits"]
    assert post(as_owner, query="gigabit", knowledge_bases=[]).json()["hits"] == []


def test_single_documents_are_searched(base: KnowledgeBase, as_owner: Client, as_stranger: Client) -> None:
    other = factories.make_document(base, "other.pdf")
    factories.make_chunk(other, "Eight gigabit ports, too.")
    factories.index_document(other.pk)
    hits = post(as_owner, query="gigabit ports", documents=[other.pk]).json()["hits"]
    assert {hit["document_id"] for hit in hits} == {other.pk}
    elsewhere = factories.make_knowledge_base(base.owner)
    within = post(as_owner, query="gigabit", knowledge_bases=[elsewhere.pk], documents=[other.pk])
    assert within.json()["hits"] == []
    assert post(as_owner, query="gigabit", documents=[]).json()["hits"] == []
    refused = post(as_stranger, query="gigabit", documents=[other.pk])
    assert refused.status_code == 404
    assert refused.json()["detail"] == "There is no such document, or it is not shared with you."


def test_a_colleague_searches_what_is_shared(base: KnowledgeBase, colleague: User, as_colleague: Client) -> None:
    assert post(as_colleague, query="gigabit").json()["hits"] == []
    factories.share(base, colleague)
    assert len(post(as_colleague, query="gigabit", mode="fulltext").json()["hits"]) == 1


def test_search_requires_authentication(base: KnowledgeBase, anonymous: Client) -> None:
    assert post(anonymous, query="gigabit").status_code == 401


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"query": "  "},
        {"query": "x" * 10_000},
        {"query": "x", "mode": "magic"},
        {"query": "x", "k": 0},
        {"query": "x", "k": "many"},
        {"query": "x", "k": "5"},
        {"query": "x", "k": True},
        {"query": 5},
        {"query": "x", "knowledge_bases": ["1"]},
        {"query": "x", "knowledge_bases": {}},
        {"query": "x", "vector_weight": 10**400},
        {"query": "x", "merge_neighbours": 0},
        {"query": "x", "mode": ["hybrid"]},
        {"query": "x", "knowledge_bases": "all"},
        {"query": "x", "knowledge_bases": ["one"]},
        {"query": "nul\0"},
        {"query": "x", "vector_threshold": 20},
        {"query": "x", "vector_threshold": "near"},
        {"query": "x", "bm25_threshold": -1},
        {"query": "x", "bm25_threshold": "nan"},
        {"query": "x", "bm25_threshold": "inf"},
        {"query": "x", "vector_weight": -0.1},
        {"query": "x", "rrf_constant": 0},
        {"query": "x", "reorder": "perhaps"},
        {"query": "x", "reader": "perhaps"},
        {"query": "x", "rerank": "magic"},
        {"query": "x", "merge_neighbours": "perhaps"},
        {"query": "x", "per_document": 0},
    ],
)
@pytest.mark.django_db
def test_invalid_input_is_400(as_owner: Client, data: dict[str, object]) -> None:
    answer = post(as_owner, **data)
    assert answer.status_code == 400
    assert {"detail", "code"} <= set(answer.json())


def test_search_options_are_used(base: KnowledgeBase, as_owner: Client) -> None:
    def found(**data: object) -> list[dict[str, Any]]:
        return list(post(as_owner, query="gigabit router", **data).json()["hits"])

    assert len(found()) == 2
    assert found(bm25_threshold=1000, vector_threshold=9) == []
    hits = found(bm25_threshold=1000)
    assert hits and all(source["type"] == "vector" for hit in hits for source in hit["sources"])
    assert len(found(per_document=1)) == 1
    (first, _second) = found(mode="fulltext", rrf_constant=60, reorder=False)
    assert first["score"] == pytest.approx(1 / 61)
    assert {source["type"] for hit in found(vector_weight=0) for source in hit["sources"]} == {"bm25"}
    assert found(mode=None) == found(mode="hybrid")
    assert found(vector_threshold=None, per_document=None, reorder=None) == found()


def test_the_mode_is_the_sites_unless_given(base: KnowledgeBase, as_owner: Client, settings: Settings) -> None:
    def types(**data: object) -> set[str]:
        hits = post(as_owner, query="gigabit router", **data).json()["hits"]
        return {source["type"] for hit in hits for source in hit["sources"]}

    settings.SEARCH_MODE = "words"
    assert (types(), types(mode="vector"), types(mode="hybrid")) == ({"bm25"}, {"vector"}, {"bm25", "vector"})


def test_passages_are_read_when_asked(
    base: KnowledgeBase, as_owner: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.READER_MODEL = str(reading_model.write(tmp_path, {"router": 4.0}))
    settings.READER_TIMEOUT = 60

    def readings(**data: object) -> dict[str, Any]:
        hits = post(as_owner, query="gigabit router", **data).json()["hits"]
        return {hit["content"]: hit["reading"] for hit in hits}

    assert set(readings().values()) == set(readings(reader=False).values()) == {None}
    read = readings(reader=True)
    found = read["A router, which routes."]
    assert (found["rank"], found["start"], found["end"]) == (8.0, 0, 23)  # it mentions the question's router too
    assert read["Eight gigabit ports."]["start"] is None
    settings.ENABLE_READER = True
    assert readings() == readings(reader=None) == read


def test_adjacent_passages_are_merged_when_asked(base: KnowledgeBase, owner: User, as_owner: Client) -> None:
    document = factories.make_document(base, "cables.pdf")
    for content in ("Fibre is light.", "Copper is heavy."):
        factories.make_chunk(document, content)
    factories.index_document(document.pk)
    (joined,) = post(as_owner, query="fibre copper", mode="fulltext", merge_neighbours=True).json()["hits"]
    assert joined["content"] == "Fibre is light.\n\nCopper is heavy."
    assert len(joined["merged"]) == 2 and joined["chunk_id"] in joined["merged"]


def test_too_many_searches_are_503_with_retry_after(
    base: KnowledgeBase, as_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(request: object) -> None:
        raise SearchOverloaded("Too many searches are running.")

    monkeypatch.setattr(views, "search", busy)
    answer = post(as_owner, query="gigabit")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer.json() == {"detail": "Too many searches are running.", "code": "search_overloaded"}


def test_search_is_unavailable_if_all_retrievers_fail(
    base: KnowledgeBase, as_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(engine, "search_fulltext", fail)
    monkeypatch.setattr(engine, "search_vectors", fail)
    answer = post(as_owner, query="gigabit")
    assert answer.status_code == 503
    assert answer.json()["code"] == "search_unavailable"
