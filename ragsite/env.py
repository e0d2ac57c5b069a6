"""Strict readers of environment variables, used only by `options.py`, and a registry of the variables.

Every reader raises `ImproperlyConfigured` with the variable's name and its valid values, so that a mistake prevents the
site from starting. The `texts` of a variable are its documentation: its meaning in Markdown, empty if described along
with the variable before, and a description of its default if that has no literal value.
"""

import os
import re
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
# The smallest and the largest valid number; None is no limit.
Bounds = tuple[Number, Number | None]
# How a setting can be changed: only by a restart, at any time by an administrator, or also per assistant.
Live = Literal["", "site", "assistant"]


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """A section of variables, with Markdown before and after them, and whether it is shown to staff."""

    title: Words
    before: str = ""
    after: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """A variable and its documentation.

    `parse` returns the value of a text, or raises `ImproperlyConfigured` with the variable's name and valid values.
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
        """The name of its Django setting."""
        return self.name.removeprefix("RAGSITE_")

    @property
    def range(self) -> str:
        """The bounds of a number, as `1 – 100` or `≥ 1`; empty for others."""
        if self.bounds is None:
            return ""
        minimum, maximum = self.bounds
        return f"≥ {minimum:g}" if maximum is None else f"{minimum:g} – {maximum:g}"


# The variables that were read, by name and in order.
options: dict[str, Option] = {}
_sections = [Section("")]

PASSWORDS = "In a password, write the characters / ? # @ as %2F %3F %23 %40."
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


def section(title: Words, *, before: str = "", after: str = "", shown: bool = True) -> None:
    """Begin a section, to which variables that are read from now on belong."""
    _sections.append(Section(title, before, after, shown))


def option_of(setting: str) -> Option | None:
    """Return the variable of a setting, or None."""
    return options.get(setting) or options.get(f"RAGSITE_{setting}")


def rows() -> Iterator[tuple[Section, list[list[Option]]]]:
    """Yield the sections with their variables, grouped by those that share a description."""
    for part, read in groupby(options.values(), lambda option: option.section):
        found: list[list[Option]] = []
        for option in read:
            if option.help or not found:
                found.append([])
            found[-1].append(option)
        yield part, found


def written(value: object) -> str:
    """Return a value as written in a variable; an empty tuple of languages means all."""
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
    texts: tuple[Words, ...],
    parse: Callable[[str], T],
    *,
    shown_default: object = ...,
    **noted: Any,
) -> T:
    """Return the variable's value, or `default` if it is unset or empty, and register the variable."""
    shown = default if shown_default is ... else shown_default
    help_text, unset = (*texts, "", "")[:2]
    options.setdefault(name, Option(_sections[-1], name, shown, parse, help=help_text, unset=unset, **noted))
    value = os.environ.get(name, "").strip()
    return parse(value) if value else default


def unknown(*prefixes: str) -> list[str]:
    """Return the names of set variables with one of the prefixes that no reader has read."""
    return sorted(name for name in os.environ if name.startswith(prefixes) and name not in options)


def given(*names: str) -> tuple[str, ...]:
    """Return the names of the variables that are set."""
    return tuple(name for name in names if os.environ.get(name, "").strip())


def text(name: str, default: str = "", *texts: Words, most: int | None = None, live: Live = "") -> str:
    """Return the variable without surrounding white space, or `default` if it is unset or empty.

    It is one line of at most `most` characters.
    """

    def parse(value: str) -> str:
        if most is not None and (len(value) > most or not value.isprintable()):
            raise ImproperlyConfigured(f"{name} must be one line of at most {most} characters.")
        return value

    return _read(name, default, texts, parse, live=live)


def colour(name: str, default: str, *texts: Words, live: Live = "") -> str:
    """Return a colour, written as in `#4f46e5`."""

    def parse(value: str) -> str:
        if not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be a colour such as {default}.")
        return value.lower()

    return _read(name, default, texts, parse, live=live)


def secret(name: str, *texts: Words) -> str:
    """Return a text that no page shows, empty if unset."""
    return _read(name, "", texts, str, secret=True)


def boolean(name: str, default: bool, *texts: Words, live: Live = "") -> bool:
    """Return a flag, written as 1/true/yes/on or 0/false/no/off in any case."""

    def parse(value: str) -> bool:
        if value.lower() not in _TRUE | _FALSE:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be true or false.")
        return value.lower() in _TRUE

    return _read(name, default, texts, parse, live=live)


def integer(name: str, default: int, bounds: Bounds[int] = (0, None), *texts: Words, live: Live = "") -> int:
    """Return a whole number within the bounds."""
    return _read(name, default, texts, partial(_number, int, "a whole number", name, bounds), bounds=bounds, live=live)


def optional_integer(name: str, bounds: Bounds[int], *texts: Words, live: Live = "") -> int | None:
    """Return a whole number within the bounds, or None if unset or 0."""

    def parse(value: str) -> int | None:
        return _number(int, "a whole number", name, bounds, value) or None

    return _read(name, None, texts, parse, bounds=bounds, live=live, shown_default=0)


def decimal(name: str, default: float, bounds: Bounds[float] = (0.0, None), *texts: Words, live: Live = "") -> float:
    """Return a number within the bounds."""
    return _read(name, default, texts, partial(_number, float, "a number", name, bounds), bounds=bounds, live=live)


def optional_decimal(name: str, *texts: Words, bounds: Bounds[float] = (-1e9, None), live: Live = "") -> float | None:
    """Return a number within the bounds, or None if unset."""
    shown = None if bounds[0] == -1e9 else bounds
    return _read(name, None, texts, partial(_number, float, "a number", name, bounds), bounds=shown, live=live)


def _number(kind: type[Number], what: str, name: str, bounds: Bounds[Number], value: str) -> Number:
    minimum, maximum = bounds
    valid = f"it must be {what} of at least {minimum}" + (f" and at most {maximum}" if maximum is not None else "")
    try:
        number = kind(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; {valid}.") from None
    if not number >= minimum or (maximum is not None and number > maximum):
        raise ImproperlyConfigured(f"{name} is {value}; {valid}.")
    return number


def choice(name: str, default: str, allowed: tuple[str, ...], *texts: Words, live: Live = "") -> str:
    """Return one of the allowed words."""

    def parse(value: str) -> str:
        if value not in allowed:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of: {', '.join(allowed)}.")
        return value

    return _read(name, default, texts, parse, allowed=allowed, live=live)


def words(name: str, default: tuple[str, ...] = (), *texts: Words) -> list[str]:
    """Return a comma-separated list."""
    return _read(name, list(default), texts, lambda value: _parts(value) or list(default), shown_default=default)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def weights(
    name: str, default: dict[str, float], allowed: tuple[str, ...], *texts: Words, live: Live = ""
) -> dict[str, float]:
    """Return weights by name, written as `name:weight, …`, with names from `allowed` and weights of at least 0."""

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
                    f"{name} contains {part!r}; it must be name:weight, …, with each name at most once and weights of "
                    f"at least 0. Valid names are: {', '.join(allowed)}."
                )
            found[word] = weight
        return found or dict(default)

    return _read(name, dict(default), texts, parse, live=live)


def languages(name: str, known: tuple[str, ...], *texts: Words) -> tuple[str, ...] | None:
    """Return a comma-separated list of known language codes, empty for `all`, or None if unset."""

    def parse(value: str) -> tuple[str, ...] | None:
        codes = [code.lower() for code in _parts(value)]
        if codes == ["all"]:
            return ()
        if unknown := [code for code in codes if code not in known]:
            raise ImproperlyConfigured(
                f"{name} contains {unknown[0]!r}; it must be all, or any of: {', '.join(known)}."
            )
        return tuple(codes) or None

    return _read(name, None, texts, parse)


def path(name: str, default: Path, *texts: Words) -> Path:
    """Return an absolute path; `~` is expanded."""
    return Path(text(name, str(default), *texts)).expanduser().resolve()


def time_zone(name: str, default: str, *texts: Words) -> str:
    """Return the name of a time zone."""
    value = text(name, default, *texts)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a time zone such as Asia/Shanghai.") from None
    return value


def url(name: str, schemes: tuple[str, ...], *texts: Words, default: str = "") -> str:
    """Return a URL with one of the schemes and without a trailing slash, or `default` if unset.

    Error messages don't show the URL, since it may contain a password.
    """
    starts = " or ".join(f"{scheme}://" for scheme in schemes)
    message = f"{name} can't be read; it must be a URL that starts with {starts}."

    def parse(value: str) -> str:
        try:
            parts = urlsplit(value)
            whole = parts.port is None or bool(parts.hostname)
        except ValueError:  # its message may contain a part of the password
            whole = False
        if not whole or parts.scheme not in schemes or not (parts.netloc or parts.path):
            raise ImproperlyConfigured(f"{message} {PASSWORDS}" if "http" not in schemes else message)
        return value.rstrip("/")

    return _read(name, default, texts, parse)


def origins(name: str, *texts: Words) -> list[str]:
    """Return a comma-separated list of origins (`https://app.example.org`), `["*"]` for any, empty if unset."""
    found = words(name, (), *texts)
    for origin in found:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"):
            raise ImproperlyConfigured(
                f"{name} contains {origin!r}; it must be *, or comma-separated origins like https://app.example.org."
            )
    return found
