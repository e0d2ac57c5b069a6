"""Strict readers of the environment, used by `options.py` alone, and what was read with them.

Every reader raises `ImproperlyConfigured` with the variable's name and what it takes, so that a
typing error stops the start instead of being guessed around. What it is `told` is for people: what the
variable does, in Markdown (nothing: the one before says it), and, where its default is no value that
could be written down, what is taken when it is unset.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise

Words = str | Promise
Number = TypeVar("Number", int, float)
T = TypeVar("T")
# The least and the greatest number that is taken; None is no limit.
Bounds = tuple[Number, Number | None]
# When a variable may take another value: at a start only; at any time, by an administrator; or also per assistant.
Live = Literal["", "site", "assistant"]


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """Variables that belong together; what is said before and after them (Markdown), and whether staff see them."""

    title: Words
    before: str = ""
    after: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """A variable, and what was told of it.

    `parse` returns the value that a text stands for, or raises `ImproperlyConfigured` with the name and what it takes.
    """

    section: Section
    name: str
    default: object
    parse: Callable[[str], Any]
    bounds: Bounds[float] | None = None
    allowed: tuple[str, ...] = ()
    secret: bool = False
    live: Live = ""
    help: Words = ""
    unset: Words = ""

    @property
    def setting(self) -> str:
        """The name of the setting that it becomes."""
        return self.name.removeprefix("RAGSITE_")

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


def option_of(setting: str) -> Option | None:
    """Return the variable that becomes a setting, or None."""
    return options.get(setting) or options.get(f"RAGSITE_{setting}")


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


def _read(
    name: str,
    default: T,
    told: tuple[Words, ...],
    parse: Callable[[str], T],
    *,
    shown_default: object = ...,
    **noted: Any,
) -> T:
    """Return what the variable stands for, `default` when it is unset or empty, and note what was told of it."""
    shown = default if shown_default is ... else shown_default
    help_text, unset = (*told, "", "")[:2]
    options.setdefault(name, Option(_sections[-1], name, shown, parse, help=help_text, unset=unset, **noted))
    value = os.environ.get(name, "").strip()
    return parse(value) if value else default


def unknown(*prefixes: str) -> list[str]:
    """Return the names of variables with one of the prefixes that are set, but that no reader has asked for."""
    return sorted(name for name in os.environ if name.startswith(prefixes) and name not in options)


def given(*names: str) -> tuple[str, ...]:
    """Return those of the variables that are set."""
    return tuple(name for name in names if os.environ.get(name, "").strip())


def text(name: str, default: str = "", *told: Words) -> str:
    """Return the variable without surrounding spaces, or `default` when unset or empty."""
    return _read(name, default, told, str)


def secret(name: str, *told: Words) -> str:
    """Return a text that no page shows, empty when unset."""
    return _read(name, "", told, str, secret=True)


def boolean(name: str, default: bool, *told: Words, live: Live = "") -> bool:
    """Return a flag; takes 1/true/yes/on and 0/false/no/off in any case."""

    def parse(value: str) -> bool:
        if value.lower() not in _TRUE | _FALSE:
            raise ImproperlyConfigured(f"{name} is {value!r}; it takes true or false.")
        return value.lower() in _TRUE

    return _read(name, default, told, parse, live=live)


def integer(name: str, default: int, bounds: Bounds[int] = (0, None), *told: Words, live: Live = "") -> int:
    """Return a whole number within the bounds."""
    return _read(name, default, told, partial(_number, int, "a whole number", name, bounds), bounds=bounds, live=live)


def optional_integer(name: str, bounds: Bounds[int], *told: Words, live: Live = "") -> int | None:
    """Return a whole number within the bounds, or None when unset or 0."""

    def parse(value: str) -> int | None:
        return _number(int, "a whole number", name, bounds, value) or None

    return _read(name, None, told, parse, bounds=bounds, live=live, shown_default=0)


def decimal(name: str, default: float, bounds: Bounds[float] = (0.0, None), *told: Words, live: Live = "") -> float:
    """Return a number within the bounds."""
    return _read(name, default, told, partial(_number, float, "a number", name, bounds), bounds=bounds, live=live)


def optional_decimal(name: str, *told: Words, bounds: Bounds[float] = (-1e9, None), live: Live = "") -> float | None:
    """Return a number within the bounds, or None when unset."""
    shown = None if bounds[0] == -1e9 else bounds
    return _read(name, None, told, partial(_number, float, "a number", name, bounds), bounds=shown, live=live)


def _number(kind: type[Number], what: str, name: str, bounds: Bounds[Number], value: str) -> Number:
    minimum, maximum = bounds
    takes = f"it takes {what} of at least {minimum}" + (f" and at most {maximum}" if maximum is not None else "")
    try:
        number = kind(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; {takes}.") from None
    if not number >= minimum or (maximum is not None and number > maximum):
        raise ImproperlyConfigured(f"{name} is {value}; {takes}.")
    return number


def choice(name: str, default: str, allowed: tuple[str, ...], *told: Words, live: Live = "") -> str:
    """Return one of the allowed words."""

    def parse(value: str) -> str:
        if value not in allowed:
            raise ImproperlyConfigured(f"{name} is {value!r}; it takes one of: {', '.join(allowed)}.")
        return value

    return _read(name, default, told, parse, allowed=allowed, live=live)


def words(name: str, default: tuple[str, ...] = (), *told: Words) -> list[str]:
    """Return a comma-separated list."""
    return _read(name, list(default), told, lambda value: _parts(value) or list(default), shown_default=default)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def weights(
    name: str, default: dict[str, float], allowed: tuple[str, ...], *told: Words, live: Live = ""
) -> dict[str, float]:
    """Return weights by name, written `name:weight, …`; the names are of those allowed, the weights not below 0."""

    def parse(value: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for part in _parts(value):
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
        return found or dict(default)

    return _read(name, dict(default), told, parse, live=live)


def languages(name: str, known: tuple[str, ...], *told: Words) -> tuple[str, ...] | None:
    """Return a comma-separated list of known language codes, empty for `all`, or None when unset."""

    def parse(value: str) -> tuple[str, ...] | None:
        codes = [code.lower() for code in _parts(value)]
        if codes == ["all"]:
            return ()
        if unknown := [code for code in codes if code not in known]:
            raise ImproperlyConfigured(f"{name} holds {unknown[0]!r}; it takes all, or any of: {', '.join(known)}.")
        return tuple(codes) or None

    return _read(name, None, told, parse)


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

    takes = (
        f"{name} can't be read; it takes a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}."
    )

    def parse(value: str) -> str:
        try:
            parts = urlsplit(value)
            whole = parts.port is None or bool(parts.hostname)
        except ValueError:  # whose words may hold a part of the password
            whole = False
        if not whole or parts.scheme not in schemes or not (parts.netloc or parts.path):
            raise ImproperlyConfigured(f"{takes} {PASSWORDS}" if "http" not in schemes else takes)
        return value.rstrip("/")

    return _read(name, default, told, parse)


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
