"""Parses number format codes (ECMA-376, part 1, 18.8.31) into sections of tokens, ready to be applied to values."""

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

# Kinds of tokens, tried in this order.
_TOKENS = {
    "quoted": r'"[^"]*"',
    "escaped": r'\\.?|!(?=[^\s";]).',  # Chinese and Japanese versions of Excel write "!" for "\"
    "space": r"_.?",
    "fill": r"\*.?",
    "bracket": r"\[[^\]]*\]",
    "general": r"General|G/通用格式|G/標準",
    "half": r"AM/PM|A/P|上午/下午",
    "exponent": r"E[+-](?=[0#?])",
    "calendar": r"B[12](?=[ymdeg])",
    "weekday": r"a{3,4}",
    "date": r"(?P<first>[ymdhsegb])(?P=first)*",
    "digit": r"[0#?]",
    "point": r"\.",
    "comma": r",",
    "percent": r"%",
    "slash": r"/",
    "text": r"@",
    "end": r";",
    "unclosed": r'["\[]',
    "letter": r"[a-z]",  # without quotes
    "literal": r".",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _TOKENS.items()), re.I | re.S)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?)\]", re.I)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.I)
_CURRENCY = re.compile(r"\[\$([^-]*)(?:-(.*))?\]", re.S)
_NUMERALS = re.compile(r"\[DBNum([1-3])\]", re.I)
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,8}(?:,.*)?", re.I)
_LANGUAGES = {"zh": 0x804, "zh-tw": 0x404, "zh-hk": 0xC04, "ja": 0x411, "de": 0x407, "fr": 0x40C}
_SYSTEM_DATE = "F800", "x-sysdate"
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_LONGEST = 255  # characters of a code in Excel
_MOST_SECTIONS = 4
_TIME = {"hour", "minute", "second", "fraction", "half", "elapsed"}
_DATE = {"year", "month", "day", "weekday", "era", "era_year", "buddhist_year"}
_NOT_IN_DATES = {"digit", "percent", "exponent", "general", "text"}
_LETTERS = {
    "y": "year",
    "m": "month",
    "d": "day",
    "h": "hour",
    "s": "second",
    "e": "era_year",
    "g": "era",
    "b": "buddhist_year",
}


class Token(NamedTuple):
    """A part of a section: its kind, and the text or the letters that the code has for it."""

    kind: str
    text: str


@dataclass(frozen=True)
class Section:
    """How a section shows the values to which it applies."""

    kind: str  # "general", "number", "fraction", "date" or "text"
    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None
    signed: bool = True  # whether negative values get a minus; not in a section for negative values only
    language: int = 0  # Windows' number for it, 0 for none
    numerals: int = 0  # 1 to 3 for the kinds of Chinese numerals, 0 for digits
    power: int = 0  # of ten by which a number is multiplied: 2 for each per cent sign, -3 for each comma at the end
    grouped: bool = False
    at_midnight: tuple[Token, ...] = ()  # the tokens without the time

    def applies_to(self, number: float) -> bool:
        return self.condition is None or _COMPARISONS[self.condition[0]](number, self.condition[1])

    @cached_property
    def marks(self) -> dict[str, str]:
        """Return the placeholders of each kind, such as "#0" for whole digits."""
        result: dict[str, str] = defaultdict(str)
        for token in self.tokens:
            result[token.kind] += token.text
        return result

    @cached_property
    def affixes(self) -> tuple[str, str] | None:
        """Return what comes before and after the number, or None if it isn't an ordinary one, such as "#,##0.00"."""
        places = [place for place, token in enumerate(self.tokens) if token.kind in ("whole", "point", "decimal")]
        ordinary = (
            bool(places)
            and places[-1] - places[0] + 1 == len(places)
            and re.fullmatch(r"#*0", self.marks["whole"])
            and not self.marks["decimal"].strip("0")
            and bool(self.marks["point"]) == bool(self.marks["decimal"])
            and not (self.marks["power"] or self.numerals)
        )
        if not ordinary:
            return None
        texts = [token.text for token in self.tokens]
        return "".join(texts[: places[0]]), "".join(texts[places[-1] + 1 :])


class NumberFormat(NamedTuple):
    """The sections of a code: those for numbers and dates in the order in which they are tried, and that for text."""

    numbers: tuple[Section, ...]
    text: Section | None


@lru_cache(maxsize=1000)
def parse_format(code: str) -> NumberFormat | None:
    """Return the sections of a number format code, or None if it isn't valid."""
    if not code or len(code) > _LONGEST:
        return None
    parts: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code):
        if match.lastgroup == "end":
            parts.append([])
        else:
            parts[-1].append(Token(match.lastgroup or "", match.group()))
    if len(parts) > _MOST_SECTIONS:
        return None
    sections = [_section(part) for part in parts]
    valid = [section for section in sections if section is not None]
    if len(valid) < len(sections):
        return None
    text = None
    if len(valid) == _MOST_SECTIONS or valid[-1].kind == "text":
        text = valid.pop()
    if any(section.kind == "text" for section in valid):
        return None
    return NumberFormat(_with_conditions(valid), text)


def _with_conditions(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return the sections with the conditions that the code leaves out: positive, negative, zero."""
    defaults: dict[int, tuple[tuple[str, float] | None, ...]] = {
        2: ((">=", 0.0), None),
        3: ((">", 0.0), ("<", 0.0), None),
    }
    result: list[Section] = []
    for place, section in enumerate(sections):
        condition = section.condition or defaults.get(len(sections), (None,))[place]
        others = result[0].condition if place == 1 and result else None
        if condition:
            sign, bound = condition
            negative = (sign == "<" and bound <= 0) or (sign in ("<=", "=") and bound < 0)
        else:  # the values that don't fulfil the first condition
            negative = bool(others and others[0] in (">", ">=") and others[1] <= 0)
        result.append(replace(section, condition=condition, signed=not negative))
    return tuple(result)


def _section(tokens: Sequence[Token]) -> Section | None:
    """Return the section that these tokens make, or None if they don't go together."""
    section = Section("number", ())
    plain: list[Token] = []  # without colours, conditions and the like
    system_date = False
    for token in tokens:
        match token.kind:
            case "unclosed":
                return None
            case "quoted":
                plain.append(Token("literal", token.text[1:-1]))
            case "escaped":
                plain.append(Token("literal", token.text[1:]))
            case "space":
                plain.append(Token("literal", " "))
            case "fill" | "calendar":
                pass
            case "date":
                plain.append(Token(_LETTERS[token.text[0].lower()], token.text.lower()))
            case "bracket":
                if found := _CONDITION.fullmatch(token.text):
                    section = replace(section, condition=(found[1], float(found[2])))
                elif found := _ELAPSED.fullmatch(token.text):
                    plain.append(Token("elapsed", found[1].lower()))
                elif found := _CURRENCY.fullmatch(token.text):
                    plain.append(Token("literal", found[1]))
                    system_date = system_date or found[2] in _SYSTEM_DATE
                    # The language may be given as a number, "10804", or as a tag, "zh-CN".
                    tag = (found[2] or "").lower()
                    if _HEXADECIMAL.fullmatch(tag):
                        language = int(tag.split(",")[0], 16) & 0xFFFF
                    else:
                        language = _LANGUAGES.get(tag.split(",")[0]) or _LANGUAGES.get(tag[:2], 0)
                    section = replace(section, language=language or section.language)
                elif found := _NUMERALS.fullmatch(token.text):
                    section = replace(section, numerals=int(found[1]))
            case _:
                plain.append(token)
    kinds = {token.kind for token in plain}
    if kinds & (_DATE | _TIME):
        if system_date:
            plain = [Token("iso", "ymd")]
        return _date_section(section, plain)
    if "general" in kinds or "text" in kinds:
        kind = "general" if "general" in kinds else "text"
        valid = not kinds & {"digit", "exponent", "percent"} and len(kinds & {"general", "text"}) == 1
        literal = tuple(token if token.kind == kind else Token("literal", token.text) for token in plain)
        return replace(section, kind=kind, tokens=literal) if valid else None
    return _number_section(section, plain)


def _number_section(section: Section, tokens: list[Token]) -> Section | None:
    """Return a section for numbers: each placeholder gets its part, and commas between or after them their meaning."""
    digits = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    slashes = [place for place, token in enumerate(tokens) if token.kind == "slash"]
    if slashes and (fraction := _fraction_tokens(tokens, slashes[0])):
        return replace(section, kind="fraction", tokens=tuple(fraction))
    if not digits and any(token.kind == "letter" for token in tokens):
        return None  # a word such as "Standard", the name of a format rather than its code
    points = [place for place, token in enumerate(tokens) if token.kind == "point"]
    powers = [place for place, token in enumerate(tokens) if token.kind == "exponent"]
    point = points[0] if points else len(tokens)
    exponent = powers[0] if powers else len(tokens)
    last_whole = max((place for place in digits if place < min(point, exponent)), default=-1)
    result: list[Token] = []
    power, grouped, previous = 0, False, ""
    for place, token in enumerate(tokens):
        kind = token.kind
        if kind == "digit":
            if place <= last_whole:
                kind = "whole"
            else:
                kind = "decimal" if point < place < exponent else "power"
        elif kind == "comma" and previous in ("digit", "comma"):
            if place < last_whole:
                grouped = True
            else:
                power -= 3
        elif kind == "percent":
            power += 2
            kind = "literal"
        elif not (kind == "exponent" and place == exponent) and not (kind == "point" and place == point and digits):
            kind = "literal"
        if kind != "comma":
            result.append(Token(kind, token.text))
        previous = token.kind if kind != "literal" else ""
    return replace(section, tokens=tuple(result), power=power, grouped=grouped)


def _fraction_tokens(tokens: list[Token], slash: int) -> list[Token] | None:
    """Return the tokens of a number with a fraction, or None if the slash isn't between placeholders."""
    left, right = slash, slash + 1
    while left and not tokens[left - 1].text.strip():
        left -= 1
    while right < len(tokens) and not tokens[right].text.strip():
        right += 1
    start, end = left, right
    while start and tokens[start - 1].kind == "digit":
        start -= 1
    while end < len(tokens) and (tokens[end].kind == "digit" or tokens[end].text.isdecimal()):
        end += 1
    text = ["".join(token.text for token in tokens[first:last]) for first, last in pairwise((start, left, right, end))]
    kind = "denominator" if set(text[2]) <= set("0#?") else "divisor"  # "??" or "16"
    if not text[0] or not text[2] or (kind == "divisor" and not text[2].isdecimal()):
        return None
    whole = [Token("whole" if token.kind == "digit" else "literal", token.text) for token in tokens[:start]]
    fraction = [Token("numerator", text[0]), Token("slash", text[1]), Token(kind, text[2])]
    return [*whole, *fraction, *(Token("literal", token.text) for token in tokens[end:])]


def _date_section(section: Section, tokens: list[Token]) -> Section | None:
    """Return a section for dates and times: "m" beside hours or seconds are minutes, and digits have one order."""
    shown: list[Token] = []
    for token in tokens:
        if token.kind == "digit" and token.text == "0" and shown and shown[-1].text.startswith("."):
            shown[-1] = Token("fraction", shown[-1].text + "0")
        elif token.kind in _NOT_IN_DATES or (token.kind == "letter" and token.text not in "TZ"):  # of ISO 8601
            return None
        elif token.kind in ("letter", "point", "comma", "slash"):
            shown.append(Token("literal", token.text))
        else:
            shown.append(token)
    places = [place for place, token in enumerate(shown) if token.kind in _DATE | _TIME - {"fraction", "half"}]
    for left, right in pairwise(places):
        if shown[right].text in ("m", "mm") and (shown[left].kind == "hour" or shown[left].text[0] == "h"):
            shown[right] = Token("minute", shown[right].text)
        elif shown[left].text in ("m", "mm") and shown[left].kind == "month" and shown[right].text[0] == "s":
            shown[left] = Token("minute", shown[left].text)
    shown = _with_iso_dates(shown)
    at_midnight = tuple(shown)
    times = [place for place, token in enumerate(shown) if token.kind in _TIME]
    days = [place for place, token in enumerate(shown) if token.kind in _DATE or token.kind == "iso"]
    if times and days and days[-1] < times[0] and Token("iso", "ymd") in shown:
        at_midnight = tuple(shown[: days[-1] + 1])
    return replace(section, kind="date", tokens=tuple(shown), at_midnight=at_midnight)


def _with_iso_dates(tokens: list[Token]) -> list[Token]:
    """Replace dates in digits only, whose order depends on the country, by a token for the same date in ISO 8601."""
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        end, parts = place, ""
        for ahead in range(place, len(tokens)):
            kind, text = tokens[ahead]
            if kind == "year" or (kind in ("month", "day") and len(text) <= 2):
                end, parts = ahead + 1, parts + text[0]
            elif not parts or kind != "literal" or text.strip("/-. "):
                break
        if sorted(parts) in (list("dmy"), list("dm"), list("my")):
            result.append(Token("iso", "ymd" if "d" in parts else "ym"))
            place = end + (tokens[end : end + 1] == [Token("literal", ".")])  # of "dd.mm."
        else:
            end = max(end, place + 1)
            result += tokens[place:end]
            place = end
    return result
