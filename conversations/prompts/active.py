"""The prompts and model profiles that administrators have in force: two queries, so that a change counts at once.

A turn asks once, and goes on as it began.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from conversations.prompts.models import ModelProfile, PromptTemplate
from ragsite.db import in_database


@dataclass(frozen=True, slots=True)
class Setup:
    """Active prompts by purpose and language, and enabled profiles by purpose."""

    prompts: Mapping[tuple[str, str], PromptTemplate]
    profiles: Mapping[str, ModelProfile]


@dataclass(slots=True)
class _Look:
    """What someone saw who looks once, or nothing yet."""

    found: Setup | None = None


_look: ContextVar[_Look | None] = ContextVar("look", default=None)


@contextmanager
def pinned_setup() -> Iterator[None]:
    """Within, also in tasks and on database threads, the setup is the one that was first asked for."""
    token = _look.set(_Look())
    try:
        yield
    finally:
        _look.reset(token)


def setup() -> Setup:
    """Return what is in force. Asks the database."""
    look = _look.get()
    if look is None:
        return _read()
    look.found = look.found or _read()
    return look.found


async def asetup() -> Setup:
    """Return what is in force; who has looked already is not kept waiting."""
    look = _look.get()
    return look.found if look is not None and look.found is not None else await in_database(setup)


def _read() -> Setup:
    return Setup(
        {(row.purpose, row.language): row for row in PromptTemplate.objects.filter(active=True)},
        {row.purpose: row for row in ModelProfile.objects.filter(enabled=True)},
    )
