"""Simplified and traditional Chinese as one script, for searches and rules; texts are shown as written. Pure."""

import re
from functools import cache

# The first code point after the Basic Multilingual Plane; characters beyond it are rare and stay as they are.
_END = 0x10000
# The Han characters of the plane.
_BEGIN_HAN, _END_HAN = 0x3400, 0xA000
# Characters that OpenCC keeps, since both are traditional (妳), or replaces in a simplified name too (哪吒).
_FORMS = dict(zip("妳牠咤", "你它吒", strict=True))
# Words whose characters have other forms in them, written character by character, and as they should be.
_WORDS = (("甚么", "什么"), ("瞭解", "了解"), ("干隆", "乾隆"), ("干坤", "乾坤"))


def simplified(text: str) -> str:
    """Return a text of the same length with each traditional Chinese character in its simplified form.

    Characters are replaced one by one, by OpenCC's table, regardless of the words around them: so that a place in the
    result is the same place in the text, and a word has the same form wherever it stands. Doing it twice changes
    nothing more.
    """
    if text.isascii() or not _affected().search(text):
        return text
    text = text.translate(_table())
    for by_character, word in _WORDS:
        text = text.replace(by_character, word)
    return text


def as_written(part: str, text: str) -> str:
    """Return a part of a text's simplified form as the text has it; a part of another text is returned unchanged."""
    place = -1 if text.isascii() else simplified(text).find(part)
    return part if place < 0 else text[place : place + len(part)]


def forms(character: str) -> str:
    """Return all characters with the same simplified form as one, itself among them."""
    return _forms().get(simplified(character), character)


def pattern(text: str) -> str:
    """Return a regular expression, for Python or PostgreSQL, that matches a text in either script."""
    found = ((character, forms(character)) for character in text)
    return "".join(f"[{each}]" if len(each) > 1 else re.escape(character) for character, each in found)


@cache
def _affected() -> re.Pattern[str]:
    """Return the pattern of characters that may have another form: finding none takes a tenth of replacing them."""
    changed = (chr(point) for point, form in enumerate(_table()) if chr(point) != form)
    return re.compile(f"[{''.join(changed)}甚瞭]")


@cache
def _forms() -> dict[str, str]:
    found: dict[str, str] = {}
    for character, form in zip(map(chr, range(_BEGIN_HAN, _END_HAN)), _table()[_BEGIN_HAN:_END_HAN], strict=True):
        found[form] = found.get(form, "") + character
    return found


@cache  # built on first use: it takes 30 ms
def _table() -> str:
    """Return the simplified form of each character, at its code point."""
    from opencc import OpenCC  # imported late: few processes analyse Chinese text at their start

    # With the forms used in Hong Kong. Converted twice, since some simplified forms are traditional ones of others.
    converter = OpenCC("hk2s")
    characters = [chr(point) for point in range(_END)]
    # On lines of their own, so that no two are converted as a word.
    lines = converter.convert(converter.convert("\n".join(characters[_BEGIN_HAN:_END_HAN])))
    characters[_BEGIN_HAN:_END_HAN] = [_FORMS.get(form, form) for form in lines.split("\n")]
    return "".join(characters)
