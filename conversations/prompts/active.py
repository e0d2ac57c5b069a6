"""The active prompts, model profiles and settings, one query each, so that a change applies at once.

A turn reads them once, with the configuration of its assistant, and keeps them to its end.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from conversations.prompts.models import ModelProfile, PromptTemplate
from ragsite.db import in_database
from ragsite.site_settings import config


@dataclass(frozen=True, slots=True)
class Setup:
    """Active prompts by purpose and language, enabled profiles by purpose, and settings that override the defaults."""

    prompts: Mapping[tuple[str, str], PromptTemplate]
    profiles: Mapping[str, ModelProfile]
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Whether the answer model is asked to think first; None leaves it to the model.
    think: bool | None = None


@dataclass(slots=True)
class _Pinned:
    """The setup within `pinned_setup`, once it is known."""

    found: Setup | None = None


_pinned: ContextVar[_Pinned | None] = ContextVar("pinned_setup", default=None)


@contextmanager
def pinned_setup() -> Iterator[None]:
    """Keep the setup that is first read or pinned within this context, including its tasks and database threads."""
    token = _pinned.set(_Pinned())
    try:
        with config.pinned():
            yield
    finally:
        _pinned.reset(token)


def pin(found: Setup) -> None:
    """Use this setup, with its settings, within the current `pinned_setup`."""
    holder = _pinned.get()
    if holder is None:
        raise RuntimeError("A setup can be pinned only within `pinned_setup()`.")
    holder.found = found
    config.pin(found.settings)


def setup() -> Setup:
    """Return the current setup. Queries the database."""
    holder = _pinned.get()
    if holder is None:
        return site_setup()
    if holder.found is None:
        pin(site_setup())
    assert holder.found is not None
    return holder.found


def profile_of(purpose: str) -> ModelProfile | None:
    """Return the current profile for a purpose, or None. Queries the database unless a setup is pinned."""
    holder = _pinned.get()
    if holder is None:
        return ModelProfile.objects.filter(purpose=purpose, enabled=True).first()
    return setup().profiles.get(purpose)


async def asetup() -> Setup:
    """Return the current setup, without a query if it is pinned already."""
    holder = _pinned.get()
    return holder.found if holder is not None and holder.found is not None else await in_database(setup)


def site_setup() -> Setup:
    """Return the setup of the site, without any assistant. Queries the database."""
    return Setup(
        {(row.purpose, row.language): row for row in PromptTemplate.objects.filter(active=True)},
        {row.purpose: row for row in ModelProfile.objects.filter(enabled=True)},
        config.stored(),
    )
