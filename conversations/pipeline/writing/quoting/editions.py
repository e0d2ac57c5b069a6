"""Recognises documents that are versions of one thing: the rules of 2022 and those of 2024. Pure.

Two documents are versions of one thing if their titles, file names or first lines are equal except for dates and
version numbers, and if these differ.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of
from retrieval.search import Hit

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "|".join(f"{month}[a-z]*" for month in _MONTHS)
_YEAR = r"(?<!\d)(?:19|20)\d{2}(?!\d)"
_DATE = re.compile(
    rf"(?P<y1>{_YEAR})[-/.](?P<m1>\d{{1,2}})(?:[-/.](?P<d1>\d{{1,2}}))?(?!\d)"
    rf"|(?P<y2>{_YEAR})\s*年(?:\s*(?P<m2>\d{{1,2}})\s*月(?:\s*(?P<d2>\d{{1,2}})\s*[日号])?)?"
    rf"|(?:(?P<d3>\d{{1,2}})\.?\s+)?\b(?P<m3>{_MONTH})\.?\s+(?:(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<y3>{_YEAR})"
    rf"|(?P<y4>{_YEAR})",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?<![a-z])(?:version|ver\.?|v|rev(?:ision)?\.?|edition|版本[号：:\s]*v?|第)\s*(?P<a>\d{1,3}(?:\.\d{1,3}){0,2})(?![\d年月日条章])"
    r"(?:\s*版)?|(?P<b>\d{1,2})(?:st|nd|rd|th)\s+edition",
    re.IGNORECASE,
)
# What a document takes effect with, and what it says of the one that it replaces.
_IN_FORCE = re.compile(
    r"(?:valid|effective|in force|in effect|applies|applicable|published|issued|as of|dated?|since|from)\b"
    r"[^.;\n]{0,30}?"
    rf"(?P<a>{_DATE.pattern.replace('(?P<', '(?P<a_')})"
    rf"|(?:自|于|发布|修订|生效|施行|日期|版本)[^。；\n]{{0,12}}?(?P<z>{_DATE.pattern.replace('(?P<', '(?P<z_')})"
    rf"|(?P<w>{_DATE.pattern.replace('(?P<', '(?P<w_')})\s*(?:起|发布|修订|生效|施行|实施|版)",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"[^.;\n。；，]*(?:replac|supersed|repeal|in place of|instead of|取代|代替|替代|废止|作废|失效)[^.;\n。；]*",
    re.IGNORECASE,
)
_NOISE = re.compile(rf"\b(?:{'|'.join(filter(str.isascii, words_of('edition_words')))})\b", re.IGNORECASE)
_NOISE_ZH = re.compile("|".join(word for word in words_of("edition_words") if not word.isascii()))
_OTHERS = re.compile(
    r"\b(?:other|another|all|each|every|both|previous|former|earlier|last|next|old|older|new|newer|latest|current"
    r"|compar\w+|change[ds]?)\b|其他|其它|另|所有|各|每|以前|之前|上一|下一|旧|新|去年|今年|明年|现行|比|变化",
    re.IGNORECASE,
)
_LEAST_LETTERS = 4  # of a name without its dates; Chinese characters count twice


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a document says of itself: its title, its file name, its first passage, and dates that people gave it."""

    title: str
    filename: str
    text: str
    dates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edition:
    """A document among versions of one thing: its place in their order, its name with its date, and its marks.

    `marks` are its year and version as they may stand in a question; `group` is the id of the first of the documents.
    """

    group: int
    order: tuple[tuple[int, ...], tuple[int, ...]]
    label: str
    marks: frozenset[str]
    replaces: bool = False


@dataclass(slots=True)
class _Dated:
    names: set[str]
    date: tuple[int, ...] = ()
    version: tuple[int, ...] = ()
    replaces: bool = False
    shown: list[str] = field(default_factory=list)


def editions(hits: Sequence[Hit], beginnings: Mapping[int, Beginning]) -> dict[int, Edition]:
    """Return the editions among the documents of hits, by document; documents without another version are left out."""
    dated = {
        key: _dated(beginnings[key]) for key in dict.fromkeys(hit.document_id for hit in hits) if key in beginnings
    }
    found: dict[int, Edition] = {}
    for key, own in dated.items():
        others = [other for other in dated if other != key and _are_versions(own, dated[other])]
        if not others:
            continue
        title = beginnings[key].title or beginnings[key].filename
        shown = [text for text in own.shown if text not in title]
        found[key] = Edition(
            group=min(key, *others),
            order=(own.date, own.version),
            label=f"{title} ({', '.join(shown)})" if shown else title,
            marks=frozenset([*map(str, own.date[:1]), "v" + ".".join(map(str, own.version))]),
            replaces=own.replaces,
        )
    return found


def asked_for(question: str, found: Mapping[int, Edition]) -> set[int]:
    """Return the documents whose year or version a question names; empty if it names none or all of them."""
    marks = {match[0] for match in re.finditer(_YEAR, question)}
    if version := _version(question):
        marks.add(f"v{version}")
    named = {key for key, edition in found.items() if edition.marks & marks}
    return named if len(named) < len(found) else set()


def concerns_versions(question: str) -> bool:
    """Return whether a question names a year or a version, or asks for others, all or a comparison of them."""
    return bool(re.search(_YEAR, question) or _version(question) or _OTHERS.search(simplified(question)))


def _are_versions(one: _Dated, other: _Dated) -> bool:
    dates = one.date and other.date and one.date != other.date
    versions = one.version and other.version and one.version != other.version
    return bool(one.names & other.names) and bool(dates or versions)


def _dated(beginning: Beginning) -> _Dated:
    stem = beginning.filename.rpartition(".")[0] or beginning.filename
    first = next((line.lstrip("# ") for line in beginning.text.splitlines() if line.strip()), "")
    heads = [beginning.title, stem, first if len(first) <= 80 else ""]
    names = {bare for text in heads if (bare := bare_name(text)) and _width(bare) >= _LEAST_LETTERS}
    text = simplified(beginning.text[:600])
    own = _Dated(names, replaces=bool(_REPLACES.search(text)))
    others_left_out = _REPLACES.sub(" ", text)
    in_force = _IN_FORCE.search(others_left_out)
    for source in (in_force[0] if in_force else "", beginning.title, stem, *beginning.dates, others_left_out):
        if date := _date(source):
            # A title's year is made precise by the text, unless they contradict each other.
            own.date = own.date or date
            break
    if titled := _date(f"{beginning.title} {stem}"):
        own.date = own.date if own.date[:1] == titled[:1] else titled
    for source in (beginning.title, stem, others_left_out):
        if version := _version(source):
            own.version = tuple(map(int, version.split(".")))
            own.shown.append(f"V{version}")
            break
    if own.date:
        own.shown.append(str(own.date[0]))
    return own


def _date(text: str) -> tuple[int, ...]:
    match = _DATE.search(text)
    if match is None:
        return ()
    year = next(value for name in ("y1", "y2", "y3", "y4") if (value := match[name]))
    month = match["m1"] or match["m2"] or match["m3"] or "0"
    day = match["d1"] or match["d2"] or match["d3"] or match["d4"] or "0"
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return int(year), number, int(day)


def _version(text: str) -> str:
    match = _VERSION.search(simplified(text))
    return (match["a"] or match["b"]) if match else ""


def bare_name(text: str) -> str:
    """Return a document's name without dates, versions and punctuation."""
    text = _NOISE_ZH.sub("", _NOISE.sub("", _VERSION.sub("", _DATE.sub("", simplified(text)))))
    return re.sub(r"[\W_]+", "", text).casefold()


def _width(text: str) -> int:
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)
