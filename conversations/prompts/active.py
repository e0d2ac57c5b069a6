"""The prompts, model profiles and settings that are in force: a query each, so that a change counts at once.

A turn asks once, with what its assistant has of its own, and goes on as it began.
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
    """Active prompts by purpose and language, enabled profiles by purpose, and settings that differ from the start."""

    prompts: Mapping[tuple[str, str], PromptTemplate]
    profiles: Mapping[str, ModelProfile]
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Whether the model that writes is asked to think first; None leaves that to it.
    think: bool | None = None


@dataclass(slots=True)
class _Pinned:
    """The setup of one piece of work, once it is known."""

    found: Setup | None = None


_pinned: ContextVar[_Pinned | None] = ContextVar("pinned_setup", default=None)


@contextmanager
def pinned_setup() -> Iterator[None]:
    """Within, also in tasks and on database threads, the setup is the one that was first asked for, or pinned."""
    token = _pinned.set(_Pinned())
    try:
        with config.pinned():
            yield
    finally:
        _pinned.reset(token)


def pin(found: Setup) -> None:
    """Have this setup, with its settings, in force within `pinned_setup`."""
    holder = _pinned.get()
    if holder is None:
        raise RuntimeError("A setup is pinned within `pinned_setup()` only.")
    holder.found = found
    config.pin(found.settings)


def setup() -> Setup:
    """Return what is in force. Asks the database."""
    holder = _pinned.get()
    if holder is None:
        return site_setup()
    if holder.found is None:
        pin(site_setup())
    assert holder.found is not None
    return holder.found


def profile_of(purpose: str) -> ModelProfile | None:
    """Return the profile in force for a purpose, or None. Asks the database where no setup is pinned."""
    holder = _pinned.get()
    if holder is None:
        return ModelProfile.objects.filter(purpose=purpose, enabled=True).first()
    return setup().profiles.get(purpose)


async def asetup() -> Setup:
    """Return what is in force, at once where it is known already."""
    holder = _pinned.get()
    return holder.found if holder is not None and holder.found is not None else await in_database(setup)


def site_setup() -> Setup:
    """Return what the site has in force, whatever an assistant has. Asks the database."""
    return Setup(
        {(row.purpose, row.language): row for row in PromptTemplate.objects.filter(active=True)},
        {row.purpose: row for row in ModelProfile.objects.filter(enabled=True)},
        config.stored(),
    )
