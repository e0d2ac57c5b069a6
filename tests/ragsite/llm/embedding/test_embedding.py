"""Embedders: the bundled model in this process, and endpoints."""

import json
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from ragsite.llm import http
from ragsite.llm.embedding import embedding, local
from ragsite.llm.embedding import remote as remote_embedding
from ragsite.llm.embedding.embedding import EmbeddingModel, LocalEmbedder, OpenAIEmbedder, get_embedder
from ragsite.llm.errors import (
    BadReply,
    ModelNotFound,
    NotConfigured,
    ProviderError,
    RateLimited,
    TimedOut,
    Unauthorized,
)
from ragsite.llm.types import Endpoint
from tests.fakes.embeddings import Manner
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.usefixtures("model_itself")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def bundled() -> LocalEmbedder:
    return LocalEmbedder()


class TestLocal:
    """The bundled model."""

    def test_describes_itself_before_it_is_loaded(self) -> None:
        fresh = LocalEmbedder()
        assert (fresh.provider, fresh.model, fresh.dimension) == ("local", "bundled", 384)
        assert {"en", "zh"} < set(fresh.languages)
        assert fresh._loaded is None

    def test_shapes_and_lengths(self, bundled: LocalEmbedder) -> None:
        documents = bundled.embed_documents(["A text.", "检索", "word " * 3000, "", "\x00"])
        assert documents.shape == (5, 384)
        assert documents.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(documents, axis=1), 1, atol=1e-5)
        query = bundled.embed_query("A text.")
        assert query.shape == (384,)
        assert query.dtype == np.float32
        assert bundled.embed_documents([]).shape == (0, 384)

    def test_near_meanings_are_near(self, bundled: LocalEmbedder) -> None:
        near, foreign, far = bundled.embed_documents(
            ["CREATE INDEX builds an index on a table.", "CREATE INDEX 为表建立索引。", "The weather is nice today."]
        )
        query = bundled.embed_query("How do I make an index?")
        similar = [
            bundled.calibration.similarity(float(query @ vector), "en", language)
            for vector, language in ((near, "en"), (foreign, "zh"), (far, "en"))
        ]
        assert min(similar[:2]) > 0.7
        assert similar[2] < 0.4

    def test_order_survives_the_sorting_by_length(self, bundled: LocalEmbedder) -> None:
        texts = [f"Topic {number}: " + f"word{number} " * (number * 7 % 60) for number in range(40)]
        together = bundled.embed_documents(texts)
        for index in (0, 1, 19, 39):
            alone = bundled.embed_query(texts[index])
            # Dynamic quantisation lets the neighbours in a batch move a vector by a little.
            assert together[index] @ alone > 0.97
            assert np.argmax(together @ alone) == index

    def test_256_tokens_count_and_no_more(self, bundled: LocalEmbedder) -> None:
        begin = "An index on a table. " * 60
        whole, cut = bundled.embed_query(begin + "The weather is nice. " * 50), bundled.embed_query(begin)
        assert whole @ cut > 0.9999

    def test_threads(self, bundled: LocalEmbedder) -> None:
        with ThreadPoolExecutor(4) as pool:
            vectors = list(pool.map(bundled.embed_query, ["the same"] * 12))
        for vector in vectors:
            np.testing.assert_allclose(vector, vectors[0], atol=1e-6)

    def test_a_folder_is_as_good_as_the_bundled_one(self, bundled: LocalEmbedder, settings: Settings) -> None:
        folder = LocalEmbedder(str(settings.BUNDLED_MODEL_DIR))
        np.testing.assert_allclose(folder.embed_query("Hello"), bundled.embed_query("Hello"), atol=1e-6)

    @pytest.mark.parametrize("model", ["no/such-model", "/no/such/folder", "./nothing"])
    def test_what_is_not_there(self, model: str) -> None:
        with pytest.raises(ModelNotFound):
            LocalEmbedder(model)

    def test_a_folder_without_a_model(self, tmp_path: Path) -> None:
        with pytest.raises(ModelNotFound, match="hidden_size"):
            LocalEmbedder(str(tmp_path))
        (tmp_path / "config.json").write_text('{"hidden_size": 8}')
        for content in (None, b"", b"not a model"):
            if content is not None:
                (tmp_path / "model.onnx").write_bytes(content)
            with pytest.raises(ModelNotFound, match="can't be loaded"):
                LocalEmbedder(str(tmp_path)).embed_query("x")
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text("not JSON")
        with pytest.raises(ModelNotFound, match="can't be loaded"):
            LocalEmbedder(str(tmp_path)).embed_query("x")

    @pytest.mark.parametrize(
        ("model", "languages"),
        [
            ("BAAI/bge-small-en-v1.5", ["en"]),
            ("BAAI/bge-small-zh-v1.5", ["zh"]),
            ("jinaai/jina-embeddings-v2-base-zh", ["en", "zh"]),
            ("intfloat/multilingual-e5-large", []),
        ],
    )
    def test_languages_by_name(self, model: str, languages: list[str]) -> None:
        assert local.languages_of(model) == languages

    def test_families_get_their_prefixes(self) -> None:
        embedder = LocalEmbedder("intfloat/multilingual-e5-large")
        assert (embedder._query_prefix, embedder._document_prefix) == ("query: ", "passage: ")
        assert embedder.dimension == 1024


@given(st.lists(st.integers(1, 256), max_size=200))
def test_batches(lengths: list[int]) -> None:
    batches = list(local.batches(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= local.MAX_BATCH_TEXTS
        assert max(lengths[index] for index in batch) * len(batch) <= local.MAX_BATCH_TOKENS


Reply = Callable[[dict[str, Any]], httpx.Response]


def remote(reply: Reply, **options: Any) -> OpenAIEmbedder:
    def handle(request: httpx.Request) -> httpx.Response:
        return reply(json.loads(request.content))

    endpoint = Endpoint("http://fake.invalid/v1", "my-key", "embedder")
    return OpenAIEmbedder(endpoint, transport=httpx.MockTransport(handle), pause=0.001, **options)


def rows(*vectors: Any) -> httpx.Response:
    return httpx.Response(
        200, json={"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}
    )


class TestOpenAI:
    """An endpoint's embeddings."""

    @pytest.fixture
    def embedder(self, provider: FakeProvider) -> Iterator[OpenAIEmbedder]:
        embedder = OpenAIEmbedder(Endpoint(provider.base_url, "my-key", "embedder"), pause=0.001)
        yield embedder
        embedder.close()

    def test_certificates_are_read_once_for_all_and_always_checked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        secure, plain = Endpoint("https://fake.invalid/v1"), Endpoint("http://fake.invalid/v1")
        certificates = http.verify(secure)
        monkeypatch.setattr(ssl, "create_default_context", pytest.fail)
        for endpoint, verify in ((secure, ssl.CERT_REQUIRED), (plain, ssl.CERT_NONE)):
            embedder = OpenAIEmbedder(endpoint)
            used: ssl.SSLContext = embedder._client._transport._pool._ssl_context  # type: ignore[attr-defined]
            assert used.verify_mode is verify and (used is certificates) is (endpoint is secure)
            embedder.close()

    def test_over_a_socket_in_batches(self, provider: FakeProvider, embedder: OpenAIEmbedder) -> None:
        # The fake answers in reverse: the index fields tell the order.
        texts = [f"word{number}" for number in range(150)]
        vectors = embedder.embed_documents(texts)
        assert vectors.shape == (150, 32)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query("word77"), vectors[77], atol=1e-6)
        assert [len(request["input"]) for request in provider.requests[:4]] == [1, 64, 64, 22]
        assert provider.requests[0]["model"] == "embedder"
        assert provider.headers[0]["Authorization"] == "Bearer my-key"

    def test_tried_again_with_back_off(self, provider: FakeProvider, embedder: OpenAIEmbedder) -> None:
        provider.fail(503)
        provider.fail(429, headers={"Retry-After": "0"})
        assert embedder.dimension == 32
        assert len(provider.requests) == 3

    def test_given_up(self, provider: FakeProvider, embedder: OpenAIEmbedder) -> None:
        for _ in range(5):
            provider.fail(500)
        with pytest.raises(ProviderError):
            embedder.embed_query("x")
        assert len(provider.requests) == 4

    def test_a_refused_key_is_not_tried_again(self, provider: FakeProvider, embedder: OpenAIEmbedder) -> None:
        provider.fail(401, {"error": {"message": "bad key my-key"}})
        with pytest.raises(Unauthorized) as caught:
            embedder.embed_query("x")
        assert "my-key" not in str(caught.value)
        assert len(provider.requests) == 1

    @pytest.mark.parametrize(
        "response",
        [
            rows([1.0, 0.0]),
            rows([1.0, 0.0], [1.0]),
            rows([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
            rows([1.0, 0.0], [None, 0.0]),
            rows([1.0, 0.0], "abc"),
            rows([], []),
            httpx.Response(200, json={"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}),
            httpx.Response(200, json={"data": None}),
            httpx.Response(200, json=[]),
            httpx.Response(200, content=b"<html>"),
        ],
    )
    def test_replies_that_do_not_fit(self, response: httpx.Response) -> None:
        with pytest.raises(BadReply):
            remote(lambda _: response, dimension=2).embed_documents(["a", "b"])

    @pytest.mark.parametrize(
        "manner", ["same index", "one less", "another dimension", "unequal", "no numbers", "garbage"]
    )
    def test_a_server_that_answers_badly(
        self, provider: FakeProvider, embedder: OpenAIEmbedder, manner: Manner
    ) -> None:
        assert embedder.dimension == 32
        provider.embeddings.manner = manner
        with pytest.raises(BadReply, match=r"didn't return the requested vectors\..* \[127\.0\.0\.1:"):
            embedder.embed_documents(["a", "b"])

    def test_a_person_does_not_wait_long_for_a_busy_server(
        self, provider: FakeProvider, embedder: OpenAIEmbedder
    ) -> None:
        assert embedder.dimension == 32
        provider.fail(429, headers={"Retry-After": "30"})
        with pytest.raises(RateLimited, match="embedding endpoint is busy"):
            embedder.embed_query("x")
        assert len(provider.requests) == 2

    def test_a_person_does_not_wait_for_a_silent_server_again_and_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [0.0]
        clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: None)
        monkeypatch.setattr(remote_embedding, "time", clock)

        def wait_in_vain(request: httpx.Request) -> httpx.Response:
            now[0] += 60
            raise httpx.ReadTimeout("nothing came", request=request)

        endpoint = Endpoint("http://embedder.test/v1", model="embedder")
        embedder = OpenAIEmbedder(endpoint, dimension=32, transport=httpx.MockTransport(wait_in_vain))
        with pytest.raises(TimedOut):
            embedder.embed_query("x")
        assert now == [60]
        with pytest.raises(TimedOut):
            embedder.embed_documents(["x"])
        assert now == [60 + 3 * 60]

    def test_a_worker_waits_as_long_as_a_busy_server_asks(
        self, provider: FakeProvider, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited: list[float] = []
        monkeypatch.setattr(remote_embedding, "time", SimpleNamespace(monotonic=time.monotonic, sleep=waited.append))
        assert embedder.dimension == 32
        provider.fail(429, headers={"Retry-After": "30"})
        assert embedder.embed_documents(["x"]).shape == (1, 32)
        assert waited == [30]

    def test_a_dimension_is_asked_for(self, provider: FakeProvider) -> None:
        embedder = OpenAIEmbedder(Endpoint(provider.base_url, model="embedder"), dimension=8)
        assert embedder.embed_query("x").shape == (8,)
        assert provider.requests[0]["dimensions"] == 8
        embedder.close()

    def test_a_server_that_cannot_choose_the_dimension(self, provider: FakeProvider) -> None:
        provider.refused_fields["dimensions"] = "This model does not support specifying dimensions."
        embedder = OpenAIEmbedder(Endpoint(provider.base_url, model="embedder"), dimension=32)
        assert embedder.embed_query("x").shape == (32,)
        assert embedder.embed_query("y").shape == (32,)
        assert ["dimensions" in body for body in provider.requests] == [True, False, False]
        embedder.close()
        other = OpenAIEmbedder(Endpoint(provider.base_url, model="embedder"), dimension=16)
        with pytest.raises(BadReply, match="32 numbers per vector instead of 16"):
            other.embed_query("x")
        other.close()

    def test_requests_are_bounded_in_characters(
        self, provider: FakeProvider, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ragsite.llm.embedding.remote.BATCH_CHARACTERS", 100)
        assert embedder.embed_documents(["x" * 60, "y" * 30, "z" * 60]).shape == (3, 32)
        assert [len(body["input"]) for body in provider.requests] == [1, 2, 1]

    def test_empty_and_long_texts_are_made_acceptable(self) -> None:
        seen: list[str] = []

        def reply(body: dict[str, Any]) -> httpx.Response:
            seen.extend(body["input"])
            return rows(*[[1.0, 0.0]] * len(body["input"]))

        assert remote(reply, dimension=2).embed_documents(["", "word " * 10_000]).shape == (2, 2)
        assert seen[0] == " "
        assert len(seen[1].split()) == 6000


class TestGetEmbedder:
    """One embedder per model."""

    def test_is_kept(self) -> None:
        assert get_embedder() is get_embedder(EmbeddingModel("local", "bundled"))
        assert get_embedder() is get_embedder(EmbeddingModel("local", "bundled", languages=("zh",)))

    def test_one_only_for_many_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedding, "_embedders", {})
        with ThreadPoolExecutor(8) as pool:
            assert len({id(embedder) for embedder in pool.map(lambda _: get_embedder(), range(16))}) == 1

    @pytest.mark.parametrize(("base_url", "model"), [("", "text-embedding-3-small"), ("http://fake.invalid/v1", "")])
    def test_an_endpoint_takes_address_and_model(self, base_url: str, model: str) -> None:
        with pytest.raises(NotConfigured, match="EMBEDDING_BASE_URL and EMBEDDING_MODEL"):
            get_embedder(EmbeddingModel("openai", model, base_url))

    def test_the_endpoint_of_the_settings(self, settings: Settings, provider: FakeProvider) -> None:
        settings.EMBEDDING_PROVIDER = "openai"
        settings.EMBEDDING_BASE_URL, settings.EMBEDDING_API_KEY = provider.base_url, "my-key"
        settings.EMBEDDING_MODEL = "some-embedder"
        embedder = get_embedder()
        assert (embedder.provider, embedder.model, embedder.dimension) == ("openai", "some-embedder", 32)
        assert provider.headers[0]["Authorization"] == "Bearer my-key"
        assert "my-key" not in repr(embedding.configured())

    def test_a_local_model_has_the_dimension_that_it_has(self) -> None:
        assert get_embedder(EmbeddingModel("local", "bundled", dimension=384)).dimension == 384
        with pytest.raises(NotConfigured, match="The dimension is set to 256, but that of 'bundled' is 384"):
            get_embedder(EmbeddingModel("local", "bundled", dimension=256))

    def test_languages_of_an_endpoints_model(self) -> None:
        known = {"bge-large-zh-v1.5": ["zh"], "bge-base-en-v1.5": ["en"], "text-embedding-3-small": [], "bge-m3": []}
        for model, languages in known.items():
            assert get_embedder(EmbeddingModel("openai", model, "http://fake.invalid/v1")).languages == languages

    def test_unknown_provider(self) -> None:
        with pytest.raises(ValueError, match="local or openai"):
            get_embedder(EmbeddingModel("elsewhere", "x"))
