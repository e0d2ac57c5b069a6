"""The site's rerankers, named in `settings.RERANKERS` so that retrieval doesn't depend on this module.

An enabled model profile for reranking takes precedence over the `RERANK_*` settings. It names a rerank endpoint, or a
chat model if `RERANK_METHOD` is `llm`.
"""

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from conversations.prompts.endpoints import default_endpoint_for, endpoint_for, profile_endpoint
from conversations.prompts.passages import fenced
from conversations.prompts.templates import get_prompt
from ragsite.db import in_database
from ragsite.language.detection import language_of
from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import NotConfigured
from ragsite.llm.passage_tokens import count_tokens, truncate_to_tokens
from ragsite.llm.reranking.local import local_reranker
from ragsite.llm.reranking.remote import RemoteReranker
from ragsite.llm.reranking.rerank import Reranker, Scores
from ragsite.llm.reranking.scores import parse_scores
from ragsite.llm.types import ChatMessage, Endpoint
from ragsite.site_settings.config import config

# The share of a model's window that a prompt may fill; counts are estimates.
_FILL = 0.95
# Tokens of the tags around a passage.
_TAGS = 16


async def endpoint() -> Reranker:
    """Return the rerank endpoint of the profile, or else of the settings. Raises `NotConfigured` without either."""
    found = None if profile_chats() else await in_database(profile_endpoint, "rerank")
    if found is None and settings.RERANK_BASE_URL:
        found = Endpoint(settings.RERANK_BASE_URL, settings.RERANK_API_KEY, settings.RERANK_MODEL)
    if found is None:
        raise NotConfigured("An administrator can set one with RERANK_BASE_URL.")
    return RemoteReranker(_hurried(found), settings.RERANK_STYLE)


async def local() -> Reranker:
    """Return the cross-encoder that runs in this process."""
    return local_reranker(settings.RERANK_LOCAL_MODEL)


async def language_model() -> Reranker:
    """Return the chat model for reranking: a profile's, or that of the `LLM_*` settings. Raises `NotConfigured`."""
    found = await (endpoint_for("rerank") if profile_chats() else default_endpoint_for("rerank"))
    if found is None:
        raise NotConfigured("An administrator can set one with LLM_BASE_URL.")
    return PromptedReranker(ChatClient(_hurried(found)))


def profile_chats() -> bool:
    """Return whether model profiles for reranking name a chat model rather than a rerank endpoint."""
    return bool(config.RERANK_METHOD == "llm")


class PromptedReranker:
    """A chat model that gets all passages at once, numbered and tagged, and returns their scores as JSON."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    async def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return each text's score from 0 to 1, in the order of the texts; None for those missing in the reply."""
        if not texts:
            return []
        prompt = await in_database(get_prompt, "rerank", language_of(query) or "en")
        taken = sum(map(count_tokens, prompt.fill(question=query, evidence="")))
        endpoint = self._client.endpoint
        reserve = min(endpoint.max_tokens, endpoint.context_window // 2)
        room = (int(endpoint.context_window * _FILL) - reserve - taken) // len(texts)
        passages = [truncate_to_tokens(text, max(room - _TAGS, _TAGS)) for text in texts]
        evidence = "\n\n".join(fenced(number, text) for number, text in enumerate(passages, 1))
        system, user = prompt.fill(question=query, evidence=evidence)
        reply = await self._client.complete([ChatMessage("system", system), ChatMessage("user", user)])
        return parse_scores(reply.text, len(texts))

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.aclose()


def _hurried(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with its time limited to `RERANK_TIMEOUT`, so that it isn't retried in vain."""
    return replace(endpoint, total_timeout=min(endpoint.total_timeout, config.RERANK_TIMEOUT))
