"""What an assistant answers with now: its own configuration, completed by the site's."""

from collections.abc import Iterable
from typing import Any

from conversations.assistants import choice
from conversations.assistants.configuration import PURPOSES, Configuration
from conversations.models import Assistant
from conversations.prompts import active, templates
from conversations.prompts.defaults import DEFAULTS
from conversations.prompts.endpoints import profile_in
from conversations.prompts.profiles import reply_settings
from knowledge import access
from ragsite import env
from ragsite.llm.default import default_endpoint
from ragsite.site_settings.config import config


def described(user: Any, assistant: Assistant) -> dict[str, Any]:
    """Return an assistant as the API shows it to a user who may use it; raises `TurnRefused` if it can't answer.

    `in_force` are the values of `values_in_force`, None unless the user may view or change assistants; its prompts are
    None unless the user may view prompts.
    """
    chosen = choice.newest(assistant)
    configuration, readable = chosen.configuration, access.readable(user).values_list("pk", flat=True)
    with active.pinned_setup():
        setup = choice.setup_of(configuration, {})
        active.pin(setup)
        values = None
        if user.has_perm("conversations.view_assistant") or user.has_perm("conversations.change_assistant"):
            values = values_in_force(configuration, setup)
            if not user.has_perm("conversations.view_prompttemplate"):
                values["prompts"] = None
        return {
            "id": assistant.pk,
            "name": assistant.name,
            "description": assistant.description,
            "is_default": assistant.is_default,
            "greeting": configuration.greeting,
            "questions": list(configuration.questions),
            "version": chosen.version.number if chosen.version is not None else None,
            "knowledge_bases": sorted(readable.filter(pk__in=configuration.knowledge_bases)),
            "model": choice.own_model(setup),
            "in_force": values,
        }


def values_in_force(configuration: Configuration, setup: active.Setup) -> dict[str, Any]:
    """Return what the next answer would be written with, within the pinned setup.

    `settings` are values by name, JSON-safe, and `own_settings` the names of those that the assistant itself sets.
    `models` are `{"model", "temperature", "max_tokens"}` by purpose, None where no model is configured; a model's name
    is empty if its server decides. `prompts` are `{"version", "system", "user"}` by purpose and language, such as
    `answer.en`; version 0 is the default of the release.
    """
    changeable = [option.setting for option in env.options.values() if option.live == "assistant"]
    values = {name: getattr(config, name) for name in changeable}
    prompts = {f"{purpose}.{language}": templates.get_prompt(purpose, language) for purpose, language in DEFAULTS}
    return {
        "pipeline": configuration.pipeline or "default",
        "instructions": configuration.instructions,
        "settings": {
            name: list(value) if isinstance(value, Iterable) and not isinstance(value, str | dict) else value
            for name, value in values.items()
        },
        "own_settings": sorted(configuration.settings),
        "models": {purpose: _model(setup, purpose) for purpose in PURPOSES},
        "prompts": {
            name: {"version": prompt.version, "system": prompt.system, "user": prompt.user}
            for name, prompt in prompts.items()
        },
    }


def _model(setup: active.Setup, purpose: str) -> dict[str, Any] | None:
    profile, endpoint = profile_in(setup, purpose), default_endpoint()
    if profile is not None:
        return {"model": profile.model, "temperature": profile.temperature, "max_tokens": profile.max_tokens}
    if endpoint is None:
        return None
    reply = reply_settings(purpose)
    tokens = reply.max_tokens or endpoint.max_tokens
    return {"model": endpoint.model, "temperature": reply.temperature, "max_tokens": tokens}
