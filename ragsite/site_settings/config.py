"""Current settings: an assistant's, else those stored by an administrator, else the environment's or the default.

`config.ANSWER_TOP_K` reads a setting that may change while the site runs. Stored settings have the names of environment
variables and are read from the database by `refresh`, which is called at the beginning of a turn, a search, an upload
or the processing of a file. A turn keeps the settings that it began with.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from ragsite import env
from ragsite.runtime import caches
from ragsite.site_settings.models import SettingChange, SiteSetting

logger = logging.getLogger(__name__)


class Config:
    """Settings by name; those that only change on restart raise `AttributeError`."""

    def __getattr__(self, name: str) -> Any:
        option = env.option_of(name)
        if option is None or not option.live:
            raise AttributeError(f"{name} isn't a setting that can change while the site runs.")
        pinned = _pinned.get()
        values = _site.values if pinned is None or pinned.values is None else pinned.values
        return values[name] if name in values else getattr(settings, name)


@dataclass(slots=True)
class _Site:
    """The stored settings, and when they were last read (`time.monotonic`)."""

    values: Mapping[str, Any] = field(default_factory=dict)
    read_at: float = float("-inf")


@dataclass(slots=True)
class _Pinned:
    """The settings of a turn or similar work, once they are known."""

    values: Mapping[str, Any] | None = None


config = Config()
_site = _Site()
_pinned: ContextVar[_Pinned | None] = ContextVar("pinned_settings", default=None)


@contextmanager
def pinned() -> Iterator[None]:
    """Context manager in which settings keep the values set by `pin`, also in tasks and on database threads."""
    token = _pinned.set(_Pinned())
    try:
        yield
    finally:
        _pinned.reset(token)


def pin(values: Mapping[str, Any]) -> None:
    """Use these settings within `pinned`; the others are those of the environment or the defaults."""
    holder = _pinned.get()
    if holder is None:
        raise RuntimeError("Settings can only be pinned within `pinned()`.")
    holder.values = values


def refresh(older_than: float = 0.0) -> None:
    """Read the stored settings from the database, unless that was done in the last `older_than` seconds."""
    if time.monotonic() - _site.read_at >= older_than:
        _site.values, _site.read_at = stored(), time.monotonic()


def stored() -> dict[str, Any]:
    """Return the stored settings that the environment doesn't override, with one query."""
    found: dict[str, Any] = {}
    for name, text in SiteSetting.objects.values_list("name", "value"):
        option = env.options.get(name)
        if option is None or not option.live or env.given(name):
            continue
        try:
            found[option.setting] = option.parse(text)
        except ImproperlyConfigured as error:  # the bounds were wider when it was stored
            logger.warning("A stored setting is ignored: %s", error)
    return found


@transaction.atomic
def change(user: Any, changes: Mapping[str, str | None]) -> list[SettingChange]:
    """Store settings, written as in environment variables, or None for the default, and log the changes.

    Raises `ImproperlyConfigured` for an invalid value, and for a setting that can't be changed or is set by the
    environment; nothing is stored then.
    """
    for name, text in changes.items():
        option = env.options.get(name)
        if option is None or not option.live:
            raise ImproperlyConfigured(f"{name} can only be changed by its environment variable and a restart.")
        if env.given(name):
            raise ImproperlyConfigured(f"{name} is set by its environment variable.")
        if text is not None:
            option.parse(text)
    before = dict(SiteSetting.objects.select_for_update().filter(name__in=changes).values_list("name", "value"))
    log = [
        SettingChange(name=name, before=before.get(name), after=text, user=user, username=user.get_username())
        for name, text in changes.items()
        if before.get(name) != text
    ]
    SiteSetting.objects.filter(name__in=[entry.name for entry in log if entry.after is None]).delete()
    SiteSetting.objects.bulk_create(
        [SiteSetting(name=entry.name, value=entry.after) for entry in log if entry.after is not None],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["value"],
    )
    return SettingChange.objects.bulk_create(log)


@caches.register
def forget() -> None:
    """Forget the stored settings until they are read again."""
    _site.values, _site.read_at = {}, float("-inf")
