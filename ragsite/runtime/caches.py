"""A registry of functions that clear this process's caches, so that all can be cleared together."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_clear: list[Callable[[], object]] = []


def register(clear: T) -> T:
    """Register a function that empties a cache, to be called by `clear_all`; also usable as a decorator."""
    _clear.append(clear)
    return clear


def clear_all() -> None:
    """Empty every registered cache, as in a new process."""
    for clear in _clear:
        clear()
