"""An endpoint's models: their kinds and, if the endpoint reports them, their context windows and prices.

Servers agree only on `/models` and its IDs. In addition, vLLM reports `max_model_len`, OpenRouter `context_length` and
`pricing` (per token), Mistral `max_context_length`, llama.cpp `meta.n_ctx`; Together returns a bare list with a `type`;
LiteLLM, DeepSeek, Ollama and OpenAI return only IDs.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from ragsite.llm import http
from ragsite.llm.connection import Connection
from ragsite.llm.errors import BadReply, LLMError, ModelNotFound
from ragsite.llm.types import Endpoint

_MAX_BYTES = 8 * 1024 * 1024
_MILLION = 1_000_000
_WINDOWS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx")
_MARKS = {
    "rerank": ("rerank", "cross-encoder"),
    "embedding": ("embed", "bge-", "gte-", "e5-", "minilm", "jina-clip"),
    "other": ("whisper", "tts", "dall-e", "moderation", "sora", "stable-diffusion", "-image", "transcribe", "realtime"),
}


class Kind(StrEnum):
    """The purpose of a model."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    RERANK = "rerank"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of an endpoint; its context window in tokens and prices per million tokens, None if not reported."""

    name: str
    kind: Kind
    context_window: int | None = None
    input_price: Decimal | None = None
    output_price: Decimal | None = None


async def offers(
    endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[Endpoint, Sequence[Offer]]:
    """Return an endpoint's models, in its order, and the endpoint with the base URL at which its API was found.

    If there is no `/models` below a base URL with a path, `/v1/models` is tried. Raises `LLMError`.
    """
    parts = urlsplit(endpoint.base_url)
    tried = [endpoint]
    if parts.path.strip("/") and not parts.path.rstrip("/").endswith(("/v1", "/completions")):
        path = f"{parts.path.rstrip('/')}/v1"
        tried.append(replace(endpoint, base_url=urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))))
    failed: LLMError | None = None
    for each in tried:
        try:
            return each, await listed(each, transport)
        except (ModelNotFound, BadReply) as error:
            failed = failed or error
    assert failed is not None
    raise failed


async def listed(endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None) -> list[Offer]:
    """Return the models in the list at an endpoint's base URL, in its order. Raises `LLMError`."""
    deadline = asyncio.get_running_loop().time() + endpoint.total_timeout
    connection = Connection(endpoint, transport)
    try:
        async with connection.send("GET", "/models", deadline) as incoming:
            if not incoming.ok:
                raise await incoming.refusal()
            body = await incoming.read(_MAX_BYTES)
    finally:
        await connection.aclose()
    try:
        reply = json.loads(body)
        rows = reply
        if not isinstance(reply, list):
            rows = reply["data"] if "data" in reply else reply["models"]
        if rows is not None and not isinstance(rows, list):
            raise TypeError("not a list")
        found = [_offer(row) for row in rows or []]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadReply("No list of models.", where=http.host(endpoint)) from error
    return list({offer.name: offer for offer in found if offer.name}.values())


def _offer(row: Any) -> Offer:
    if isinstance(row, str):
        return Offer(row.strip(), kind_of(row))
    name = str(row.get("id") or row.get("name") or "").strip()[:200]
    facts = {**(row.get("meta") if isinstance(row.get("meta"), dict) else {}), **row}
    window = next((facts[key] for key in _WINDOWS if isinstance(facts.get(key), int) and facts[key] > 0), None)
    prices = row.get("pricing") if isinstance(row.get("pricing"), dict) else {}
    type_ = str(row.get("type") or "")
    kind = next((kind for kind in (Kind.EMBEDDING, Kind.RERANK, Kind.CHAT) if type_.startswith(kind)), kind_of(name))
    return Offer(name, kind, window, _price(prices.get("prompt")), _price(prices.get("completion")))


def kind_of(name: str) -> Kind:
    """Return the kind of a model according to its name, chat by default."""
    lowered = name.lower()
    return Kind(next((kind for kind, marks in _MARKS.items() if any(mark in lowered for mark in marks)), "chat"))


def _price(of_a_token: Any) -> Decimal | None:
    try:
        price = Decimal(str(of_a_token)) * _MILLION
    except InvalidOperation:
        return None
    return price.quantize(Decimal("0.0001")) if price.is_finite() and 0 <= price < _MILLION else None
