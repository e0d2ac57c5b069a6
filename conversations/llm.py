"""Which model serves which purpose: a profile from the admin, else the `LLM_*` settings, else none."""

from dataclasses import replace

from ragsite.llm.default import default_endpoint, resolve_model

from conversations import secrets
from conversations.models import ModelProfile
from ragsite.db import in_database
from ragsite.llm.chat import ChatClient
from ragsite.llm.types import Endpoint

# What a purpose asks for when the environment configures one model for all of them.
_TEMPERATURES = {"chat": 0.7, "understand": 0.3, "rewrite": 0.3, "answer": 0.3}


def profile_endpoint(purpose: str) -> Endpoint | None:
    """Return the enabled profile of a purpose as an endpoint, or None."""
    profile = ModelProfile.objects.filter(purpose=purpose, enabled=True).first()
    if profile is None:
        return None
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
    )


async def endpoint_for(purpose: str) -> Endpoint | None:
    """Return where the model of a purpose is; None means that no model is configured for it."""
    endpoint = await in_database(profile_endpoint, purpose)
    if endpoint is not None:
        return endpoint
    endpoint = default_endpoint()
    if endpoint is None:
        return None
    if not endpoint.model:
        endpoint = await resolve_model(endpoint)
    return replace(endpoint, temperature=_TEMPERATURES.get(purpose, endpoint.temperature))


async def client_for(purpose: str) -> ChatClient | None:
    """Return a chat client for a purpose, to be closed after use; None when no model is configured."""
    endpoint = await endpoint_for(purpose)
    return ChatClient(endpoint) if endpoint is not None else None
