"""Numbers in running text with their units, however they are written. Pure.

`1,600`, `1.6 thousand`, `一千六百` and `1600` in full width are one number; `15 %`, `15 percent` and `百分之十五` too;
`2024-03-01`, `1 March 2024` and `2024年3月1日` have the same year, month and day.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

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
_SCALES = {
    "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000,
    "百": 100, "千": 1_000, "万": 10_000, "百万": 1_000_000, "千万": 10_000_000, "亿": 100_000_000,
}  # fmt: skip
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_PLACES_BELOW = {100: "十", 1_000: "百", 10_000: "千", 100_000_000: "千万"}

# What counts as the same unit, by its first name; longer spellings are tried first.
_UNIT_GROUPS = (
    "% percent per cent pct ％",
    "year years yr yrs 年 周年 岁",
    "month months 个月 个自然月",
    "week weeks 周 星期 礼拜 个星期",
    "day days 天 日 号 个工作日 工作日 个自然日",
    "hour hours hr hrs h 小时 个小时 钟头 时",
    "minute minutes min mins 分钟 分",
    "second seconds sec secs 秒 秒钟",
    "kg kilogram kilograms kilo kilos 公斤 千克",
    "g gram grams 克",
    "mg milligram milligrams 毫克",
    "t ton tons tonne tonnes 吨",
    "km kilometre kilometres kilometer kilometers 公里 千米",
    "m metre metres meter meters 米",
    "cm centimetre centimetres centimeter centimeters 厘米",
    "mm millimetre millimetres millimeter millimeters 毫米",
    "l litre litres liter liters 升",
    "ml millilitre millilitres milliliter milliliters 毫升",
    "°c ℃ degrees degree 度 摄氏度",
    "kb", "mb", "gb", "tb", "mbps", "gbps", "v volt volts 伏", "w watt watts 瓦", "kwh 千瓦时 度电", "kw 千瓦",
    "yuan 元 块 rmb cny 人民币",
    "eur euro euros 欧元",
    "usd dollar dollars 美元",
    "gbp pound pounds 英镑",
    "person persons people 人 名 位",
)  # fmt: skip
_UNITS = {name: group.split()[0] for group in _UNIT_GROUPS for name in (group.replace("per cent", "percent").split())}
# What units measure, and how much of it, so that 24 hours are a day.
_MEASURES = {
    "year": ("months", "12"), "month": ("months", "1"),
    "week": ("time", "10080"), "day": ("time", "1440"), "hour": ("time", "60"), "minute": ("time", "1"),
    "t": ("mass", "1000000"), "kg": ("mass", "1000"), "g": ("mass", "1"), "mg": ("mass", "0.001"),
    "km": ("length", "1000000"), "m": ("length", "1000"), "cm": ("length", "10"), "mm": ("length", "1"),
    "l": ("volume", "1000"), "ml": ("volume", "1"),
    "tb": ("data", "1000000"), "gb": ("data", "1000"), "mb": ("data", "1"),
}  # fmt: skip
_CURRENCY_SIGNS = {"¥": "yuan", "￥": "yuan", "€": "eur", "$": "usd", "£": "gbp"}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))

_DATE = re.compile(r"(?<![\w.-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\w-])")
_NAMED_MONTH = re.compile(rf"\b({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?", re.IGNORECASE)
_NUMERIC_MONTH = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,3})\s*月(?!\s*份?额)")
_ARABIC = re.compile(
    rf"""(?P<sign>[¥￥€$£])?\s*(?<![A-Za-z0-9_.\-–])(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
    (?![\d_])(?!-?[A-Za-z]+-?\d)(?:st|nd|rd|th)?\s*(?P<scale>{_SCALE})?\s*-?\s*
    (?P<unit>(?:{_UNIT})(?![A-Za-z]))?""",
    re.VERBOSE | re.IGNORECASE,
)
_PER_CENT = re.compile(r"百分之([零〇一二两三四五六七八九十百点\d.]+)")
_HAN = re.compile(
    rf"""(?<![零〇一二两三四五六七八九十百千万亿])(?P<first>第)?(?P<digits>[零〇一二两三四五六七八九十百千万亿][零〇一二三四五六七八九十百千万亿]*)
    (?P<unit>{_UNIT}|[个种次倍台件项条家层级页章节款套份张只间辆部组类门届期批])?""",
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
# Who speaks of "the two" need not have read how many there are.
_POINTING = re.compile(r"\b(?:the|these|those)\s+$|[这那]$", re.IGNORECASE)
_OR_SO = re.compile(r"\s*(?:or so\b|左右|上下)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number: its value, its unit ("" where none is known), and where in the text it stands."""

    value: Decimal
    unit: str
    start: int
    end: int
    spelled: bool = False  # in words, where "one", "first" and "the two" may count nothing

    @property
    def kind(self) -> str:
        """What it measures: that of its unit, or the unit itself."""
        return _MEASURES[self.unit][0] if self.unit in _MEASURES else self.unit

    def agrees(self, other: "Quantity") -> bool:
        """Whether the other may be the same: the same value and no other unit, or as much in another unit."""
        if not self.unit or not other.unit or self.unit == other.unit:
            return self.value == other.value
        (mine, factor), (theirs, other_factor) = _MEASURES.get(self.unit, ("", 0)), _MEASURES.get(other.unit, ("", 0))
        return bool(mine) and mine == theirs and self.value * Decimal(factor) == other.value * Decimal(other_factor)

    def nears(self, other: "Quantity") -> bool:
        """Whether the other may be rounded to it: no more than a tenth away, in the same or no unit."""
        same_unit = not self.unit or not other.unit or self.unit == other.unit
        return (same_unit and abs(self.value - other.value) <= abs(other.value) / 10) or self.agrees(other)


def is_rough(text: str, quantity: Quantity) -> bool:
    """Whether a text gives a number roughly: about 20, nearly six, 约20人."""
    return bool(_ROUGHLY.search(text[: quantity.start]) or _OR_SO.match(text[quantity.end :]))


def fold(text: str) -> str:
    """Return a text in which full-width digits and signs are plain; the length may change."""
    return unicodedata.normalize("NFKC", text).replace("per cent", "percent").replace("％", "%")


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text that `fold` has made plain, in their order."""
    found: list[Quantity] = []
    for quantity in _all(text):
        if not any(quantity.start < other.end and other.start < quantity.end for other in found):
            found.append(quantity)
    return sorted(found, key=lambda quantity: quantity.start)


def _all(text: str) -> Iterator[Quantity]:
    """Yield numbers, the surest reading of a place first."""
    for match in _DATE.finditer(text):
        year, month, day = (Decimal(int(part)) for part in match.groups())
        yield Quantity(year, "year", match.start(1), match.end(1))
        yield Quantity(month, "calendar month", match.start(2), match.end(2))
        yield Quantity(day, "day", match.start(3), match.end(3))
    for match in _NUMERIC_MONTH.finditer(text):
        value = int(match[1]) if match[1].isdecimal() else _han_value(match[1])
        yield Quantity(Decimal(value), "calendar month", match.start(), match.end())
    for match in _NAMED_MONTH.finditer(text):
        if match[0][0].isupper() and not (match[0].lower() == "may" and not _date_around(text, match)):
            yield Quantity(Decimal(_MONTHS[match[1].lower()]), "calendar month", match.start(), match.end())
    for match in _PER_CENT.finditer(text):
        share = Decimal(match[1]) if match[1].replace(".", "").isdecimal() else Decimal(_han_value(match[1]))
        yield Quantity(share, "%", match.start(), match.end())
    for match in _TENTHS.finditer(text):
        yield Quantity(Decimal(_HAN_DIGITS.get(match[1]) or match[1]) * 10, "%", match.start(), match.end())
    for match in _ARABIC.finditer(text):
        yield _arabic(match)
    for match in _HAN.finditer(text):
        value = _han_value(match["digits"])
        if match["first"] or match["unit"] or len(match["digits"]) > 1:
            yield Quantity(
                Decimal(value),
                _UNITS.get(match["unit"] or "", ""),
                match.start(),
                match.end(),
                value == 1 or _POINTING.search(text[: match.start()]) is not None,
            )
    for match in _ENGLISH.finditer(text):
        yield _english(match)


def _date_around(text: str, match: re.Match[str]) -> bool:
    """Whether a number stands right before or after: "May 3", "3 May"."""
    return bool(re.match(r"\s+\d", text[match.end() :]) or re.search(r"\d(?:st|nd|rd|th)?\s+\Z", text[: match.start()]))


def _arabic(match: re.Match[str]) -> Quantity:
    value = Decimal(match["digits"].replace(",", ""))
    if match["scale"]:
        value *= _SCALES[match["scale"].lower()]
    unit = _UNITS.get((match["unit"] or "").lower(), "") or _CURRENCY_SIGNS.get(match["sign"] or "", "")
    return Quantity(value.normalize(), unit, match.start("digits"), match.end())


def _english(match: re.Match[str]) -> Quantity:
    if match["each"]:
        return Quantity(Decimal(1), _UNITS[match["each_unit"].lower()], match.start(), match.end(), spelled=True)
    if match["ordinal"]:
        value = _ORDINALS[match["ordinal"].lower()]
        return Quantity(Decimal(value), "", match.start(), match.end(), spelled=True)
    value = _WORDS[match["word"].lower()] + (_WORDS[match["tens"].lower()] if match["tens"] else 0)
    value *= _SCALES[match["scale"].lower()] if match["scale"] else 1
    unit = _UNITS.get((match["unit"] or "").lower(), "")
    counts_nothing = not unit and (value == 1 or _POINTING.search(match.string[: match.start()]) is not None)
    return Quantity(Decimal(value), unit, match.start(), match.end(), counts_nothing)


def _han_value(digits: str) -> int:
    """Return the value of Chinese digits: by places (二百零五, 三万五) or one by one (二〇二四)."""
    if not any(character in _HAN_PLACES for character in digits):
        return int("".join(str(_HAN_DIGITS.get(character, "")) for character in digits) or 0)
    total = section = digit = 0
    last = _HAN_PLACES.get(digits[-2:-1], 0)
    if last >= 100 and digits[-1] in _HAN_DIGITS:
        digits += _PLACES_BELOW[last]  # 一千八 is said for 一千八百
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
