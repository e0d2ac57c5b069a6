"""Shows dates and times by a section of a number format, as Excel does, but those in digits only as ISO 8601 does."""

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from knowledge.parsing.xlsx.number_format import Section
from knowledge.parsing.xlsx.numbers import numeral

_DAY = 86_400_000  # milliseconds
_FIRST = datetime(1899, 12, 31)  # day 0
# Excel, as Lotus 1-2-3 before it, counts a 29th of February 1900.
_LEAP_DAY = 60
_LAST = 2_958_465  # in the year 9999


class Names(NamedTuple):
    """The names of months and days, Monday first, and of the halves of the day, in a language."""

    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    short_days: tuple[str, ...]
    halves: tuple[str, str] = ("AM", "PM")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HAN_MONTHS = _words("一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月")
_MONTH_NUMBERS = tuple(f"{number}月" for number in range(1, 13))
_ENGLISH = Names(
    _words("January February March April May June July August September October November December"),
    _words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    _words("Mon Tue Wed Thu Fri Sat Sun"),
)
_CHINESE = Names(
    _HAN_MONTHS,
    _MONTH_NUMBERS,
    tuple(f"星期{day}" for day in "一二三四五六日"),
    tuple(f"周{day}" for day in "一二三四五六日"),
    ("上午", "下午"),
)
_TAIWAN, _HONG_KONG, _MACAU, _JAPAN = 0x404, 0xC04, 0x1404, 0x411
_TRADITIONAL = _CHINESE._replace(short_months=_HAN_MONTHS, short_days=tuple(f"週{day}" for day in "一二三四五六日"))
_JAPANESE = Names(
    _MONTH_NUMBERS,
    _MONTH_NUMBERS,
    tuple(f"{day}曜日" for day in "月火水木金土日"),
    tuple("月火水木金土日"),
    ("午前", "午後"),
)
_GERMAN = Names(
    _words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    _words("Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez"),
    _words("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag"),
    _words("Mo Di Mi Do Fr Sa So"),
)
_FRENCH = Names(
    _words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    _words("janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."),
    _words("lundi mardi mercredi jeudi vendredi samedi dimanche"),
    _words("lun. mar. mer. jeu. ven. sam. dim."),
)
_REGIONS = {_TAIWAN: _TRADITIONAL, _HONG_KONG: _TRADITIONAL, _MACAU: _TRADITIONAL}
_LANGUAGES = {0x04: _CHINESE, 0x11: _JAPANESE, 0x07: _GERMAN, 0x0C: _FRENCH}  # the lowest ten bits of their numbers
_ERAS = (  # of Japan, the latest first
    (date(2019, 5, 1), "R", "令", "令和"),
    (date(1989, 1, 8), "H", "平", "平成"),
    (date(1926, 12, 25), "S", "昭", "昭和"),
    (date(1912, 7, 30), "T", "大", "大正"),
    (date(1868, 1, 25), "M", "明", "明治"),
)


def serial(value: date | time | timedelta) -> float:
    """Return the number that Excel stores for a date or time: the days since the end of 1899."""
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, time):
        value = datetime.combine(_FIRST, value)
    elif not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    days = (value.replace(tzinfo=None) - _FIRST) / timedelta(days=1)
    return days if days < _LEAP_DAY else days + 1


def show_date(number: float, section: Section) -> str | None:
    """Return a date or time by a section, or None if there is no such date."""
    if number < 0 or number > _LAST + 1:
        return None
    milliseconds = round(number * _DAY)
    if (
        section.marks["second"] or section.marks["fraction"] or "s" in section.marks["elapsed"]
    ):  # other times aren't rounded
        unit = 10 ** max(3 - len(section.marks["fraction"].removeprefix(".")), 0)
        milliseconds = (milliseconds + unit // 2) // unit * unit
    days, rest = divmod(milliseconds, _DAY)
    if days > _LAST:
        return None
    moment = _FIRST + timedelta(days=days if days < _LEAP_DAY else days - 1, milliseconds=rest)
    names = _REGIONS.get(section.language) or _LANGUAGES.get(section.language & 0x3FF, _ENGLISH)
    twelve_hours = bool(section.marks["half"])
    texts = []
    for kind, text in section.tokens if rest else section.at_midnight:
        match kind:
            case "elapsed":
                units = {"h": 3_600_000, "m": 60_000, "s": 1000}
                shown = f"{milliseconds // units[text[0]]:0{len(text)}}"
            case "hour":
                hour = (moment.hour + 11) % 12 + 1 if twelve_hours else moment.hour
                shown = f"{hour:0{min(len(text), 2)}}"
            case "minute":
                shown = f"{moment.minute:0{len(text)}}"
            case "second":
                shown = f"{moment.second:0{min(len(text), 2)}}"
            case "fraction":
                shown = f".{rest % 1000:03}"[: len(text)].ljust(len(text), "0")
            case "half":
                halves = {"a": ("A", "P"), "上": _CHINESE.halves}.get(text[0].lower(), names.halves)
                halves = names.halves if len(text) == len("AM/PM") and text[0] in "aA" else halves
                shown = halves[moment.hour >= 12]
            case "literal":
                shown = text
            case _:
                shown = _date_part(moment, kind, text, names, section.language)
        if section.numerals and shown.isdecimal():
            if kind == "year" or section.numerals == 3:
                shown = "".join(numeral(digit, section.numerals) for digit in shown)
            else:
                shown = numeral(shown, section.numerals, in_date=True)
        texts.append(shown)
    return "".join(texts)


def _date_part(moment: datetime, kind: str, text: str, names: Names, language: int) -> str:
    """Return the year, month, day or weekday of a date as the letters in the code ask for it."""
    year, month, day = moment.year, moment.month, moment.day
    weekday = moment.weekday()
    if moment.date() <= date(1900, 2, 28):
        weekday = (weekday - 1) % 7  # since Excel counts a day too many after it
    if moment.date() == _FIRST.date():
        year, month, day = 1900, 1, 0
    size = len(text)
    match kind:
        case "iso":
            return f"{year:04}-{month:02}-{day:02}" if text == "ymd" else f"{year:04}-{month:02}"
        case "year":
            return f"{year:04}" if size > 2 else f"{year % 100:02}"
        case "buddhist_year":
            return f"{year + 543:04}" if size > 2 else f"{(year + 543) % 100:02}"
        case "month":
            if size == 5:
                return names.months[month - 1][0]
            return f"{month:0{size}}" if size < 3 else (names.short_months if size == 3 else names.months)[month - 1]
        case "day":
            return f"{day:0{size}}" if size < 3 else (names.short_days if size == 3 else names.days)[weekday]
        case "weekday":
            chinese = names if names in (_CHINESE, _TRADITIONAL, _JAPANESE) else _CHINESE
            if size == 4:
                return chinese.days[weekday]
            return (chinese.short_days if names is chinese else "一二三四五六日")[weekday]
    if language == _TAIWAN and year > 1911:
        era, era_year = ("", "民國", "民國", "中華民國"), year - 1911
    elif language == _JAPAN and (found := next((era for era in _ERAS if moment.date() >= era[0]), None)):
        era, era_year = ("", *found[1:]), year - found[0].year + 1
    else:
        era, era_year = ("", "", "", ""), year
    return era[min(size, 3)] if kind == "era" else f"{era_year:0{size}}"
