"""Numbers in running text with their units, however they are written. Pure.

`1,600`, `1.6 thousand`, `一千六百` and `1600` in full width are the same number, and so are `15 %`, `15 percent` and
`百分之十五`; `2024-03-01`, `1 March 2024` and `2024年3月1日` have the same year, month and day.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from ragsite.language.detection import HAN_BMP
from ragsite.language.simplified import simplified
from ragsite.language.times_of_day import DAY_TIME, DIAL, HALF_DAY, times_of_day
from ragsite.language.word_lists import lines_of

_SMALL = {
    word: value
    for value, word in enumerate(
        (
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
            "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
        )
    )
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_MONTHS = {
    name: number
    for number, month in enumerate(
        (
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ),
        start=1,
    )
    for name in (month, month[:3])
}  # fmt: skip
_WORDS = _SMALL | _TENS | {"once": 1, "twice": 2}
# The factors of scale words.
SCALES = {
    "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "bn": 1_000_000_000,
    "百": 100, "千": 1_000, "万": 10_000, "百万": 1_000_000, "千万": 10_000_000, "亿": 100_000_000,
}  # fmt: skip
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_PLACES_BELOW = {100: "十", 1_000: "百", 10_000: "千", 100_000_000: "千万"}

# Names of units, each mapped to the first name of the same unit.
_UNITS = {name: group.split()[0] for group in lines_of("units") for name in group.split()}
# The quantity that each unit measures, and the unit's size, so that 24 hours equal a day.
_MEASURES = {
    "year": ("months", "12"), "month": ("months", "1"),
    "week": ("time", "604800"), "day": ("time", "86400"), "hour": ("time", "3600"), "minute": ("time", "60"),
    "second": ("time", "1"), "ms": ("time", "0.001"),
    "t": ("mass", "1000000"), "kg": ("mass", "1000"), "g": ("mass", "1"), "mg": ("mass", "0.001"),
    "km": ("length", "1000000"), "m": ("length", "1000"), "cm": ("length", "10"), "mm": ("length", "1"),
    "l": ("volume", "1000"), "ml": ("volume", "1"),
    "tb": ("data", "1000000"), "gb": ("data", "1000"), "mb": ("data", "1"), "kb": ("data", "0.001"),
    "gbps": ("rate", "1000"), "mbps": ("rate", "1"), "kbps": ("rate", "0.001"),
    "mw": ("power", "1000000"), "kw": ("power", "1000"), "w": ("power", "1"),
    "person": ("count", "1"), "piece": ("count", "1"),
    DAY_TIME: ("clock", "1"), DIAL: ("clock", "1"),
}  # fmt: skip
_CURRENCY_SIGNS = {"¥": "yuan", "￥": "yuan", "€": "eur", "$": "usd", "£": "gbp"}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_SCALE = "|".join(sorted(SCALES, key=len, reverse=True))

_DATE = re.compile(r"(?<![\w.-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\w-])")
_NAMED_MONTH = re.compile(
    rf"\b(?=(?-i:[JFMASOND]))({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?",
    re.IGNORECASE,
)
_NUMERIC_MONTH = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,3})\s*月(?!\s*份?额)")
_ARABIC = re.compile(
    rf"""(?:(?P<sign>[¥￥€$£])\s*|(?P<minus>(?<![^\s(,，:：~{HAN_BMP}])[-−]|零下\s*|\bminus\s+))?
    (?<![A-Za-z0-9_.])(?<![^\d\s(,，:：~{HAN_BMP}]-)(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
    (?![\d_])(?!-?[A-Za-z]+-?\d)(?:st|nd|rd|th)?\s*(?P<scale>{_SCALE})?\s*-?\s*
    (?P<unit>(?:{_UNIT})(?![A-Za-z]))?""",
    re.VERBOSE | re.IGNORECASE,
)
_BETWEEN_WORDS = re.compile(r"(?<=[A-Za-z])([：，；])(?=[A-Za-z])")
_PER_CENT = re.compile(r"([百千万])分之([零〇一二两三四五六七八九十百点\d.]+)")
_PARTS = {"百": 1, "千": 10, "万": 100}  # of a hundredth
_HALF = re.compile("[Hh]alf|[Qq]uarter|[半刻]")
_HALVES = re.compile(
    rf"""\bhalf\s+(?:an?\s+)?(?P<half_of>{_UNIT})(?![A-Za-z])|(?P<quarter>\b(?:a\s+)?quarter\s+of\s+an\s+hour|一刻钟)
    |\b(?P<word>{"|".join(_WORDS)}|\d+)\s+and\s+a\s+half\s+(?P<of_these>{_UNIT})(?![A-Za-z])
    |\b(?:an?|one)\s+(?P<one_of>{_UNIT})\s+and\s+a\s+half\b
    |(?<![上下前后首头])(?P<han>\d+|[一二两三四五六七八九十]{{1,3}})?个?半个?(?P<of_han>小时|钟头|月|年|天)(?!前|初|末|底|度)""",
    re.VERBOSE | re.IGNORECASE,
)
_HAN = re.compile(
    rf"""(?<![零〇一二两三四五六七八九十百千万亿])(?P<first>第)?(?P<digits>[零〇一二两三四五六七八九十百千万亿][零〇一二三四五六七八九十百千万亿]*)
    (?P<unit>{_UNIT}|级)?""",
    re.VERBOSE,
)
_ENGLISH = re.compile(
    rf"""\b(?:(?P<tens>{"|".join(_TENS)})[- ])?(?P<word>{"|".join(_WORDS)})\b
    (?:\s+(?P<scale>hundred|thousand|million|billion))?
    (?:[\s-]+(?:(?:working|calendar|business)\s+)?(?P<unit>(?:{_UNIT})(?![A-Za-z])))?
    |\b(?P<ordinal>{"|".join(_ORDINALS)})\b
    |\b(?P<each>an?|per|each|every)\s+(?P<each_unit>{_UNIT})(?![A-Za-z])""",
    re.VERBOSE | re.IGNORECASE,
)

_TENTHS = re.compile(r"([一二三四五六七八九]|\d)成(?![\u4e00-\u9fff]?[员本果功立绩为])")
_ROUGHLY = re.compile(
    r"(?:\b(?:about|almost|approximately|around|nearly|roughly|close to)|约|近|将近|接近|大概)\s*$", re.IGNORECASE
)
# "The two" need not be a number from the source.
_POINTING = re.compile(r"\b(?:the|these|those)\s+$|[这那]$", re.IGNORECASE)
_OR_SO = re.compile(r"\s*(?:or so\b|左右|上下)")
# The longest text whose numbers are cached, in characters.
_LONGEST_CACHED = 1_000
# Between these, a number with the unit "year" is a calendar year rather than a duration.
_FIRST_YEAR, _LAST_YEAR = 1000, 2200


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number: its value, its unit ("" if unknown), and its position in the text."""

    value: Decimal
    unit: str
    start: int
    end: int
    spelled: bool = False  # in words that may not count anything, such as "one", "first" and "the two"

    @property
    def kind(self) -> str:
        """The quantity it measures, or its unit if that is unknown; a calendar year isn't a duration."""
        if self.unit == "year" and self.may_be_a_year:
            return "calendar year"
        return _MEASURES[self.unit][0] if self.unit in _MEASURES else self.unit

    @property
    def size(self) -> Decimal:
        """Its value in the common unit of its kind, such as grams."""
        return self.value * Decimal(_MEASURES[self.unit][1]) if self.unit in _MEASURES else self.value

    @property
    def may_be_a_year(self) -> bool:
        """Whether it may be a calendar year."""
        return self.unit in ("", "year") and _FIRST_YEAR <= self.value <= _LAST_YEAR

    def agrees(self, other: "Quantity") -> bool:
        """Return whether two numbers may be the same: equal without conflicting units, or equal after conversion."""
        if "k" in (self.unit, other.unit):
            return any(one.agrees(two) for one in self._readings() for two in other._readings())
        if DIAL in (self.unit, other.unit) and self.kind == other.kind:
            return (self.value - other.value) % HALF_DAY == 0
        if not self.unit or not other.unit or self.unit == other.unit:
            return self.value == other.value
        (mine, factor), (theirs, other_factor) = _MEASURES.get(self.unit, ("", 0)), _MEASURES.get(other.unit, ("", 0))
        return bool(mine) and mine == theirs and self.value * Decimal(factor) == other.value * Decimal(other_factor)

    def _readings(self) -> tuple["Quantity", ...]:
        """Return the possible readings: 64K may be 64,000, 64 KB, or 64 of something else."""
        if self.unit != "k":
            return (self,)
        return replace(self, value=self.value * 1000, unit=""), replace(self, unit="kb"), replace(self, unit="")

    def nears(self, other: "Quantity") -> bool:
        """Return whether it may be the other rounded: at most a tenth away, in the same unit or without one."""
        same_unit = not self.unit or not other.unit or self.unit == other.unit
        return (same_unit and abs(self.value - other.value) <= abs(other.value) / 10) or self.agrees(other)


def is_rough(text: str, quantity: Quantity) -> bool:
    """Return whether a text gives a number approximately: about 20, nearly six, 约20人."""
    return bool(_ROUGHLY.search(simplified(text[: quantity.start])) or _OR_SO.match(text[quantity.end :]))


def is_unit(word: str) -> bool:
    """Return whether a word is the name of a unit."""
    return word.lower() in _UNITS


def fold(text: str) -> str:
    """Return a text with full-width digits and signs in plain form; its length may change."""
    text = _BETWEEN_WORDS.sub(r"\1 ", text)  # "Note：It" would become one word
    return unicodedata.normalize("NFKC", text).replace("per cent", "percent").replace("％", "%")


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text after `fold`, in order."""
    text = simplified(text)
    return list(_quantities(text) if len(text) <= _LONGEST_CACHED else _quantities.__wrapped__(text))


@lru_cache(1_024)  # the same clauses are checked again and again
def _quantities(text: str) -> tuple[Quantity, ...]:
    found: list[Quantity] = []
    for quantity in _all(text):
        if not any(quantity.start < other.end and other.start < quantity.end for other in found):
            found.append(quantity)
    return tuple(sorted(found, key=lambda quantity: quantity.start))


def _all(text: str) -> Iterator[Quantity]:
    """Yield numbers; of overlapping readings, the surest first."""
    yield from _dates(text)
    for value, unit, start, end in times_of_day(text):
        yield Quantity(Decimal(value), unit, start, end)
    if not text.isascii():
        for match in _PER_CENT.finditer(text):  # 百分之五
            whole, _point, decimals = match[2].replace("点", ".").partition(".")  # 零点五
            digits = "".join(str(_HAN_DIGITS.get(digit, digit)) for digit in decimals if digit not in _HAN_PLACES)
            share = Decimal(f"{whole if whole.isdecimal() else _han_value(whole)}.{digits or 0}")
            yield Quantity(share / _PARTS[match[1]], "%", *match.span())
        for match in _TENTHS.finditer(text):  # 五成
            yield Quantity(Decimal(_HAN_DIGITS.get(match[1]) or match[1]) * 10, "%", *match.span())
    for match in _HALVES.finditer(text) if _HALF.search(text) else ():  # half an hour, 两个半小时, two and a half hours
        if match["quarter"]:
            yield Quantity(Decimal(15), "minute", *match.span())
            continue
        whole = (match["word"] or match["han"] or ("1" if match["one_of"] else "0")).lower()
        if whole.isdecimal():
            value = int(whole)
        else:
            value = _WORDS[whole] if whole in _WORDS else _han_value(whole)
        unit = match["half_of"] or match["of_these"] or match["one_of"] or match["of_han"]
        unit = "month" if unit == "月" else _UNITS[unit.lower()]
        yield Quantity(Decimal(value) + Decimal("0.5"), unit, *match.span())
    for match in _ARABIC.finditer(text):
        amount = Decimal(match["digits"].replace(",", "")) * (-1 if match["minus"] else 1)
        if match["scale"]:
            amount *= SCALES[match["scale"].lower()]
        unit = _UNITS.get((match["unit"] or "").lower(), "")
        if match["sign"] and unit in ("", "m"):
            amount *= 1_000_000 if unit else 1  # £3m is three million
            unit = _CURRENCY_SIGNS[match["sign"]]
        yield Quantity(amount.normalize(), unit, match.start("digits"), match.end())
    for match in _HAN.finditer(text) if not text.isascii() else ():
        value, digits, unit, first = _han_value(match["digits"]), match["digits"], match["unit"] or "", match["first"]
        if digits in SCALES and not first:
            continue  # part of 平方千米
        if first or unit or len(digits) > 1:
            is_next = bool(first) and digits == "二" and unit in ("年", "天", "日", "周")  # 第二年, 第二天
            counts_nothing = value == 1 or is_next or _is_pointed_at(match)
            yield Quantity(Decimal(value), _UNITS.get(unit, ""), *match.span(), counts_nothing)
    for match in _ENGLISH.finditer(text):
        if match["each"]:
            yield Quantity(Decimal(1), _UNITS[match["each_unit"].lower()], *match.span(), spelled=True)
        elif match["ordinal"]:
            yield Quantity(Decimal(_ORDINALS[match["ordinal"].lower()]), "", *match.span(), spelled=True)
        else:
            value = _WORDS[match["word"].lower()] + (_WORDS[match["tens"].lower()] if match["tens"] else 0)
            value *= SCALES[match["scale"].lower()] if match["scale"] else 1
            often = "times" if match["word"].lower() in ("once", "twice") else ""
            unit = _UNITS.get((match["unit"] or "").lower(), often)
            counts_nothing = unit in ("", "times") and (value == 1 or _is_pointed_at(match))
            yield Quantity(Decimal(value), unit, *match.span(), counts_nothing)


def _dates(text: str) -> Iterator[Quantity]:
    """Yield the parts of dates."""
    for match in _DATE.finditer(text):
        year, month, day = (Decimal(int(part)) for part in match.groups())
        yield Quantity(year, "year", match.start(1), match.end(1))
        yield Quantity(month, "calendar month", match.start(2), match.end(2))
        yield Quantity(day, "day", match.start(3), match.end(3))
    for match in _NUMERIC_MONTH.finditer(text):
        value = int(match[1]) if match[1].isdecimal() else _han_value(match[1])
        yield Quantity(Decimal(value), "calendar month", match.start(), match.end())
    for match in _NAMED_MONTH.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if match[0].lower() != "may" or re.match(r"\s+\d", after) or re.search(r"\d(?:st|nd|rd|th)?\s+\Z", before):
            yield Quantity(Decimal(_MONTHS[match[1].lower()]), "calendar month", match.start(), match.end())


def _is_pointed_at(match: re.Match[str]) -> bool:
    return _POINTING.search(match.string[: match.start()]) is not None


def _han_value(digits: str) -> int:
    """Return the value of Chinese numerals: positional (二百零五, 三万五) or digit by digit (二〇二四)."""
    if not any(character in _HAN_PLACES for character in digits):
        return int("".join(str(_HAN_DIGITS.get(character, "")) for character in digits) or 0)
    total = section = digit = 0
    last = _HAN_PLACES.get(digits[-2:-1], 0)
    if last >= 100 and digits[-1] in _HAN_DIGITS:
        digits += _PLACES_BELOW[last]  # 一千八 is short for 一千八百
    for character in digits:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif (place := _HAN_PLACES.get(character, 0)) >= 10_000:
            total = (total + section + digit) * place
            section = digit = 0
        elif place:
            section += (digit or 1) * place
            digit = 0
    return total + section + digit
