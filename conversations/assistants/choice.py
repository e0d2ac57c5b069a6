"""Choice of the assistant for a question, access to assistants, and the setup that results for a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.db.models import Exists, JSONField, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import Http404
from django.utils.translation import gettext as _

from conversations.assistants.configuration import Configuration, ConfigurationError, read_settings
from conversations.groups import notify_pages
from conversations.models import Assistant, AssistantVersion, ChatSession, ModelProfile, PromptTemplate
from conversations.prompts import active
from conversations.prompts.endpoints import WRITING
from conversations.turn_store import TurnRefused
from ragsite.llm.default import default_endpoint

# The name of the default assistant that a new site gets; it can be renamed.
DEFAULT_NAME = "Ragsite"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The version of an assistant that answers a turn, with its configuration; None on a site without assistants."""

    version: AssistantVersion | None = None
    configuration: Configuration = field(default_factory=Configuration)


@dataclass(frozen=True, slots=True)
class Listed:
    """An assistant as offered to users, with the greeting and suggested questions of an empty chat."""

    id: int
    name: str
    description: str
    is_default: bool
    greeting: str
    questions: list[str]
    profile_id: int | None  # the profile of its answer model, if it has its own


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of a single question; None and empty values follow the session, its assistant and the site.

    They are the assistant, or with `version_id` one of its versions; `tried`, a configuration to use instead, for an
    assistant that the caller may use; the names of the models that write the answer and filter the hits; whether the
    model should think; the mode, as `ANSWER_MODE`; `search_mode`, as `SEARCH_MODE`; and `k`, the number of hits kept
    after fusion.
    """

    assistant_id: int | None = None
    version_id: int | None = None
    tried: Configuration | None = None
    model: str = ""
    filter_model: str = ""
    thinking: bool | None = None
    mode: str = ""
    search_mode: str = ""
    k: int | None = None


def for_turn(user: Any, session: ChatSession | None, asked: Choices) -> Chosen:
    """Return the assistant version for a question, in a session or without one, and pin the resulting setup.

    Raises `TurnRefused` for an assistant that the user may not use or whose configuration is invalid, and for a model
    that is not offered.
    """
    chosen = _version(user, session, asked)
    options = {"ANSWER_MODE": asked.mode, "SEARCH_MODE": asked.search_mode, "FUSED_K": asked.k}
    overrides = {name: value for name, value in options.items() if value}
    try:
        setup = setup_of(chosen.configuration, read_settings(overrides))
    except ConfigurationError as error:
        raise TurnRefused("bad_choice", str(error)) from error
    profiles = dict(setup.profiles)
    if asked.model:
        profile = _named(asked.model, setup, WRITING[0])
        profiles |= dict.fromkeys(WRITING, profile) if profile is not None else {}
    elif session is not None and session.model is not None and session.model.offered:
        profiles |= dict.fromkeys(WRITING, session.model)
    if asked.filter_model and (profile := _named(asked.filter_model, setup, "filter")) is not None:
        profiles["filter"] = profile
    active.pin(replace(setup, profiles=profiles, think=asked.thinking))
    return chosen


def offered_models(setup: active.Setup, purpose: str = WRITING[0]) -> dict[str, ModelProfile | None]:
    """Return the profiles of the models that users may choose, by name, starting with the setup's own model.

    The profile of that one is None if the environment names it.
    """
    found = {own: setup.profiles.get(purpose)} if (own := own_model(setup, purpose)) else {}
    for profile in offered_profiles():
        found.setdefault(profile.model, profile)
    return found


def offered_profiles() -> QuerySet[ModelProfile]:
    """Return the profiles of chat models that users may choose."""
    return ModelProfile.objects.filter(offered=True).exclude(purpose__in=("rerank", "embedding")).order_by("model")


def own_model(setup: active.Setup, purpose: str = WRITING[0]) -> str:
    """Return the name of the default model for a purpose; empty if there is none or it has no name."""
    profile, endpoint = setup.profiles.get(purpose), default_endpoint()
    return getattr(profile or endpoint, "model", "")


def set_assistant(user: Any, session: ChatSession, pk: int | None) -> None:
    """Set the assistant of a session, None for the default; raises `Http404`."""
    session.assistant = get_usable(user, pk) if pk is not None else None
    session.save(update_fields=["assistant"])
    notify_pages(session.pk, "session.scope")


def set_model(session: ChatSession, name: str) -> None:
    """Set the answer model of a session, empty for that of its assistant or the site.

    Raises `TurnRefused` for a model that is not offered.
    """
    session.model = _named(name, active.site_setup(), WRITING[0]) if name else None
    session.save(update_fields=["model"])
    notify_pages(session.pk, "session.scope")


def listed(user: Any) -> list[Listed]:
    """Return the assistants that a user may choose, the default first."""
    newest = AssistantVersion.objects.filter(assistant=OuterRef("pk")).order_by("-number").values("configuration")[:1]
    rows = usable(user).annotate(configuration=Coalesce(Subquery(newest), Value({}, JSONField())))
    names = "pk", "name", "description", "is_default", "configuration"
    return [
        Listed(
            pk,
            name,
            description,
            default,
            configuration.get("greeting", ""),
            configuration.get("questions", []),
            configuration.get("models", {}).get("answer"),
        )
        for pk, name, description, default, configuration in rows.values_list(*names)
    ]


def _named(model: str, setup: active.Setup, purpose: str) -> ModelProfile | None:
    """Return the profile of a model that users may choose, None for the environment's; raises `TurnRefused`."""
    offered = offered_models(setup, purpose)
    if model not in offered:
        raise TurnRefused(
            "unknown_model",
            _("The model “%(name)s” is not available. Available models: %(known)s.")
            % {"name": model, "known": ", ".join(offered) or _("none")},
        )
    return offered[model]


def _version(user: Any, session: ChatSession | None, asked: Choices) -> Chosen:
    """Return the version that answers: the requested one, or the newest of the requested assistant, of the session's
    or of the default; raises `TurnRefused`."""
    versions = AssistantVersion.objects.select_related("assistant").order_by("-number")
    assistant_id = asked.assistant_id or (session.assistant_id if session is not None else None)
    if asked.version_id is not None:
        versions = versions.filter(pk=asked.version_id)
    elif assistant_id is not None:
        versions = versions.filter(assistant=assistant_id)
    else:
        versions = versions.filter(assistant__is_default=True)
    version = versions.first()
    if asked.tried is not None:
        return Chosen(version, asked.tried)
    if version is None or not (version.assistant.is_default or usable(user).contains(version.assistant)):
        if assistant_id is None and asked.version_id is None:
            return Chosen()
        raise TurnRefused("no_assistant", _("This assistant is no longer available to you. Choose another one."))
    return _read(version)


def newest(assistant: Assistant) -> Chosen:
    """Return the newest version of an assistant; raises `TurnRefused` if its configuration is invalid."""
    version = assistant.versions.select_related("assistant").order_by("-number").first()
    return _read(version) if version is not None else Chosen()


def _read(version: AssistantVersion) -> Chosen:
    try:
        return Chosen(version, Configuration.from_dict(version.configuration))
    except ConfigurationError as error:
        raise TurnRefused(
            "assistant_unusable",
            _("The assistant “%(name)s” can't answer because its configuration is invalid: %(why)s")
            % {"name": version.assistant, "why": error},
        ) from error


def usable(user: Any) -> QuerySet[Assistant]:
    """Return the enabled assistants that a user may use, the default first; users who may edit assistants get all."""
    enabled = Assistant.objects.filter(enabled=True)
    if user.is_superuser:
        return enabled
    may_change = Permission.objects.filter(content_type__app_label="conversations", codename="change_assistant")
    return enabled.filter(
        Q(everyone=True)
        | Exists(User.objects.filter(pk=user.pk, assistants=OuterRef("pk")))
        | Exists(User.objects.filter(pk=user.pk, groups__assistants=OuterRef("pk")))
        | Exists(may_change.filter(Q(user=user.pk) | Q(group__user=user.pk)))
    )


def get_usable(user: Any, pk: int) -> Assistant:
    """Return an assistant that a user may use; raises `Http404`."""
    found = usable(user).filter(pk=pk).first()
    if found is None:
        raise Http404(_("There is no such assistant."))
    return found


def require_curator(user: Any) -> None:
    """Raise `Http404` unless the user may edit assistants."""
    if not user.has_perm("conversations.change_assistant"):
        raise Http404


def setup_of(configuration: Configuration, overrides: Mapping[str, Any]) -> active.Setup:
    """Return the site's setup with the configuration of an assistant and `overrides`, the settings of a request.

    If a prompt or profile no longer exists, the site's is used.
    """
    site = active.site_setup()
    prompts, profiles = dict(site.prompts), dict(site.profiles)
    if configuration.prompts:
        rows = PromptTemplate.objects.in_bulk(configuration.prompts.values())
        prompts |= {key: rows[pk] for key, pk in configuration.prompts.items() if pk in rows}
    if configuration.models:
        found = ModelProfile.objects.in_bulk(configuration.models.values())
        profiles |= {purpose: found[pk] for purpose, pk in configuration.models.items() if pk in found}
    return replace(
        site,
        prompts=prompts,
        profiles=profiles,
        settings={**site.settings, **configuration.settings, **overrides},
    )


@transaction.atomic
def save_version(assistant: Assistant, configuration: Configuration, user: Any) -> AssistantVersion:
    """Store a configuration as an assistant's new version, or return the newest version if it is the same."""
    Assistant.objects.select_for_update().get(pk=assistant.pk)
    newest = assistant.versions.order_by("-number").first()
    data = configuration.to_dict()
    if newest is not None and newest.configuration == data:
        return newest
    number = (assistant.versions.aggregate(newest=Max("number"))["newest"] or 0) + 1
    return AssistantVersion.objects.create(assistant=assistant, number=number, configuration=data, user=user)


@transaction.atomic
def keep_default(**_kwargs: Any) -> None:
    """Create the default assistant, which follows the site's settings, if there is none."""
    if Assistant.objects.filter(is_default=True).exists():
        return
    assistant, _made = Assistant.objects.update_or_create(
        name=DEFAULT_NAME, defaults={"is_default": True, "enabled": True, "everyone": True}
    )
    if not assistant.versions.exists():
        AssistantVersion.objects.create(assistant=assistant, number=1)
