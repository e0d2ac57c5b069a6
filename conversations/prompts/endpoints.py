"""Which model serves which purpose: a profile from the admin, else the `LLM_*` settings, else none."""

from dataclasses import replace

from django.conf import settings
from django.db import DatabaseError, connection

from conversations.models import ModelProfile
from conversations.prompts import active
from conversations.prompts.profiles import endpoint_of, reply_settings
from ragsite.llm import prompt_tokens
from ragsite.llm.chat import ChatClient
from ragsite.llm.default import default_endpoint, resolve_model
from ragsite.llm.types import Endpoint

# The purposes whose replies people read.
WRITING = ("answer", "chat", "clarify")
# Purposes that another's model serves where they have none: notes are taken by who writes the answer.
_SERVED_BY = {"notes": "answer"}


def profile_endpoint(purpose: str) -> Endpoint | None:
    """Return the enabled profile of a purpose as an endpoint, or None."""
    profile = active.profile_of(purpose)
    return endpoint_of(profile) if profile is not None else None


async def has_model(purpose: str) -> bool:
    """Whether a model is configured for a purpose; no server is asked."""
    return bool((await active.asetup()).profiles.get(purpose)) or default_endpoint() is not None


async def endpoint_for(purpose: str) -> Endpoint | None:
    """Return where the model of a purpose is; None means that no model is configured for it."""
    setup = await active.asetup()
    profile = setup.profiles.get(purpose) or setup.profiles.get(_SERVED_BY.get(purpose, ""))
    found = await default_endpoint_for(purpose) if profile is None else endpoint_of(profile)
    return replace(found, think=setup.think) if found is not None and purpose in WRITING else found


async def default_endpoint_for(purpose: str) -> Endpoint | None:
    """Return the endpoint of the `LLM_*` settings as a purpose uses it, or None when none is set."""
    endpoint = default_endpoint()
    if endpoint is None:
        return None
    if not endpoint.model:
        endpoint = await resolve_model(endpoint)
    asked = reply_settings(purpose)
    return replace(endpoint, temperature=asked.temperature, max_tokens=asked.max_tokens or endpoint.max_tokens)


def warm_up() -> None:
    """Where a model is configured, load what prompts are counted with, so that the first one does not wait for it."""
    try:
        configured = bool(settings.LLM_BASE_URL) or ModelProfile.objects.filter(enabled=True).exists()
    except DatabaseError:
        return  # those who ask a question will be told
    finally:
        connection.close()
    if configured:
        prompt_tokens.warm_up()


async def client_for(purpose: str) -> ChatClient | None:
    """Return a chat client for a purpose, to be closed after use; None when no model is configured."""
    endpoint = await endpoint_for(purpose)
    return ChatClient(endpoint) if endpoint is not None else None
