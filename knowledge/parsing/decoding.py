"""Decodes bytes: detects character sets, maps symbol fonts, and removes characters that no page should show."""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from knowledge.parsing.errors import ParseError

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_OTHER_FORMATS = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP or Office"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "older Office or encrypted Office"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x1f\x8b", "gzip"),
    (b"GIF8", "GIF"),
    (b"\x7fELF", "program"),
)
# First bytes of the common characters (level 1) of the double-byte sets.
_COMMON = {"gb18030": (0xB0, 0xD7), "cp932": (0x88, 0x97), "big5": (0xA4, 0xC6), "euc_jp": (0xB0, 0xCF)}
_CANDIDATES = ("gb18030", "cp932", "big5", "euc_jp", "euc_kr", "cp1252", "cp1251", "latin-1")
# Encodings that Python knows but no file uses, and those that are detected by their zero bytes.
_NO_CHARACTER_SETS = frozenset(
    {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"}
    | {"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"}
)
_FREQUENT = frozenset(
    "的一是不了在人有我他这中大来上国和也子时道说为我你你們這個會來時說為國對們のにはをたがでてとしれさ"
)
_SAMPLE = 20_000  # bytes
# Control characters, and invisible ones that interfere with search: soft hyphen, zero width, byte order, bidi.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]"
)
_MIXED_WORD = re.compile("[A-Za-z][а-яА-Я]|[а-яА-Я][A-Za-z]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_POWER = re.compile(r"[-+−–]?(?:\d+[\d.,]*|\d*[a-z](?:[-+−–]\d+)?|\d+/\d+)|[-+−–]", re.IGNORECASE)
# What a power stands after: a base of ten, a lone variable, a unit, or a term in parentheses.
_TAKES_POWER = re.compile(
    r"(?:(?<![\d.,])10|(?<![^\W\d_])(?:[A-Za-zα-ωΑ-Ω]|[cdkmnµμ]m|[mnµμ]s|kg|ft|in|yd|mi|Hz|mol|sec|min)"
    r"|=\s*[A-Za-z]{2}|\([^()\s]{1,12}(?:\s*[-+−–*/·×]\s*[^()\s]{1,12})*\))$"
)
_TAKES_LARGE_POWER = re.compile(r"(?<![\d.,])[2-9]$")
_LARGE_POWER = re.compile(r"[-+−–].*|\d\d+|[a-zA-Z]")
# The mark of a note, or of several.
_NOTE = re.compile(r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*|[a-z]|\*{1,3}|[†‡§]")
_ORDINALS = frozenset("aeo")  # French 2e, Spanish 1a and 1o
_COUNTS = re.compile(r"(?<![\d.,])\d{1,2}$")
_RAISED = re.compile(r"\^[-+−–\d.]*$")
# The characters that symbol fonts show instead of letters: "b" in Symbol is β. From 0x20 and from 0xA0, according to
# Unicode's "Adobe Symbol Encoding to Unicode"; spaces are codes without a character of their own.
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ ",
)
_CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"
# Of other fonts only boxes, ticks, arrows, bullets and numbers, in runs from a code on; the rest are pictures.
_FONTS: dict[str, dict[int, str]] = {
    "symbol": {0x20: _SYMBOL[0], 0xA0: _SYMBOL[1]},
    "wingdings": {
        0x28: "☎", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●❍■□□❑❒⬧⧫◆❖⬥⌧", 0x80: _CIRCLED, 0x9E: "·•", 0xA1: "○",
        0xA7: "▪☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←→↑↓↖↗↙↘←→↑↓↖↗↙↘⇦⇨⇧⇩", 0xFB: "✗✓☒☑",
    },
    "wingdings 2": {0x4F: "✗✓☒☑☒☒", 0xA3: "☐"},
    "wingdings 3": {0x66: "←→↑↓", 0x70: "▲▼△▽◀▶◁▷", 0x7D: "▶"},
}  # fmt: skip
_SIGNS = {
    name: {first + step: sign for first, signs in runs.items() for step, sign in enumerate(signs) if sign != " "}
    for name, runs in _FONTS.items()
}


def read_text(path: Path) -> str:
    """Return a text file's text, cleaned; raises `ParseError` ("empty" or "broken") if it contains none."""
    data = path.read_bytes()
    if not data.strip():
        raise ParseError("empty")
    text = clean(decode(data))
    if not text.strip():
        raise ParseError("empty.white_space")
    return text


def decode(data: bytes, declared: str = "") -> str:
    """Return decoded bytes, trying the `declared` character set first; raises `ParseError` ("broken")."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    for mark, name in _OTHER_FORMATS:
        if data.startswith(mark):
            raise ParseError("broken.not_text", kind=name)
    sample = data[:_SAMPLE]
    control = sum(sample.count(code) for code in range(32) if code not in (0, 9, 10, 12, 13, 27))
    wide = ""  # UTF-16 without a byte order mark, detected by the positions of zero bytes
    if len(sample) >= 4:
        even, odd = sample[0::2].count(0) / (len(sample) / 2), sample[1::2].count(0) / (len(sample) / 2)
        if odd > 0.3 and even < 0.05:
            wide = "utf-16-le"
        elif even > 0.3 and odd < 0.05:
            wide = "utf-16-be"
    if control > len(sample) * 0.05 or (sample.count(0) > len(sample) * 0.01 and not wide):
        raise ParseError("broken.binary")
    if wide:
        return data.decode(wide, errors="replace")
    for encoding in (declared, "utf-8"):
        with suppress(UnicodeDecodeError, LookupError):
            if codecs.lookup(encoding).name not in _NO_CHARACTER_SETS:
                return data.decode(encoding)
    # A file that was cut or joined carelessly is UTF-8 except for a few bytes.
    text = sample.decode("utf-8", errors="replace")
    if text.count("\ufffd") <= sum(1 for character in text if ord(character) > 127) * 0.05:
        return data.decode("utf-8", errors="replace")
    scores = {encoding: _score(sample, encoding) for encoding in _CANDIDATES}
    return data.decode(max(_CANDIDATES, key=lambda encoding: scores[encoding]), errors="replace")


def clean(text: str) -> str:
    """Return text with plain line ends and spaces and without control characters."""
    text = _LINE_ENDS.sub("\n", text)
    text = _SURROGATES.sub("\ufffd", text)
    return _SPACES.sub(" ", _INVISIBLE.sub("", text))


def is_of_symbols(font: str) -> bool:
    """Return whether the font with this name shows symbols instead of letters."""
    return font.lower() in _SIGNS


def as_shown(text: str, font: str, letters: bool = True) -> str:
    """Return a text as a font shows it; characters without a symbol, and text in other fonts, are returned unchanged.

    Programs write a symbol's code, from 0x20 to 0xFF, with 0xF000 added, or without it, which `letters` allows.
    """
    signs = _SIGNS.get(font.lower(), {})
    codes = ((char, ord(char) - 0xF000 if char >= "\uf000" else ord(char)) for char in text)
    return "".join(signs.get(code, char) if letters or char >= "\uf000" else char for char, code in codes)


def raised(text: str, before: Sequence[str]) -> str:
    """Return superscript text as it reads after the text before it: 10^6, m^2, 1st, but 45000[3] for a note.

    Otherwise 10⁶ would read as 106, and €24¹ as a higher price.
    """
    last, mark = "".join(before[-3:]), text.strip()
    if _RAISED.search(last) or (mark in _ORDINALS and _COUNTS.search(last)):
        return text
    if _POWER.fullmatch(mark) and (
        _TAKES_POWER.search(last)
        or mark[0] in "-+−–"
        or (_TAKES_LARGE_POWER.search(last) and _LARGE_POWER.fullmatch(mark))
    ):
        return f"^{text}" if last[-1:].isalnum() or last.endswith(")") else text
    if _NOTE.fullmatch(mark):
        return f"[{mark}]" + (" " if not last.strip() and text[-1:].strip() else "")
    return text


def _score(sample: bytes, encoding: str) -> float:
    """Return how plausible the sample is in an encoding: the mean score of its non-ASCII characters."""
    text = sample.decode(encoding, errors="replace").removesuffix("\ufffd")
    wide = [character for character in text if ord(character) > 127]
    if not wide:
        return 0.0
    if encoding == "cp1251" and len(_MIXED_WORD.findall(text)) > len(wide) * 0.1:
        return -1.0
    return sum(_plausible(character, encoding) for character in wide) / len(wide)


def _plausible(character: str, encoding: str) -> float:
    code = ord(character)
    if character == "\ufffd" or 0xE000 <= code <= 0xF8FF or unicodedata.category(character) in ("Cc", "Cn"):
        return -5.0
    if character in _FREQUENT:
        return 2.0
    if 0x3041 <= code <= 0x30FF:
        return 1.5 if encoding in ("cp932", "euc_jp") else 0.2
    if 0x3000 <= code <= 0x303F or 0xFF01 <= code <= 0xFF5E:
        return 1.0
    if 0x4E00 <= code <= 0x9FFF:
        low, high = _COMMON.get(encoding, (1, 0))
        return 0.8 if low <= character.encode(encoding, errors="replace")[0] <= high else 0.0
    if 0xAC00 <= code <= 0xD7A3:
        return 0.9
    if encoding == "cp1252":
        return 0.7 if character in "éèêëàâäáãåçñíìîïóòôöõøúùûüßæœ–—’‘“”…€£©®°ÉÈÀÂÄÖÜÇÑÅØ·•§«»" else -0.5
    if encoding == "cp1251":
        if "а" <= character <= "я":
            return 0.75
        return 0.3 if "А" <= character <= "Я" else -0.5
    return -0.5 if encoding == "latin-1" else 0.0
