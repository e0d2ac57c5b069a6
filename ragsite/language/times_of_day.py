"""Times of day and weekdays in running text. Pure.

`1 pm`, `13:00` and `下午1点` are the same time of day; `1:00` may also be one at night.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Units: minutes since midnight; minutes since midnight or noon, which is unknown; the day of the week, from 1.
DAY_TIME, DIAL, WEEKDAY = "time of day", "time on a dial", "weekday"
HALF_DAY = 720

_HALF = r"(?P<half>[ap])\.?m\b\.?"
_ENGLISH = re.compile(
    rf"""(?<![A-Za-z0-9_.:,-])(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d))?
    (?:\s*{_HALF}|(?=\s*(?:-|–|to|until|and)\s*\d{{1,2}}(?:[:.][0-5]\d)?\s*[ap]\.?m\b))""",
    re.VERBOSE | re.IGNORECASE,
)
_WITH_COLON = re.compile(
    r"(?<![A-Za-z0-9_.:,])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![A-Za-z0-9_:])"
)
_NAMED = re.compile(r"\b(?:(?P<noon>noon|midday)|midnight)\b", re.IGNORECASE)
_HAN_NUMBER = "[〇零一二两三四五六七八九十]{1,3}"
_PART_OF_DAY = r"(?P<part>上午|早上|早晨|凌晨|清晨|中午|下午|午后|傍晚|晚上|晚间|夜里|夜间|晚|早)"
_CHINESE = re.compile(
    rf"""(?:{_PART_OF_DAY}\s*)?(?<!\d)(?P<hour>\d{{1,2}}|{_HAN_NUMBER})
    (?::(?P<colon>[0-5]\d)|[点點时時](?:(?P<minute>\d{{1,2}}|{_HAN_NUMBER})[分]|(?P<rest>半|整|钟|鐘|一刻|三刻))?)(?!建议|意见|要求|原因|理由)""",
    re.VERBOSE,
)
_O_CLOCK = re.compile(r"\d[点點]$")
_REST = {"半": 30, "一刻": 15, "三刻": 45}
_AFTERNOON = frozenset({"下午", "午后", "傍晚", "晚上", "晚间", "夜里", "夜间", "晚"})
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ENGLISH_DAY = re.compile(rf"\b({'|'.join(_DAYS)})s?\b", re.IGNORECASE)
_HAN_DAY = re.compile(
    r"(?<![一二三四五六七八九十两几半\d])(?:周|週|星期|礼拜|禮拜)([一二三四五六日天])(?![次个回天遍种本篇堂节小])"
)
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


class TimeOfDay(NamedTuple):
    """A time of day or a weekday: its value, its unit, and its position in the text."""

    value: int
    unit: str
    start: int
    end: int


def times_of_day(text: str) -> Iterator[TimeOfDay]:
    """Yield the times of day and weekdays in a text after `fold`; of overlapping readings, the surest first."""
    for match in _ENGLISH_DAY.finditer(text):
        yield TimeOfDay(_DAYS.index(match[1].lower()) + 1, WEEKDAY, *match.span())
    if not text.isascii():
        for match in _HAN_DAY.finditer(text):
            yield TimeOfDay("一二三四五六日".find(match[1].replace("天", "日")) + 1, WEEKDAY, *match.span())
        for match in _CHINESE.finditer(text):
            part = match["part"]
            certain = part or match["minute"] or match["rest"] or _O_CLOCK.search(match[0])
            if not certain or (match["colon"] and not part):
                continue  # 三点 may mean three points and 八时 eight hours; 8:30 is read below
            hour = _number(match["hour"])
            minute = int(match["colon"] or 0) or _REST.get(match["rest"] or "", 0) or _number(match["minute"] or "0")
            if part == "中午":
                half = "a" if hour == 11 else "p"
            else:
                half = "p" if part in _AFTERNOON else "a"
                if not part or hour > 12:
                    half = ""
            yield from _time_of_day(hour, minute, half, match)
    for pattern in (_ENGLISH, _WITH_COLON):
        for match in pattern.finditer(text):
            half = (match.groupdict().get("half") or "").lower()
            yield from _time_of_day(int(match["hour"]), int(match["minute"] or 0), half, match)
    for match in _NAMED.finditer(text):
        yield TimeOfDay(HALF_DAY if match["noon"] else 0, DAY_TIME, *match.span())


def _time_of_day(hour: int, minute: int, half: str, match: re.Match[str]) -> Iterator[TimeOfDay]:
    """Yield a time of day; `half` is "a" for a.m., "p" for p.m., and empty if unknown."""
    if hour > (12 if half else 24):
        return
    if half:
        yield TimeOfDay((hour % 12 + (12 if half == "p" else 0)) * 60 + minute, DAY_TIME, *match.span())
    else:
        yield TimeOfDay(hour % 24 * 60 + minute, DAY_TIME if hour > 12 or not hour else DIAL, *match.span())


def _number(digits: str) -> int:
    """Return the value of a number below 100, in digits or Chinese numerals."""
    if digits.isdecimal():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    return (_HAN_DIGITS.get(tens, 1) * 10 if ten else 0) + (_HAN_DIGITS.get(ones[-1:], 0))
