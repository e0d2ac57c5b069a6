"""Lists of models in the formats of several servers."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from ragsite.llm.errors import BadReply, ModelNotFound, Unauthorized
from ragsite.llm.offers import Kind, Offer, kind_of, listed, offers
from ragsite.llm.types import Endpoint
from tests.fakes.provider import FakeProvider


def answering(body: Any, status: int = 200, at: str = "/v1/models") -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path != at:
            return httpx.Response(404, json={"error": "no such path"})
        return (
            httpx.Response(status, json=body) if not isinstance(body, bytes) else httpx.Response(status, content=body)
        )

    return httpx.MockTransport(answer)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"data": [{"id": "gpt-4o-mini", "owned_by": "openai"}]}, Offer("gpt-4o-mini", Kind.CHAT)),
        ({"data": [{"id": "qwen3", "max_model_len": 32768}]}, Offer("qwen3", Kind.CHAT, 32768)),
        ({"data": [{"id": "m", "max_context_length": 8192}]}, Offer("m", Kind.CHAT, 8192)),
        ({"data": [{"id": "m.gguf", "meta": {"n_ctx": 4096}}]}, Offer("m.gguf", Kind.CHAT, 4096)),
        ([{"id": "BAAI/any", "type": "embedding"}], Offer("BAAI/any", Kind.EMBEDDING)),
        (
            {"data": [{"id": "a/b", "context_length": 9, "pricing": {"prompt": "0.0000005", "completion": 2e-6}}]},
            Offer("a/b", Kind.CHAT, 9, Decimal("0.5000"), Decimal("2.0000")),
        ),
        ({"data": [{"id": "free", "pricing": {"prompt": "-1", "completion": None}}]}, Offer("free", Kind.CHAT)),
        ({"models": ["llama3"]}, Offer("llama3", Kind.CHAT)),
    ],
)  # fmt: skip
async def test_lists_of_several_servers_are_read(body: Any, expected: Offer) -> None:
    _endpoint, found = await offers(Endpoint("https://api.example.org/v1"), answering(body))
    assert list(found) == [expected]


async def test_models_come_in_the_order_of_the_list(provider: FakeProvider) -> None:
    provider.models = ["b", "a"]
    assert [offer.name for offer in await listed(Endpoint(provider.base_url))] == ["b", "a"]


async def test_no_models_are_no_error() -> None:
    assert (await offers(Endpoint("http://10.0.0.8:11434"), answering({"object": "list", "data": None})))[1] == []


async def test_v1_is_found_below_a_path() -> None:
    transport = answering({"data": [{"id": "m"}]}, at="/gateway/v1/models")
    endpoint, found = await offers(Endpoint("https://example.org/gateway"), transport)
    assert endpoint.base_url == "https://example.org/gateway/v1" and found[0].name == "m"


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"error": "who are you?"}, 401, Unauthorized),
        ({"error": "not here"}, 404, ModelNotFound),
        (b"<html>Welcome</html>", 200, BadReply),
        ({"data": "none"}, 200, BadReply),
    ],
)
async def test_what_is_no_list_is_an_error(body: Any, status: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        await offers(Endpoint("https://example.org/v1"), answering(body, status))


def test_kinds_are_recognised_by_names() -> None:
    names = {"text-embedding-3-small": "embedding", "bge-reranker-v2-m3": "rerank", "whisper-1": "other", "o4": "chat"}
    assert {name: str(kind_of(name)) for name in names} == names
