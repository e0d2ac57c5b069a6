"""Facts that an answer must repeat word for word from its source: quotations, names and codes. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from ragsite.language.analysis import STOP_WORDS
from ragsite.language.detection import HAN_BMP
from ragsite.language.quantities import fold, is_unit
from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_lists import words_of
from ragsite.language.word_tokens import PARTICLES

_QUOTED = re.compile(r"“([^“”]{2,})”|\"([^\"]{2,})\"|「([^「」]{2,})」|『([^『』]{2,})』|‘([^‘’]{2,})’")
# Text in quotation marks with fewer words or characters is a term rather than a quotation.
_QUOTATION_WORDS, _QUOTATION_CHARACTERS = 3, 6
_CODE = re.compile(r"(?<![\w.-])[A-Za-z0-9]+(?:[-_./:+#@][A-Za-z0-9]+)*(?![\w-])")
_MIXED = re.compile(r"^(?!\d+(?:\.\d+)?-?[A-Za-z]+$|[cdkm]?m[23]$)(?=.*\d)(?=.*[A-Za-z])")
_JOINED = re.compile(r"^(?!\d+(?:\.\d+)?-?[A-Za-z]+$|and/or$|[ei]\.[eg]$)(?=.*[A-Za-z]).*\w[_./:@]\w")
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*\w")
_CAMEL = re.compile(r"^[a-z]{2,}[A-Z]|^[a-z][A-Z]\w{2}")
_VERSION = re.compile(r"^\d+(?:\.\d+){2,}$")
# A code of a series: letters and a number, which others of the series have too; and a range of them.
_SERIAL = re.compile(r"(?<![A-Za-z0-9_.-])([A-Za-z]{1,10})-?(\d{1,9})[A-Za-z]{0,3}(?![A-Za-z0-9_])")
_RANGE = re.compile(
    r"(?<![A-Za-z0-9])([A-Za-z]{1,10})-?(\d{1,9})\s*(?:to|through|until|[-–—~～至到])\s*(?:[A-Za-z]{1,10}-?)?(\d{1,9})(?!\d)"
)
_LATIN_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Za-zÀ-ɏ0-9'’-]*(?:\.[A-Z][A-Za-z]*)*")
_STARTS = re.compile(r"[.!?:;。！？：；]\s*[\"“(（]?$")
_TITLED = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\.\s*$")
# The length of the longest unit name that is an abbreviation and may therefore be a name as well.
_ABBREVIATED = 4
_WORD = re.compile(r"[A-Za-zÀ-ɏ][\w'’-]*")
_HAN = re.compile(f"[{HAN_BMP}]+")
_TITLE = re.compile(r"《([^《》]+)》")
_INITIALS = re.compile(r"^[A-Z]{2,6}$")
# Endings that turn the name of a country into that of its people, and how many letters must be left without them.
_PEOPLE_ENDINGS = "e|a|o|y|an|ian|ean|n|ese|ish|i"
_PEOPLE = re.compile(rf"(?:{_PEOPLE_ENDINGS})$")
_ROOT = 4
# Capitalised without being names.
_CALENDAR = frozenset(words_of("calendar_words"))
# jieba's tags for places and organisations. Words that it tags as people's names must begin with a common surname.
_PLACE_TAGS = frozenset({"ns", "nt"})
_SURNAMES = frozenset(words_of("surnames"))
# Everyday words that jieba tags as names.
_NO_NAMES = frozenset(words_of("everyday_words"))
# 张 and other surnames are also measure words: 这张表.
_COUNTED = re.compile(r"[这那该每某几两一二三四五六七八九十\d]$")


def code_in_a_series(text: str, sources: Iterable[str]) -> str:
    """Return a code in a text that sources lack though they have others of its series, or "".

    LS-2412 isn't among LS-2408 and LS-2424; other spellings (`LS2408`), forms (`LS-2408P`) and a range with it are it.
    """
    asked = list(_SERIAL.finditer(text))
    if not asked:
        return ""
    held, known, ranges = "", set[str](), list[tuple[str, int, int]]()
    for source in sources:
        held += f" {letters_and_digits(source)}"
        known |= {letters_and_digits(match[0]) for match in _SERIAL.finditer(source)}
        ranges += [(match[1].lower(), int(match[2]), int(match[3])) for match in _RANGE.finditer(source)]
    for match in asked:
        code, series, number = letters_and_digits(match[0]), match[1].lower(), match[2]
        same = re.compile(rf"{series}\d{{{len(number)}}}(?!\d)")
        is_known = code in held or any(code.startswith(each) for each in known)
        is_within = any(kind == series and first <= int(number) <= last for kind, first, last in ranges)
        if not (is_known or is_within) and any(map(same.match, known)):
            return match[0]
    return ""


def quotations(text: str) -> list[str]:
    """Return the quotations in a sentence: text in quotation marks that is longer than a term."""
    found = ["".join(match) for match in _QUOTED.findall(text)]
    return [
        quoted
        for quoted in found
        if len(_WORD.findall(quoted)) >= _QUOTATION_WORDS or len("".join(_HAN.findall(quoted))) >= _QUOTATION_CHARACTERS
    ]


def is_quoted(quotation: str, source: str) -> bool:
    """Return whether a source contains a quotation, ignoring case, spaces and punctuation."""
    return letters_and_digits(quotation) in letters_and_digits(source)


def letters_and_digits(text: str) -> str:
    """Return a text's letters and digits only, in lower case and simplified Chinese."""
    return re.sub(r"[\W_]+", "", simplified(fold(text))).casefold()


def names(text: str) -> list[str]:
    """Return the names and codes in a sentence, which can't be paraphrased."""
    return [as_written(name, text) for name in _names(simplified(text))]


@lru_cache(1_024)  # the same clauses are checked again and again
def _names(text: str) -> tuple[str, ...]:
    # Model numbers, versions, identifiers and addresses, but not a number with its unit (`10GB`).
    codes = [
        code
        for code in _CODE.findall(text)
        if not code.islower() or not code.isalpha()
        if any(pattern.search(code) for pattern in (_MIXED, _JOINED, _CAMEL, _VERSION))
    ]
    # Chinese names in quotation marks, which are short; the marks are kept.
    quoted = [f"“{''.join(match)}”" for match in _QUOTED.findall(text) if _HAN.search("".join(match))]
    found = [
        *_OPTION.findall(text),
        *codes,
        *_latin_names(text),
        *_TITLE.findall(text),
        *(name for name in quoted if not quotations(name)),
        *(name for run in _HAN.findall(text) for name in _tagged(run)),
    ]
    return tuple(dict.fromkeys(found))


def is_named(name: str, source: str) -> bool:
    """Return whether a source contains a name: a Latin one as a whole word, a Chinese one also in a longer form."""
    if name[0] == "“":
        return is_quoted(name, source)
    name, source = simplified(name), simplified(source)
    if _HAN.search(name):
        longer = re.search(".{0,2}".join(map(re.escape, letters_and_digits(name))), letters_and_digits(source))
        return bool(longer) or any(name[at : at + 2] in source for at in range(1, len(name) - 1))
    bare = re.sub(r"['’]s?$", "", name)
    stem = bare[:-1] if len(bare) > 3 and bare.endswith("s") else bare
    if re.search(rf"(?<![A-Za-z]){re.escape(stem)}s?(?![A-Za-z0-9])", source, re.IGNORECASE):
        return True
    if _INITIALS.match(bare):  # of consecutive words: WHO, World Health Organization
        words = r"[\w’']*[\s-]+(?:(?:of|the|and|for|in|on)\s+){0,2}".join(bare)
        if re.search(rf"\b{words}[A-Za-z]", source, re.IGNORECASE):
            return True
    # The people of a country, or the country of a people: Chilean and Chile.
    root = _PEOPLE.sub("", bare)
    if len(root) < _ROOT or not root.isalpha():
        return False
    return re.search(rf"\b{root}(?:{_PEOPLE_ENDINGS})?\b", source) is not None


def are_alike(one: str, other: str) -> bool:
    """Return whether two names are of the same kind: codes, Chinese, abbreviations or other words."""
    return _kind(one) == _kind(other)


def _kind(name: str) -> str:
    if _HAN.search(name):
        return "chinese"
    if re.search(r"[\d_./:@]", name):
        return "code"
    return "abbreviation" if name.isupper() else "word"


def _latin_names(text: str) -> list[str]:
    """Return capitalised words; the first word of a sentence only if it has other capitals, too."""
    found = []
    for match in _LATIN_NAME.finditer(text):
        word = match[0]
        if word.lower() in _CALENDAR or word.lower() in STOP_WORDS or len(word) < 2:
            continue
        first = not re.search(r"\w", text[: match.start()])
        before = text[: match.start()]
        starts = bool(_STARTS.search(before)) and not _TITLED.search(before)
        if is_unit(word) and (len(word) > _ABBREVIATED or re.search(r"\d\s?$", text[: match.start()])):
            continue
        sure = word[1:] != word[1:].lower()
        if sure or not (first or starts):
            found.append(word)
    return found


def _tagged(run: str) -> list[str]:
    import rjieba  # reads its dictionary when loaded

    found = []
    for (before, _), (word, tag) in pairwise([("", ""), *rjieba.tag(run)]):
        if len(word) > 1 and (tag in _PLACE_TAGS or (_is_person(word, tag) and not _COUNTED.search(before))):
            # Strip particles that jieba left at either end: 对耶伦, 耶伦是.
            begin = int(len(word) > 2 and word[0] in PARTICLES)
            name = word[begin:]
            found.append(name[:-1] if len(name) > 2 and name[-1] in PARTICLES else name)
    return found


def _is_person(word: str, tag: str) -> bool:
    """Return whether a word is a person's or company's name: it has a common surname or isn't in the dictionary."""
    if not tag.startswith("nr") or len(word) > 4 or word in _NO_NAMES:
        return False
    if {word[0], word[:2]} & _SURNAMES:
        return True
    import rjieba  # reads its dictionary when loaded

    return len(rjieba.cut(word, False)) > 1
