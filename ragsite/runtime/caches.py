"""What this process remembers between calls: each cache registers how it is cleared, so that all can be at once."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_clear: list[Callable[[], object]] = []


def register(clear: T) -> T:
    """Have `clear_all` call a function that empties a cache; also as its decorator."""
    _clear.append(clear)
    return clear


def clear_all() -> None:
    """Empty every cache that was registered: what follows begins as in a new process."""
    for clear in _clear:
        clear()
