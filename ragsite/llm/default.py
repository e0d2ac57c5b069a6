"""The model in the settings, and the models of a local Ollama."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import httpx
from django.conf import settings

from ragsite.llm.errors import ModelNotFound
from ragsite.llm.http import host
from ragsite.llm.offers import Kind, kind_of, listed
from ragsite.llm.types import Endpoint
from ragsite.runtime import caches
from ragsite.site_settings.config import config

OLLAMA_TIMEOUT = 0.3
OLLAMA_CACHE_SECONDS = 60.0
_resolved: dict[tuple[str, str], str] = {}
_noticed: tuple[float, list[str]] | None = None


def default_endpoint() -> Endpoint | None:
    """Return the endpoint in the settings, or None if no base URL is set. Its model may be empty."""
    if not settings.LLM_BASE_URL:
        return None
    return Endpoint(
        base_url=settings.LLM_BASE_URL,
        api_key=settings.LLM_API_KEY,
        model=settings.LLM_MODEL,
        connect_timeout=settings.LLM_CONNECT_TIMEOUT,
        idle_timeout=settings.LLM_IDLE_TIMEOUT,
        total_timeout=settings.LLM_TOTAL_TIMEOUT,
        context_window=settings.LLM_CONTEXT_WINDOW,
        max_tokens=config.LLM_MAX_TOKENS,
        temperature=config.LLM_TEMPERATURE,
        concurrency=settings.LLM_CONCURRENCY,
        thinking_field=settings.LLM_THINKING or thinking_field_at(settings.LLM_BASE_URL),
    )


def thinking_field_at(base_url: str) -> str:
    """Return the request field that turns thinking on or off at a known provider; empty for others.

    Ollama ignores it for models that don't think; a server that rejects it is asked again without it.
    """
    address = base_url.lower()
    if any(name in address for name in ("deepseek", "bigmodel")):
        return "thinking"
    if "dashscope" in address:
        return "top_enable_thinking"
    return "reasoning_effort" if "openai.com" in address or ":11434" in address else ""


async def resolve_model(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with a model: its own, or the first chat model that the server offers.

    The choice is kept for the life of the process. Raises `LLMError`; `ModelNotFound` if the server has no models.
    """
    if endpoint.model:
        return endpoint
    key = (endpoint.base_url, endpoint.api_key)
    if key not in _resolved:
        offered = [offer.name for offer in await listed(replace(endpoint, total_timeout=endpoint.idle_timeout))]
        if not offered:
            raise ModelNotFound("The server offers no model.", where=host(endpoint))
        _resolved[key] = next((name for name in offered if kind_of(name) is Kind.CHAT), offered[0])
    return replace(endpoint, model=_resolved[key])


async def notice_ollama(transport: httpx.AsyncBaseTransport | None = None) -> list[str]:
    """Return the chat models of a local Ollama, to be suggested; empty if none responds. They aren't used by default.

    Takes at most 0.3 s; the result is cached for a minute.
    """
    global _noticed
    if _noticed is None or time.monotonic() - _noticed[0] > OLLAMA_CACHE_SECONDS:
        try:
            async with (
                asyncio.timeout(OLLAMA_TIMEOUT),
                httpx.AsyncClient(transport=transport, trust_env=False, verify=False, timeout=OLLAMA_TIMEOUT) as client,
            ):
                response = await client.get(f"{settings.OLLAMA_URL}/api/tags")
                rows: Any = response.raise_for_status().json()["models"]
                found = [name for row in rows if kind_of(name := str(row["name"])) is Kind.CHAT]
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
            found = []
        _noticed = (time.monotonic(), found)
    return _noticed[1]


@caches.register
def forget_found_models() -> None:
    """Forget the models that were found."""
    global _noticed
    _noticed = None
    _resolved.clear()
