"""Strict readers of the environment, used by `options.py` alone, and what was read with them.

Every reader raises `ImproperlyConfigured` with the variable's name and what it takes, so that a
typing error stops the start instead of being guessed around. What it is `told` is for people: what the
variable does, in Markdown (nothing: the one before says it), and, where its default is no value that
could be written down, what is taken when it is unset.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise

Words = str | Promise
Number = TypeVar("Number", int, float)
# The least and the greatest number that is taken; None is no limit.
Bounds = tuple[Number, Number | None]


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """Variables that belong together; what is said before and after them (Markdown), and whether staff see them."""

    title: Words
    before: str = ""
    after: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """A variable, and what was told of it."""

    section: Section
    name: str
    default: object
    bounds: Bounds[float] | None
    secret: bool
    help: Words = ""
    unset: Words = ""

    @property
    def range(self) -> str:
        """The bounds of a number, as `1 – 100` or `≥ 1`; empty for others."""
        if self.bounds is None:
            return ""
        minimum, maximum = self.bounds
        return f"≥ {minimum:g}" if maximum is None else f"{minimum:g} – {maximum:g}"


# The variables that were read, by their names and in their order.
options: dict[str, Option] = {}
_sections = [Section("")]

PASSWORDS = "In a password the characters / ? # @ are written as %2F %3F %23 %40."
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


def section(title: Words, *, before: str = "", after: str = "", shown: bool = True) -> None:
    """Begin a section: variables that are read from now on belong to it."""
    _sections.append(Section(title, before, after, shown))


def rows() -> Iterator[tuple[Section, list[list[Option]]]]:
    """Yield the sections with their variables, those together that one text tells of."""
    for part, read in groupby(options.values(), lambda option: option.section):
        found: list[list[Option]] = []
        for option in read:
            if option.help or not found:
                found.append([])
            found[-1].append(option)
        yield part, found


def written(value: object) -> str:
    """Return a value as a variable holds it; languages are none where all are meant."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{name}:{weight:g}" for name, weight in value.items())
    if isinstance(value, tuple):
        return ",".join(value) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _given(name: str, default: object, *told: Words, bounds: Bounds[float] | None = None, secret: bool = False) -> str:
    """Return the variable without surrounding spaces, empty when unset, and note what was told of it."""
    options.setdefault(name, Option(_sections[-1], name, default, bounds, secret, *told))
    return os.environ.get(name, "").strip()


def unknown(*prefixes: str) -> list[str]:
    """Return the names of variables with one of the prefixes that are set, but that no reader has asked for."""
    return sorted(name for name in os.environ if name.startswith(prefixes) and name not in options)


def given(*names: str) -> tuple[str, ...]:
    """Return those of the variables that are set."""
    return tuple(name for name in names if os.environ.get(name, "").strip())


def text(name: str, default: str = "", *told: Words) -> str:
    """Return the variable without surrounding spaces, or `default` when unset or empty."""
    return _given(name, default, *told) or default


def secret(name: str, *told: Words) -> str:
    """Return a text that no page shows, empty when unset."""
    return _given(name, "", *told, secret=True)


def boolean(name: str, default: bool, *told: Words) -> bool:
    """Return a flag; takes 1/true/yes/on and 0/false/no/off in any case."""
    value = _given(name, default, *told).lower()
    if not value:
        return default
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes true or false.")
    return value in _TRUE


def integer(name: str, default: int, bounds: Bounds[int] = (0, None), *told: Words) -> int:
    """Return a whole number within the bounds."""
    value = _given(name, default, *told, bounds=bounds)
    return _number(int, "a whole number", name, value, bounds) if value else default


def optional_integer(name: str, bounds: Bounds[int], *told: Words) -> int | None:
    """Return a whole number within the bounds, or None when unset or 0."""
    return integer(name, 0, bounds, *told) or None


def decimal(name: str, default: float, bounds: Bounds[float] = (0.0, None), *told: Words) -> float:
    """Return a number within the bounds."""
    value = _given(name, default, *told, bounds=bounds)
    return _number(float, "a number", name, value, bounds) if value else default


def optional_decimal(name: str, *told: Words) -> float | None:
    """Return a number, or None when unset."""
    value = _given(name, None, *told)
    return _number(float, "a number", name, value, (-1e9, None)) if value else None


def _number(kind: type[Number], what: str, name: str, value: str, bounds: Bounds[Number]) -> Number:
    minimum, maximum = bounds
    takes = f"it takes {what} of at least {minimum}" + (f" and at most {maximum}" if maximum is not None else "")
    try:
        number = kind(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; {takes}.") from None
    if not number >= minimum or (maximum is not None and number > maximum):
        raise ImproperlyConfigured(f"{name} is {value}; {takes}.")
    return number


def choice(name: str, default: str, allowed: tuple[str, ...], *told: Words) -> str:
    """Return one of the allowed words."""
    value = text(name, default, *told)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes one of: {', '.join(allowed)}.")
    return value


def words(name: str, default: tuple[str, ...] = (), *told: Words) -> list[str]:
    """Return a comma-separated list."""
    return _parts(_given(name, default, *told)) or list(default)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def weights(name: str, default: dict[str, float], allowed: tuple[str, ...], *told: Words) -> dict[str, float]:
    """Return weights by name, written `name:weight, …`; the names are of those allowed, the weights not below 0."""
    parts = _parts(_given(name, default, *told))
    if not parts:
        return dict(default)
    found: dict[str, float] = {}
    for part in parts:
        word, colon, number = (piece.strip() for piece in part.partition(":"))
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not colon or word not in allowed or word in found or not 0 <= weight < float("inf"):
            raise ImproperlyConfigured(
                f"{name} has {part!r}; it takes name:weight, …, each name once and a weight of at least 0; "
                f"the names are: {', '.join(allowed)}."
            )
        found[word] = weight
    return found


def languages(name: str, known: tuple[str, ...], *told: Words) -> tuple[str, ...] | None:
    """Return a comma-separated list of known language codes, empty for `all`, or None when unset."""
    codes = [code.lower() for code in _parts(_given(name, None, *told))]
    if codes == ["all"]:
        return ()
    if unknown := [code for code in codes if code not in known]:
        raise ImproperlyConfigured(f"{name} holds {unknown[0]!r}; it takes all, or any of: {', '.join(known)}.")
    return tuple(codes) or None


def path(name: str, default: Path, *told: Words) -> Path:
    """Return an absolute path; `~` is expanded."""
    return Path(text(name, str(default), *told)).expanduser().resolve()


def time_zone(name: str, default: str, *told: Words) -> str:
    """Return the name of a time zone."""
    value = text(name, default, *told)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a time zone such as Asia/Shanghai.") from None
    return value


def url(name: str, schemes: tuple[str, ...], *told: Words, default: str = "") -> str:
    """Return a URL with one of the schemes and without a slash at its end, or `default` when unset.

    One that is refused is not shown: it may hold a password.
    """
    value = _given(name, default, *told).rstrip("/")
    if not value:
        return default
    takes = (
        f"{name} can't be read; it takes a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}."
    )
    try:
        parts = urlsplit(value)
        whole = parts.port is None or bool(parts.hostname)
    except ValueError:  # whose words may hold a part of the password
        whole = False
    if not whole or parts.scheme not in schemes or not (parts.netloc or parts.path):
        raise ImproperlyConfigured(f"{takes} {PASSWORDS}" if "http" not in schemes else takes)
    return value


def origins(name: str, *told: Words) -> list[str]:
    """Return a comma-separated list of origins (`https://app.example.org`), `["*"]` for any, or none when unset."""
    found = words(name, (), *told)
    for origin in found:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"):
            raise ImproperlyConfigured(
                f"{name} holds {origin!r}; it takes *, or origins like https://app.example.org, with commas between."
            )
    return found
