"""The model for each purpose: that of a profile from the admin, else of the `LLM_*` settings, else none."""

from dataclasses import replace

from django.conf import settings
from django.db import DatabaseError, connection

from conversations.models import ModelProfile
from conversations.prompts import active
from conversations.prompts.profiles import endpoint_of, reply_settings
from ragsite.llm import prompt_tokens
from ragsite.llm.chat import ALWAYS, ChatClient
from ragsite.llm.default import default_endpoint, resolve_model
from ragsite.llm.types import Endpoint

# The purposes whose replies are shown to users.
WRITING = ("answer", "chat", "clarify")
# The steps for which a question waits, and which have rules for sites without a model.
BEFORE_ANSWERING = ("understand", "rewrite", "split", "missing", "rerank", "filter")
# Purposes without a profile that use the profile of another purpose: the answer model also takes notes, and judges
# passages if that is switched on or asked for.
_SERVED_BY = {"notes": "answer", "filter": "answer"}


def profile_endpoint(purpose: str) -> Endpoint | None:
    """Return the enabled profile of a purpose as an endpoint, or None."""
    profile = active.profile_of(purpose)
    return endpoint_of(profile) if profile is not None else None


def profile_in(setup: active.Setup, purpose: str) -> ModelProfile | None:
    """Return the profile with which a setup serves a purpose, or None if it is the model of the `LLM_*` settings."""
    return setup.profiles.get(purpose) or setup.profiles.get(_SERVED_BY.get(purpose, ""))


async def has_model(purpose: str) -> bool:
    """Return whether a model is configured for a purpose, without asking any server."""
    return bool((await active.asetup()).profiles.get(purpose)) or default_endpoint() is not None


async def endpoint_for(purpose: str) -> Endpoint | None:
    """Return the endpoint of a purpose, or None if no model is configured for it.

    Only the model that answers thinks by default: others are asked not to, since a person waits for each of them. If
    that isn't possible, the steps before an answer have no model.
    """
    setup = await active.asetup()
    profile = profile_in(setup, purpose)
    found = await default_endpoint_for(purpose) if profile is None else endpoint_of(profile)
    if found is None or (found.thinking_field == ALWAYS and purpose in BEFORE_ANSWERING):
        return None
    by_default = None if purpose == "answer" else False
    return replace(found, think=setup.think if purpose in WRITING and setup.think is not None else by_default)


async def default_endpoint_for(purpose: str) -> Endpoint | None:
    """Return the endpoint of the `LLM_*` settings with the reply settings of a purpose, or None if it isn't set."""
    endpoint = default_endpoint()
    if endpoint is None:
        return None
    if not endpoint.model:
        endpoint = await resolve_model(endpoint)
    reply = reply_settings(purpose)
    return replace(endpoint, temperature=reply.temperature, max_tokens=reply.max_tokens or endpoint.max_tokens)


def warm_up() -> None:
    """Load the tokenizer if a model is configured, so that the first prompt doesn't wait for it."""
    try:
        configured = bool(settings.LLM_BASE_URL) or ModelProfile.objects.filter(enabled=True).exists()
    except DatabaseError:
        return  # questions will report the error
    finally:
        connection.close()
    if configured:
        prompt_tokens.warm_up()


async def client_for(purpose: str) -> ChatClient | None:
    """Return a chat client for a purpose, to be closed after use; None if no model is configured."""
    endpoint = await endpoint_for(purpose)
    return ChatClient(endpoint) if endpoint is not None else None
