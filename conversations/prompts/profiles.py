"""Model profiles: their endpoints, the reply settings of purposes, and a short test of a profile."""

import asyncio
import time
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext as _

from conversations.models import ModelProfile
from ragsite.llm import secrets
from ragsite.llm.embedding.embedding import EmbeddingModel, OpenAIEmbedder
from ragsite.llm.errors import LLMError
from ragsite.llm.types import ChatMessage, Endpoint
from ragsite.site_settings.config import config
from retrieval.models import EmbeddingSpace

# Seconds that an administrator waits for the result of a test.
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the endpoint answered, and a message for the administrator."""

    works: bool
    message: str


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """The temperature for a purpose, and the most tokens of a reply; None means as many as the model may write."""

    temperature: float
    max_tokens: int | None = None


# Without a profile. Replies that are parsed, or that are a single line, don't need to be long.
REPLY_SETTINGS: dict[str, ReplySettings] = {
    "understand": ReplySettings(0.3, 1024),
    "rewrite": ReplySettings(0.3, 50),
    "split": ReplySettings(0.0, 512),
    "missing": ReplySettings(0.0, 512),
    "chat": ReplySettings(0.7),
    "clarify": ReplySettings(0.3, 512),
    "rerank": ReplySettings(0.0),
    "filter": ReplySettings(0.0, 1024),
    "judge": ReplySettings(0.0, 512),
    "notes": ReplySettings(0.3, 1024),
    "summary": ReplySettings(0.3, 1024),
    "title": ReplySettings(0.3, 50),
}


def reply_settings(purpose: str) -> ReplySettings:
    """Return the reply settings of a purpose, by default `LLM_TEMPERATURE` and `LLM_MAX_TOKENS`."""
    found = REPLY_SETTINGS.get(purpose, ReplySettings(config.LLM_TEMPERATURE))
    most = config.LLM_MAX_TOKENS
    return replace(found, max_tokens=min(found.max_tokens or most, most))


def endpoint_of(profile: ModelProfile) -> Endpoint:
    """Return the endpoint of a profile; raises `LLMError` if its key can't be decrypted."""
    return Endpoint(
        base_url=profile.base_url.rstrip("/"),
        api_key=secrets.decrypt(bytes(profile.encrypted_key)),
        model=profile.model,
        connect_timeout=profile.connect_timeout,
        idle_timeout=profile.idle_timeout,
        total_timeout=profile.total_timeout,
        context_window=profile.context_window,
        max_tokens=profile.max_tokens,
        temperature=profile.temperature,
        concurrency=profile.concurrency,
        thinking_field=profile.thinking,
        own_network=profile.own_network,
    )


def embedding_model() -> EmbeddingModel | None:
    """Return the model of the enabled embedding profile, or None; raises `LLMError` if its key can't be decrypted."""
    profile = ModelProfile.objects.filter(purpose=ModelProfile.Purpose.EMBEDDING, enabled=True).first()
    if profile is None:
        return None
    endpoint = endpoint_of(profile)
    return EmbeddingModel(
        "openai", endpoint.model, endpoint.base_url, endpoint.api_key, own_network=endpoint.own_network
    )


def what_search_uses(profile: ModelProfile) -> str:
    """Return a message for a saved embedding profile: whether search uses it, and how to switch to its model."""
    space = EmbeddingSpace.objects.filter(active=True).first()
    if space is not None and (space.provider, space.model) == (EmbeddingSpace.Provider.OPENAI, profile.model):
        return _("Search uses %(space)s with the connection of this profile.") % {"space": space}
    message = _(
        "Search uses %(space)s. To switch to this model, run “manage.py reembed --provider openai” on the server. "
        "Search stays available in the meantime."
    )
    return message % {"space": space or settings.EMBEDDING_MODEL}


async def try_profile(profile: ModelProfile) -> Outcome:
    """Test the profile's model: ask for one word, score two passages, or embed a word, depending on its purpose."""
    began = time.monotonic()
    try:
        endpoint = endpoint_of(profile)
        reply = await ask(
            replace(
                endpoint,
                connect_timeout=min(endpoint.connect_timeout, PATIENCE),
                idle_timeout=min(endpoint.idle_timeout, PATIENCE),
                total_timeout=min(endpoint.total_timeout, PATIENCE),
            ),
            profile.purpose,
        )
    except LLMError as error:
        return Outcome(False, f"{profile}: {error}")
    seconds = time.monotonic() - began
    message = _("%(profile)s answered in %(seconds).1f s: %(reply)s")
    return Outcome(True, message % {"profile": profile, "seconds": seconds, "reply": reply[:80]})


async def ask(endpoint: Endpoint, purpose: str) -> str:
    """Send a short request that suits the purpose to a model, and describe its reply. Raises `LLMError`."""
    if purpose == ModelProfile.Purpose.RERANK and config.RERANK_METHOD != "llm":
        from ragsite.llm.reranking.remote import RemoteReranker

        reranker = RemoteReranker(endpoint, settings.RERANK_STYLE)
        passages = ["The switch has nine ports.", "Lunch is at noon."]
        try:
            good, bad = await reranker.score("How many ports has the switch?", passages)
        finally:
            await reranker.aclose()
        return _("a relevant passage scored %(good).2f, an unrelated one %(bad).2f") % {"good": good, "bad": bad}
    if purpose == ModelProfile.Purpose.EMBEDDING:
        vector = await asyncio.to_thread(lambda: OpenAIEmbedder(endpoint).embed_query("ready"))
        return _("a vector of %(count)d numbers") % {"count": len(vector)}
    from ragsite.llm.chat import ChatClient  # imports the HTTP client only when needed, not with the admin

    client = ChatClient(endpoint)
    try:
        reply = await client.complete([ChatMessage("user", "Reply with the word: ready")], max_tokens=256)
        return " ".join(reply.text.split()) or _("(an empty reply)")
    finally:
        await client.aclose()
