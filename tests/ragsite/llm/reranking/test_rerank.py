"""Rerank endpoints in their three formats, over a real socket, and their failures."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.errors import (
    BadReply,
    BadRequest,
    ContextTooLong,
    ModelNotFound,
    ProviderError,
    RateLimited,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from ragsite.llm.reranking.remote import RemoteReranker, address
from ragsite.llm.reranking.rerank import logistic, to_unit
from ragsite.llm.types import Endpoint
from tests.fakes.rerank import FakeReranker, Rows

QUERY = "reset the switch"
TEXTS = ["Lunch is at noon.", "To reset the switch, hold the button.", "The switch has ports."]
SCORES = [0.0, 1.0, 0.6667]

Make = Callable[..., RemoteReranker]


@pytest.fixture
def server() -> Iterator[FakeReranker]:
    with FakeReranker() as fake:
        yield fake


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Clients of a fake endpoint; options are those of `Endpoint`."""
    async with AsyncExitStack() as stack:

        def client(server: FakeReranker, style: str = "auto", path: str = "", **options: Any) -> RemoteReranker:
            defaults: dict[str, Any] = {"api_key": "my-key", "model": "judge", "total_timeout": 5}
            endpoint = Endpoint(server.root_url + path, **defaults | options)
            reranker = RemoteReranker(endpoint, style, pause=0.001)
            stack.push_async_callback(reranker.aclose)
            return reranker

        yield client


class TestShapes:
    """What each style sends, where, and how its reply is read."""

    @pytest.mark.parametrize(
        ("style", "base", "path"),
        [
            ("jina", "", "/v1/rerank"),
            ("jina", "/v1", "/v1/rerank"),
            ("cohere", "", "/v2/rerank"),
            ("cohere", "/v1", "/v1/rerank"),
            ("cohere", "/v2/rerank", "/v2/rerank"),
            ("tei", "", "/rerank"),
        ],
    )
    async def test_scores_in_the_order_of_the_texts(self, make: Make, style: str, base: str, path: str) -> None:
        with FakeReranker(style) as server:
            assert await make(server, style, base).score(QUERY, TEXTS) == SCORES
            assert server.paths == [path]
            assert server.headers[0]["Authorization"] == "Bearer my-key"

    async def test_what_jina_is_sent(self, server: FakeReranker, make: Make) -> None:
        await make(server, "jina").score(QUERY, TEXTS)
        assert server.requests == [
            {"model": "judge", "query": QUERY, "documents": TEXTS, "top_n": 3, "return_documents": False}
        ]

    async def test_what_cohere_is_sent(self, make: Make) -> None:
        with FakeReranker("cohere") as server:
            await make(server, "cohere").score(QUERY, TEXTS)
            assert server.requests == [{"model": "judge", "query": QUERY, "documents": TEXTS, "top_n": 3}]

    async def test_what_tei_is_sent(self, make: Make) -> None:
        with FakeReranker("tei") as server:
            await make(server, "tei").score(QUERY, TEXTS)
            assert server.requests == [{"query": QUERY, "texts": TEXTS, "raw_scores": False, "truncate": True}]

    async def test_batches_keep_the_order(self, make: Make) -> None:
        texts = [f"{'switch ' * (number % 3 == 0)}number {number}" for number in range(70)]
        with FakeReranker("tei") as server:
            scores = await make(server, "tei").score("switch", texts)
            assert scores == [float(number % 3 == 0) for number in range(70)]
            assert [len(request["texts"]) for request in server.requests] == [32, 32, 6]

    async def test_a_batch_that_is_too_large_is_halved(self, make: Make) -> None:
        texts = [*TEXTS, *TEXTS, *TEXTS]
        with FakeReranker("tei", limit=4) as server:
            assert await make(server, "tei").score(QUERY, texts) == SCORES * 3
            assert [len(request["texts"]) for request in server.requests] == [9, 4, 5, 2, 3]

    async def test_a_single_text_that_is_too_long_raises_an_error(self, make: Make) -> None:
        with FakeReranker("tei", limit=0) as server, pytest.raises(ContextTooLong):
            await make(server, "tei").score(QUERY, TEXTS)

    async def test_nothing_to_score_asks_nothing(self, server: FakeReranker, make: Make) -> None:
        assert await make(server).score(QUERY, []) == []
        assert server.requests == []

    async def test_an_empty_text_is_made_acceptable(self, server: FakeReranker, make: Make) -> None:
        assert await make(server, "jina").score(QUERY, ["", "the switch"]) == [0.0, 0.6667]
        assert server.requests[0]["documents"][0] == " "


class TestAuto:
    """Finding out what an endpoint speaks."""

    @pytest.mark.parametrize(("style", "asked"), [("jina", ["/v1/rerank"]), ("tei", ["/v1/rerank", "/rerank"])])
    async def test_is_found_out_once(self, make: Make, style: str, asked: list[str]) -> None:
        with FakeReranker(style) as server:
            assert await make(server).score(QUERY, TEXTS) == SCORES
            assert await make(server).score(QUERY, TEXTS) == SCORES
            assert server.paths == [*asked, asked[-1]]

    async def test_one_path_for_two_shapes(self, make: Make) -> None:
        # TEI behind a whole address refuses Jina's fields, and is then asked in its own.
        with FakeReranker("tei") as server:
            assert await make(server, path="/rerank").score(QUERY, TEXTS) == SCORES
            assert ["texts" in request for request in server.requests] == [False, True]

    async def test_the_second_version_is_coheres(self, make: Make) -> None:
        with FakeReranker("cohere") as server:
            assert await make(server, path="/v2").score(QUERY, TEXTS) == SCORES
            assert server.paths == ["/v2/rerank"]

    def test_coheres_own_host_is_known(self) -> None:
        endpoint = Endpoint("https://api.cohere.com")
        (style,) = RemoteReranker(endpoint)._styles()
        assert address(endpoint, style) == "https://api.cohere.com/v2/rerank"

    async def test_where_nothing_is_understood_the_first_refusal_counts(self, make: Make) -> None:
        with FakeReranker() as server:
            server.fail(400, body={"error": {"message": "documents may not be empty"}})
            with pytest.raises(BadRequest, match="documents may not be empty"):
                await make(server).score(QUERY, TEXTS)
            assert server.paths == ["/v1/rerank", "/rerank"]

    async def test_a_server_that_changed_is_found_out_again(self, server: FakeReranker, make: Make) -> None:
        client = make(server)
        await client.score(QUERY, TEXTS)
        server.style = "tei"
        with pytest.raises(ModelNotFound):
            await client.score(QUERY, TEXTS)
        assert await client.score(QUERY, TEXTS) == SCORES


def double(rows: Rows) -> Rows:
    return [*rows, rows[0]]


def lacking(rows: Rows) -> Rows:
    return rows[:-1]


def beyond(rows: Rows) -> Rows:
    return [*rows[:-1], rows[-1] | {"index": 3}]


def negative(rows: Rows) -> Rows:
    return [*rows[:-1], rows[-1] | {"index": -1}]


def worded(rows: Rows) -> Rows:
    return [*rows[:-1], rows[-1] | {"index": "0"}]


def without_score(rows: Rows) -> Rows:
    return [{"index": row["index"]} for row in rows]


def not_a_number(rows: Rows) -> Rows:
    return [row | {"relevance_score": float("nan")} for row in rows]


def huge(rows: Rows) -> Rows:
    return [row | {"relevance_score": 10**400} for row in rows]


def true(rows: Rows) -> Rows:
    return [row | {"relevance_score": True} for row in rows]


class TestFailures:
    """What an endpoint may do wrong, and what is made of it."""

    async def test_order_does_not_matter(self, server: FakeReranker, make: Make) -> None:
        server.change(lambda rows: sorted(rows, key=lambda row: row["relevance_score"]))
        assert await make(server, "jina").score(QUERY, TEXTS) == SCORES

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (double, "passage 1 twice"),
            (lacking, "2 of 3 passages; passage 0 is missing"),
            (beyond, "passage 3 of 3"),
            (negative, "passage -1 of 3"),
            (worded, "the index 0"),
            (without_score, "lacks its index or its score"),
            (not_a_number, "the score nan"),
            (huge, "the score 1000"),
            (true, "the score True"),
        ],
    )
    async def test_results_that_do_not_fit(
        self, server: FakeReranker, make: Make, change: Callable[[Rows], Rows], words: str
    ) -> None:
        server.change(change)
        with pytest.raises(BadReply, match=words):
            await make(server, "jina").score(QUERY, TEXTS)
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "body", [b"", b"<html>", b"{}", b'"text"', b"[1, 2, 3]", b'{"results": {}}', b"[" * 100_000, b"\xff\xfe"]
    )
    async def test_garbage(self, server: FakeReranker, make: Make, body: bytes) -> None:
        server.garbage(body)
        with pytest.raises(BadReply):
            await make(server, "jina").score(QUERY, TEXTS)

    async def test_an_error_in_a_reply_of_status_200(self, server: FakeReranker, make: Make) -> None:
        server.garbage(b'{"error": {"code": 401, "message": "bad key my-key"}}')
        with pytest.raises(Unauthorized) as caught:
            await make(server, "jina").score(QUERY, TEXTS)
        assert "my-key" not in str(caught.value)

    async def test_tried_again_with_back_off(self, server: FakeReranker, make: Make) -> None:
        server.fail(503)
        server.fail(429, {"Retry-After": "0"})
        assert await make(server, "jina").score(QUERY, TEXTS) == SCORES
        assert len(server.requests) == 3

    async def test_given_up(self, server: FakeReranker, make: Make) -> None:
        for _ in range(4):
            server.fail(500)
        with pytest.raises(ProviderError):
            await make(server, "jina").score(QUERY, TEXTS)
        assert len(server.requests) == 3

    async def test_retry_after_is_kept_to(self, server: FakeReranker, make: Make) -> None:
        server.fail(429, {"Retry-After": "0.3"})
        began = asyncio.get_running_loop().time()
        await make(server, "jina").score(QUERY, TEXTS)
        assert asyncio.get_running_loop().time() - began >= 0.3

    async def test_who_is_told_to_wait_too_long_does_not(self, server: FakeReranker, make: Make) -> None:
        server.fail(429, {"Retry-After": "30"})
        with pytest.raises(RateLimited):
            await make(server, "jina").score(QUERY, TEXTS)
        assert len(server.requests) == 1

    async def test_a_refused_key_is_not_tried_again(self, server: FakeReranker, make: Make) -> None:
        server.fail(401)
        with pytest.raises(Unauthorized):
            await make(server).score(QUERY, TEXTS)
        assert len(server.requests) == 1

    async def test_silence(self, server: FakeReranker, make: Make) -> None:
        server.silence()
        with pytest.raises(TimedOut):
            await make(server, "jina", total_timeout=2).score(QUERY, TEXTS)
        assert len(server.requests) == 1

    async def test_nobody_there(self, make: Make) -> None:
        with FakeReranker() as gone:
            client = make(gone)
        with pytest.raises(Unreachable):
            await client.score(QUERY, TEXTS)

    async def test_an_address_that_is_none(self) -> None:
        with pytest.raises(Unreachable):
            await RemoteReranker(Endpoint("nowhere")).score(QUERY, TEXTS)


@given(st.binary(max_size=200))
def test_no_reply_raises_anything_but_words(body: bytes) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body))

    async def ask() -> None:
        client = RemoteReranker(Endpoint("http://fake.invalid", model="judge"), "jina", transport)
        with suppress(BadReply):
            assert len(await client.score(QUERY, TEXTS)) == 3

    asyncio.run(ask())


class TestUnit:
    """Scores from 0 to 1, of probabilities and of logits."""

    def test_probabilities_stay(self) -> None:
        assert to_unit([0.0, 0.25, 1.0]) == [0.0, 0.25, 1.0]
        assert to_unit([-1e-7, 1.0000001]) == [0.0, 1.0]

    def test_logits_go_through_the_logistic_function(self) -> None:
        assert to_unit([7.74, 0.0, -11.0]) == pytest.approx([0.99956, 0.5, 0.0000167], abs=1e-5)

    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
    def test_any_numbers_keep_their_order(self, values: list[float]) -> None:
        found = to_unit(values)
        assert all(0 <= value <= 1 for value in found)
        ordered = [value for _, value in sorted(zip(values, found, strict=True))]
        assert ordered == sorted(ordered)

    def test_logistic(self) -> None:
        assert logistic(0) == 0.5
        assert logistic(1e300) == 1.0 and logistic(-1e300) == 0.0


async def test_llama_cpps_logits_become_scores() -> None:
    reply = json.dumps({"results": [{"index": 0, "relevance_score": 7.7}, {"index": 1, "relevance_score": -2.3}]})
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=reply))
    client = RemoteReranker(Endpoint("http://fake.invalid", model="judge"), "jina", transport)
    assert await client.score("pasta", ["food", "bread"]) == pytest.approx([0.99955, 0.09112], abs=1e-5)
