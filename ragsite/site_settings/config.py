"""The settings in force: what an assistant asks for, else an administrator has set, else the environment or a default.

Administrators set them by the names of the environment's variables. `config.ANSWER_TOP_K` reads a setting that may
change while the site runs. What is stored is read from the database by `refresh`, which whatever begins something
calls: a turn, a search, an upload, the reading of a file. A turn goes on with what it began with.
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
    """Settings by their names; one that only a start can change raises `AttributeError`."""

    def __getattr__(self, name: str) -> Any:
        option = env.option_of(name)
        if option is None or not option.live:
            raise AttributeError(f"{name} is no setting that changes while the site runs.")
        pinned = _pinned.get()
        values = _site.values if pinned is None or pinned.values is None else pinned.values
        return values[name] if name in values else getattr(settings, name)


@dataclass(slots=True)
class _Site:
    """What administrators had set when it was last read (`time.monotonic`)."""

    values: Mapping[str, Any] = field(default_factory=dict)
    read_at: float = float("-inf")


@dataclass(slots=True)
class _Pinned:
    """The settings of one piece of work, once they are known."""

    values: Mapping[str, Any] | None = None


config = Config()
_site = _Site()
_pinned: ContextVar[_Pinned | None] = ContextVar("pinned_settings", default=None)


@contextmanager
def pinned() -> Iterator[None]:
    """Within, also in tasks and on database threads, settings stay as `pin` has them."""
    token = _pinned.set(_Pinned())
    try:
        yield
    finally:
        _pinned.reset(token)


def pin(values: Mapping[str, Any]) -> None:
    """Have these settings in force within `pinned`; others are those of the environment or defaults."""
    holder = _pinned.get()
    if holder is None:
        raise RuntimeError("Settings are pinned within `pinned()` only.")
    holder.values = values


def refresh(older_than: float = 0.0) -> None:
    """Read what administrators have set, unless this process has done so within so many seconds. Asks the database."""
    if time.monotonic() - _site.read_at >= older_than:
        _site.values, _site.read_at = stored(), time.monotonic()


def stored() -> dict[str, Any]:
    """Return what administrators have set and the environment leaves open. Asks the database, once."""
    found: dict[str, Any] = {}
    for name, text in SiteSetting.objects.values_list("name", "value"):
        option = env.options.get(name)
        if option is None or not option.live or env.given(name):
            continue
        try:
            found[option.setting] = option.parse(text)
        except ImproperlyConfigured as error:  # the bounds were wider when it was stored
            logger.warning("A stored setting is not used: %s", error)
    return found


@transaction.atomic
def change(user: Any, changes: Mapping[str, str | None]) -> list[SettingChange]:
    """Store settings as their variables would have them written, None for the default, and log what differs.

    Raises `ImproperlyConfigured` for a value that is none, a name that may not change, or one that the environment
    sets; then nothing is stored.
    """
    for name, text in changes.items():
        option = env.options.get(name)
        if option is None or not option.live:
            raise ImproperlyConfigured(f"{name} can only be changed by its environment variable, at a start.")
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
    """Forget what administrators have set, until it is read again."""
    _site.values, _site.read_at = {}, float("-inf")
