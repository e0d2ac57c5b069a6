"""Reranking: scores, thresholds, order, and failures that lose no hit."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from ragsite.llm.errors import LLMError, RateLimited, Unauthorized
from ragsite.llm.passage_tokens import count_tokens
from ragsite.llm.reranking.rerank import Reranker, Scores
from retrieval.checks import rerankers_are_there
from retrieval.ranking import rerank as reranking
from retrieval.ranking.rerank import RerankOptions, rerank
from retrieval.types import Hit


class Scripted:
    """A reranker with scripted results; `asked` records (query, texts), `closed` counts calls."""

    def __init__(self, scores: Sequence[float | None] | LLMError | None = None) -> None:
        self.scores = scores
        self.asked: list[tuple[str, list[str]]] = []
        self.closed = 0

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        self.asked.append((query, list(texts)))
        if isinstance(self.scores, LLMError):
            raise self.scores
        if self.scores is None:
            await asyncio.sleep(60)
        return list(self.scores or ())[: len(texts)]

    async def aclose(self) -> None:
        self.closed += 1


SCRIPTED: dict[str, Scripted] = {}


async def endpoint() -> Reranker:
    return SCRIPTED["endpoint"]


async def local() -> Reranker:
    return SCRIPTED["local"]


@pytest.fixture(autouse=True)
def scripted(settings: Settings) -> Iterator[dict[str, Scripted]]:
    settings.RERANKERS = {"endpoint": f"{__name__}.endpoint", "local": f"{__name__}.local"}
    SCRIPTED.update(endpoint=Scripted(), local=Scripted())
    yield SCRIPTED
    SCRIPTED.clear()


def hits(count: int) -> list[Hit]:
    """Return hits 1, 2, 3 …, the first one fused best."""
    return [
        Hit(
            chunk_id=number,
            document_id=1,
            knowledge_base_id=1,
            content=f"Passage {number}.",
            kind="text",
            filename="a.txt",
            heading="Chapter",
            page=None,
            score=1 / number,
            sources=[],
        )
        for number in range(1, count + 1)
    ]


def ids(found: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in found]


def options(method: str = "endpoint", **changes: object) -> RerankOptions:
    return RerankOptions.from_name(method, **changes)


async def test_the_best_above_the_threshold_are_kept(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [0.1, 0.9, 0.2, 0.5]
    found = await rerank("question", hits(4), options())
    assert ids(found.hits) == [2, 4, 3]
    assert [hit.rerank_score for hit in found.hits] == [0.9, 0.5, 0.2]
    assert [hit.score for hit in found.hits] == [1 / 2, 1 / 4, 1 / 3]
    assert found.scores == {1: 0.1, 2: 0.9, 3: 0.2, 4: 0.5}
    assert not found.note and found.ms >= 0


async def test_twenty_in_and_five_out(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [0.5] * 19 + [0.9, 1.0, 1.0]
    found = await rerank("question", hits(22), options())
    assert len(scripted["endpoint"].asked[0][1]) == 20
    assert ids(found.hits) == [20, 1, 2, 3, 4]


async def test_unscored_hits_follow_if_none_was_dropped(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [0.1, 0.3, 0.2, 0.4]
    deep = {"input_top_n": 4, "top_k": 6}
    assert ids((await rerank("question", hits(8), options(threshold=0.0, **deep))).hits) == [4, 2, 3, 1, 5, 6]
    assert ids((await rerank("question", hits(8), options(threshold=0.2, **deep))).hits) == [4, 2, 3]


async def test_a_model_sees_heading_and_content_within_its_tokens(
    scripted: dict[str, Scripted], settings: Settings
) -> None:
    settings.RERANK_MAX_TOKENS = 64
    scripted["endpoint"].scores = [0.5] * 4
    await rerank("word " * 100, [*hits(3), replace(hits(1)[0], content="word " * 500)], options())
    query, texts = scripted["endpoint"].asked[0]
    assert count_tokens(query) == 32
    assert texts[0] == "Chapter\nPassage 1."
    assert 20 <= count_tokens(texts[3]) <= 64 - 32


@pytest.mark.parametrize(
    ("count", "query", "method"), [(3, "question", "endpoint"), (4, " ", "endpoint"), (4, "q", "off")]
)
async def test_no_reranker_is_called_needlessly(
    scripted: dict[str, Scripted], count: int, query: str, method: str
) -> None:
    found = await rerank(query, hits(count), options(method))
    assert ids(found.hits) == list(range(1, count + 1))
    assert not found.scores and not found.note and not scripted["endpoint"].asked


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unauthorized("bad key."), "rejected the API key. The original order"),
        (RateLimited(), "is busy"),
        (LLMError("odd", where="10.0.0.7:80"), "rerank endpoint failed. The original order"),
        (None, "took too long"),
    ],
)
async def test_a_failure_keeps_the_order_with_a_note(
    scripted: dict[str, Scripted], error: LLMError | None, words: str
) -> None:
    scripted["endpoint"].scores = error
    found = await rerank("question", hits(12), options(timeout=30 if error else 0.05))
    assert ids(found.hits) == list(range(1, 13))
    assert not found.scores
    assert words in found.note and "The original order was kept." in found.note
    assert scripted["endpoint"].closed == 1


async def test_missing_scores_are_a_failure(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [0.9, 0.8]
    found = await rerank("question", hits(4), options())
    assert ids(found.hits) == [1, 2, 3, 4] and "The original order was kept." in found.note


async def test_an_unresponsive_reranker_is_paused(
    scripted: dict[str, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    await rerank("question", hits(4), options(timeout=0.05))
    scripted["endpoint"].scores = scripted["local"].scores = [0.5, 0.6, 0.7, 0.8]
    found = await rerank("question", hits(4), options())
    assert ids(found.hits) == [1, 2, 3, 4] and "did not answer a moment ago" in found.note
    assert len(scripted["endpoint"].asked) == 1
    assert not (await rerank("question", hits(4), options("local"))).note
    monkeypatch.setitem(reranking._resting, "endpoint", 0.0)
    assert ids((await rerank("question", hits(4), options())).hits) == [4, 3, 2, 1]


async def test_a_refusing_reranker_is_not_paused(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = Unauthorized()
    await rerank("question", hits(4), options())
    scripted["endpoint"].scores = [0.5, 0.6, 0.7, 0.8]
    assert ids((await rerank("question", hits(4), options())).hits) == [4, 3, 2, 1]


async def test_no_hit_reaches_the_threshold(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    found = await rerank("question", hits(25), options(input_top_n=6))
    assert found.hits == [] and len(found.scores) == 6
    assert found.note == "No passage reached the threshold of 0.2."


async def test_keeping_the_best_below_the_threshold(scripted: dict[str, Scripted], settings: Settings) -> None:
    settings.RERANK_KEEP_BEST = True
    scripted["endpoint"].scores = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    found = await rerank("question", hits(6), options())
    assert ids(found.hits) == [6, 5, 4, 3, 2]
    assert "threshold of 0.2; the best ones are kept" in found.note


async def test_unscored_hits_keep_their_order(scripted: dict[str, Scripted]) -> None:
    scripted["endpoint"].scores = [None, 0.3, None, 0.6, 0.1]
    found = await rerank("question", hits(5), options())
    assert ids(found.hits) == [4, 2, 1, 3]
    assert found.scores == {2: 0.3, 4: 0.6, 5: 0.1}


class TestBlend:
    """Blends of several scores."""

    async def test_is_the_weighted_mean_with_the_fused_score(self, scripted: dict[str, Scripted]) -> None:
        scripted["endpoint"].scores = [0.0, 0.2, 0.4, 1.0]
        found = await rerank("question", hits(4), options("blend", blend=(("endpoint", 3.0), ("fused", 1.0))))
        assert found.scores == pytest.approx({1: 0.25, 2: 0.275, 3: 0.3 + 1 / 12, 4: 0.8125})
        assert ids(found.hits) == [4, 3, 2, 1]

    async def test_of_several_rerankers(self, scripted: dict[str, Scripted]) -> None:
        scripted["endpoint"].scores = [1.0, 0.0, 0.5, 0.5]
        scripted["local"].scores = [0.0, 1.0, 0.5, None]
        found = await rerank("question", hits(4), options("blend", blend=(("endpoint", 1.0), ("local", 3.0))))
        assert found.scores == {1: 0.25, 2: 0.75, 3: 0.5, 4: 0.5}

    async def test_one_failing_reranker_is_left_out(self, scripted: dict[str, Scripted]) -> None:
        scripted["endpoint"].scores = None
        scripted["local"].scores = [0.3, 0.6, 0.9, 0.4]
        blend = (("endpoint", 1.0), ("fused", 0.0), ("local", 1.0))
        found = await rerank("question", hits(4), options("blend", blend=blend, timeout=1))
        assert ids(found.hits) == [3, 2, 4, 1]
        assert "rerank endpoint took too long" in found.note and "stays" not in found.note

    async def test_the_fused_order_is_kept_if_all_fail(self, scripted: dict[str, Scripted]) -> None:
        scripted["endpoint"].scores = RateLimited()
        found = await rerank("question", hits(4), options("blend", blend=(("endpoint", 1.0), ("fused", 1.0))))
        assert ids(found.hits) == [1, 2, 3, 4] and not found.scores and "is busy" in found.note


@given(st.lists(st.none() | st.floats(0, 1), min_size=4, max_size=30), st.floats(0, 1), st.integers(1, 40))
def test_hits_are_neither_duplicated_nor_lost(given_scores: list[float | None], threshold: float, top_k: int) -> None:
    SCRIPTED["endpoint"] = Scripted(given_scores)
    found = asyncio.run(rerank("question", hits(len(given_scores)), options(threshold=threshold, top_k=top_k)))
    passing = {n for n, score in enumerate(given_scores, 1) if n > 20 or score is None or score >= threshold}
    assert len(set(ids(found.hits))) == len(found.hits) <= top_k
    if len(passing) == len(given_scores) <= top_k:
        assert set(ids(found.hits)) == passing
    assert bool(found.hits) == any(score is None or score >= threshold for score in given_scores[:20])


class TestOptions:
    """Options for reranking."""

    def test_options_from_the_settings(self, settings: Settings) -> None:
        assert RerankOptions.from_settings() == RerankOptions() and not RerankOptions().weights
        settings.ENABLE_RERANK, settings.RERANK_METHOD, settings.RERANK_TOP_K = True, "local", 7
        chosen = RerankOptions.from_settings()
        assert (chosen.method, chosen.top_k, chosen.input_top_n, chosen.threshold) == ("local", 7, 20, 0.2)
        assert RerankOptions.from_settings(top_k=3).top_k == 3
        assert chosen.weights == {"local": 1.0}

    def test_a_blend_omits_methods_without_weight(self) -> None:
        assert options("blend").weights == {"endpoint": 0.7, "fused": 0.3}
        assert options("blend", blend=(("endpoint", 0.0), ("local", 2.0))).weights == {"local": 2.0}

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(
            ValueError, match=r"'best' is not a method of reranking. Choose one of: off, endpoint, local, llm"
        ):
            options("best")

    def test_options_are_hashable(self) -> None:
        assert hash(options("local")) == hash(options("local")) and options("local") != options("llm")


def test_a_missing_reranker_fails_the_system_check(settings: Settings) -> None:
    assert rerankers_are_there(None)  # the tests' setting has none for `llm`
    settings.RERANKERS["llm"] = settings.RERANKERS["local"]
    assert rerankers_are_there(None) == []
    settings.RERANKERS["llm"] = f"{__name__}.nothing"
    (problem,) = rerankers_are_there(None)
    assert "'llm' can't be imported" in problem.msg


@pytest.mark.parametrize(
    ("name", "value"), [("RERANK_METHOD", "best"), ("RERANK_SCORE_THRESHOLD", "2"), ("RERANK_BLEND", "fused:1")]
)
def test_invalid_settings_fail_at_startup(name: str, value: str) -> None:
    command = [sys.executable, "-c", "import ragsite.settings"]
    done = subprocess.run(command, env=os.environ | {name: value}, capture_output=True, text=True, check=False)
    assert done.returncode and f"ImproperlyConfigured: {name}" in done.stderr
