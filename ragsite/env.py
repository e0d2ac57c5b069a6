"""Strict readers of the environment, used by `options.py` alone, and what was read with them.

Every reader raises `ImproperlyConfigured` with the variable's name and what it takes, so that a
typing error stops the start instead of being guessed around. What a reader is told of a variable
beside its default is for people: `help` says in Markdown what it does (none: as the one before), and
`unset`, in words, what is taken where nothing is set, if that is no value that could be written down.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise

Words = str | Promise


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """Variables that belong together; what is said before and after them (Markdown), and whether staff see them."""

    title: Words
    before: str = ""
    after: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """A variable; `bounds` are those of a number, as `1–100` or `≥ 1`."""

    name: str
    default: object
    help: Words
    unset: Words
    bounds: str
    secret: bool
    section: Section | None


# The variables that were read, by their names and in their order.
options: dict[str, Option] = {}
_sections: list[Section] = []

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
        if part:
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


def _given(
    name: str, default: object, help: Words, unset: Words = "", *, bounds: str = "", secret: bool = False
) -> str:
    """Return the variable without surrounding spaces, empty when unset, and note what was told of it."""
    part = _sections[-1] if _sections else None
    options.setdefault(name, Option(name, default, help, unset, bounds, secret, part))
    return os.environ.get(name, "").strip()


def _bounds(minimum: float, maximum: float | None) -> str:
    return f"≥ {minimum:g}" if maximum is None else f"{minimum:g} – {maximum:g}"


def unknown(prefix: str) -> list[str]:
    """Return the names of variables with the prefix that are set, but that no reader has asked for."""
    return sorted(name for name in os.environ if name.startswith(prefix) and name not in options)


def text(name: str, default: str = "", help: Words = "", *, unset: Words = "") -> str:
    """Return the variable without surrounding spaces, or `default` when unset or empty."""
    return _given(name, default, help, unset) or default


def secret(name: str, help: Words = "", *, unset: Words = "") -> str:
    """Return a text that no page shows, empty when unset."""
    return _given(name, "", help, unset, secret=True)


def boolean(name: str, default: bool, help: Words = "") -> bool:
    """Return a flag; takes 1/true/yes/on and 0/false/no/off in any case."""
    value = _given(name, default, help).lower()
    if not value:
        return default
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes true or false.")
    return value in _TRUE


def integer(
    name: str, default: int, help: Words = "", *, minimum: int = 0, maximum: int | None = None, unset: Words = ""
) -> int:
    """Return a whole number within the bounds."""
    value = _given(name, default, help, unset, bounds=_bounds(minimum, maximum))
    if not value:
        return default
    bounds = f"a whole number of at least {minimum}" + (f" and at most {maximum}" if maximum is not None else "")
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes {bounds}.") from None
    if number < minimum or (maximum is not None and number > maximum):
        raise ImproperlyConfigured(f"{name} is {number}; it takes {bounds}.")
    return number


def optional_integer(
    name: str, help: Words = "", *, minimum: int = 0, maximum: int | None = None, unset: Words = ""
) -> int | None:
    """Return a whole number within the bounds, or None when unset or 0."""
    return integer(name, 0, help, minimum=minimum, maximum=maximum, unset=unset) or None


def decimal(
    name: str, default: float, help: Words = "", *, minimum: float = 0.0, maximum: float | None = None
) -> float:
    """Return a number within the bounds."""
    value = _given(name, default, help, bounds=_bounds(minimum, maximum))
    return _decimal(name, value, minimum, maximum) if value else default


def optional_decimal(name: str, help: Words = "", *, unset: Words = "") -> float | None:
    """Return a number, or None when unset."""
    value = _given(name, None, help, unset)
    return _decimal(name, value, -1e9, None) if value else None


def _decimal(name: str, value: str, minimum: float, maximum: float | None) -> float:
    bounds = f"a number of at least {minimum}" + (f" and at most {maximum}" if maximum is not None else "")
    try:
        number = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes {bounds}.") from None
    if not number >= minimum or (maximum is not None and number > maximum):
        raise ImproperlyConfigured(f"{name} is {value}; it takes {bounds}.")
    return number


def choice(name: str, default: str, allowed: tuple[str, ...], help: Words = "") -> str:
    """Return one of the allowed words."""
    value = text(name, default, help)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes one of: {', '.join(allowed)}.")
    return value


def words(name: str, default: tuple[str, ...] = (), help: Words = "") -> list[str]:
    """Return a comma-separated list."""
    return _parts(_given(name, default, help)) or list(default)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def weights(name: str, default: dict[str, float], allowed: tuple[str, ...], help: Words = "") -> dict[str, float]:
    """Return weights by name, written `name:weight, …`; the names are of those allowed, the weights not below 0."""
    parts = _parts(_given(name, default, help))
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


def languages(name: str, known: tuple[str, ...], help: Words = "", *, unset: Words = "") -> tuple[str, ...] | None:
    """Return a comma-separated list of known language codes, empty for `all`, or None when unset."""
    codes = [code.lower() for code in _parts(_given(name, None, help, unset))]
    if codes == ["all"]:
        return ()
    if unknown := [code for code in codes if code not in known]:
        raise ImproperlyConfigured(f"{name} holds {unknown[0]!r}; it takes all, or any of: {', '.join(known)}.")
    return tuple(codes) or None


def path(name: str, default: Path, help: Words = "", *, unset: Words = "") -> Path:
    """Return an absolute path; `~` is expanded."""
    return Path(text(name, str(default), help, unset=unset)).expanduser().resolve()


def time_zone(name: str, default: str, help: Words = "") -> str:
    """Return the name of a time zone."""
    value = text(name, default, help)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a time zone such as Asia/Shanghai.") from None
    return value


def url(name: str, schemes: tuple[str, ...], help: Words = "", *, default: str = "", unset: Words = "") -> str:
    """Return a URL with one of the schemes and without a slash at its end, or `default` when unset.

    One that is refused is not shown: it may hold a password.
    """
    value = _given(name, default, help, unset).rstrip("/")
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


def origins(name: str, help: Words = "") -> list[str]:
    """Return a comma-separated list of origins (`https://app.example.org`), `["*"]` for any, or none when unset."""
    found = words(name, (), help)
    for origin in found:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"):
            raise ImproperlyConfigured(
                f"{name} holds {origin!r}; it takes *, or origins like https://app.example.org, with commas between."
            )
    return found
