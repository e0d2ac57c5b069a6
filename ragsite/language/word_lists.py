"""The word lists in `words/`, one per file; lines that begin with `#` are comments.

Lists of phrases have one item per line (`lines_of`, `alternatives`); words are separated by white space (`words_of`).
"""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("words")


@cache
def lines_of(name: str) -> tuple[str, ...]:
    """Return the lines of `words/NAME.txt`, without empty lines and comments."""
    lines = _FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in map(str.strip, lines) if line and not line.startswith("#"))


def words_of(name: str) -> list[str]:
    """Return the words of a list, separated by white space."""
    return " ".join(lines_of(name)).split()


def alternatives(name: str) -> tuple[str, str]:
    """Return the English and the Chinese lines of a list, each joined as alternatives of a regular expression."""
    items = [item.replace(" ", r"\s+") for item in lines_of(name)]
    return "|".join(filter(str.isascii, items)), "|".join(item for item in items if not item.isascii())


GREETINGS_EN, GREETINGS_ZH = alternatives("greetings")
INTERROGATIVES_EN, INTERROGATIVES_ZH = alternatives("interrogatives")
