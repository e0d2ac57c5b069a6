"""Plain text: splits paragraphs at blank lines, joins hard-wrapped lines, and recognises only obvious headings."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from knowledge.parsing.decoding import read_text
from knowledge.parsing.elements import Code, Element, Heading, Paragraph
from knowledge.parsing.registry import ParseContext

_LOG_BLOCK = 100  # lines
_LONGEST_TITLE = 80  # columns; a wide character takes two
_LONGEST_WORD = 15  # columns; longer words, such as URLs, don't count as having been too long for the rest of a line
_UNDERLINE = re.compile(r"(=|-|~|\*)\1{2,}\s*$")
_CHAPTER = re.compile(r"第\s*[一二三四五六七八九十百千零〇两\d]+\s*([章节回卷部篇編编])(?:\s|[:：、]|$|\S{1,30}$)")
_CHINESE_NUMBER = re.compile(r"(?:[一二三四五六七八九十]{1,3}、|([(（][一二三四五六七八九十]{1,3}[)）]))\s*\S")
_ENGLISH_CHAPTER = re.compile(r"(?:CHAPTER|Chapter|PART|Part|APPENDIX|Appendix)\s+(?:\d+|[IVXLC]+|[A-Z])\b")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=[A-Z㐀-鿿])")
_STARTS = re.compile(  # a list item, an article of a law, a paragraph indented the Chinese way
    r"\s*(?:[-*–]|\d{1,3}[.)]|[(（]\d{1,3}[)）]|[a-z][.)])\s+\S|\s*(?:[•●○■◆▪·]|\d{1,3}、)\s*\S"
    r"|\s*第[一二三四五六七八九十百千零〇两\d]+条|　"
)
_ENDS_SENTENCE = re.compile(r"[.。!！?？:：;；,，、…][\"'”’」』）)]*$")
# An entry of a table of contents, a list of notes, or a list of terms or dates.
_ENTRY = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s|\[\d+\]\s|[^.:：]{1,24}[:：]\s")
_INNER_GAP = re.compile(r"\S(?: {3,}|\t)\S")
# An option in a manual page, which precedes its description.
_OPTION = re.compile(r"\s*-{1,2}[A-Za-z0-9?][^.。!！:：;；]{0,60}$")
_CODE_LINE = re.compile(r"[;{}\\]$|^[$#>%] |^\w+ ?= ?\S|\w\(.*\)$")


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of a text file; raises `ParseError` if it is empty or binary."""
    text = read_text(path)
    if context.filename.lower().endswith(".log"):
        entries = [line.rstrip() for line in text.split("\n") if line.strip()]
        for start in range(0, len(entries), _LOG_BLOCK):
            yield Code(text="\n".join(entries[start : start + _LOG_BLOCK]))
        return
    yield from elements_of(text)


def elements_of(text: str) -> Iterator[Element]:
    """Yield the elements of a text."""
    blocks = [block.strip("\n").split("\n") for block in re.split(r"\n[ \t　]*(?:\n[ \t　]*)+", text) if block.strip()]
    margin = _margin(blocks)
    for number, lines in enumerate(blocks):
        following = blocks[number + 1][0] if number + 1 < len(blocks) else ""
        yield from _block([line.rstrip() for line in lines if line.strip()], following, margin)


def _margin(blocks: list[list[str]]) -> int:
    """Return the column at which a text is hard-wrapped, or 0; lines broken in mid-sentence have similar lengths."""
    pairs = [(line.rstrip(), after) for lines in blocks for line, after in pairwise(lines)]
    widths = sorted(_columns(line) for line, after in pairs if _continues(line, after))
    if len(widths) < 5:
        return 0
    margin = widths[len(widths) * 9 // 10]
    near = sum(1 for width in widths if width >= margin * 0.75)
    return margin if 40 <= margin <= 120 and near >= len(widths) * 0.6 else 0


def _continues(line: str, after: str) -> bool:
    """Return whether a sentence seems to continue from a line to the next."""
    last, first = line[-1:] or " ", after.lstrip()[:1] or " "
    wide = _is_wide(last) and _is_wide(first) and first.isalpha()
    return (last.isalpha() or last in ",，、") and (first.islower() or wide)


def _is_broken(line: str, after: str, margin: int) -> bool:
    """Return whether a line was wrapped at the margin because the next one's first word didn't fit."""
    text = after.strip()
    first = text.split(None, 1)[0]
    drawn = text[0] in "|-_=+*#%~" or (_INNER_GAP.search(line.strip()) and _INNER_GAP.search(text))
    code = _CODE_LINE.search(line.rstrip(";")) or _CODE_LINE.search(text.rstrip(";"))
    if drawn or code or line.endswith((":", "：")):
        return False
    continues = _continues(line, after)
    deeper = (len(after) - len(after.lstrip())) - (len(line) - len(line.lstrip()))
    hangs = (deeper > 0 and not _STARTS.match(line)) or (deeper < 0 and line.endswith((".", "!", "?")))
    if not continues and (hangs or _ENTRY.match(text) or line.split(None, 1)[0] == first):
        return False
    word = 2 if _is_wide(first[0]) else 1 + min(_columns(first), _LONGEST_WORD)
    return _columns(line) + word > margin * (0.75 if continues else 0.9)


def _block(lines: list[str], following: str, margin: int) -> Iterator[Element]:
    """Yield the elements of the lines between blank ones; `following` is the first line after them."""
    if len(lines) == 1:
        level = _title_level(lines[0], following)
        yield Heading(text=lines[0].strip(), level=level) if level else Paragraph(text=_spaced(lines[0].strip()))
        return
    if len(lines) >= 2 and _UNDERLINE.match(lines[1]) and _columns(lines[0]) <= _LONGEST_TITLE:
        yield Heading(text=lines[0].strip(), level=1 if lines[1].startswith(("=", "*")) else 2)
        lines = lines[2:]
    elif level := chapter_level(lines[0]):
        yield Heading(text=lines[0].strip(), level=level)
        lines = lines[1:]
    if not lines:
        return
    gaps = sum(1 for line in lines if _INNER_GAP.search(line.strip()))
    drawn = len(lines) > 2 and gaps >= len(lines) * 0.7  # a table drawn with spaces
    indented = all(line.startswith(("    ", "\t")) for line in lines)
    if drawn or (indented and sum(1 for line in lines if _CODE_LINE.search(line.strip())) >= len(lines) * 0.5):
        yield Code(text="\n".join(lines))
        return
    # Hard-wrapped lines are joined; all others are separate. In a hard-wrapped paragraph only the last line of an item
    # is short.
    width = max(_columns(line) for line in lines)
    full = [line for line, after in pairwise(lines) if not _STARTS.match(after)]
    if full:
        long_enough = sum(1 for line in full if _columns(line) >= width * 0.65) >= len(full) * 0.8
        closed = len(full) > 2 and all(_ENDS_SENTENCE.search(line) for line in full)
        wrapped = long_enough and not closed
    else:
        wrapped = any(_STARTS.match(line) for line in lines)
    wrapped = wrapped and 30 <= width <= 120
    text = before = ""
    for line in lines:
        joined = text and (wrapped or (margin and _is_broken(before, line, margin)))
        if text == before.strip() and _OPTION.match(before) and _indent(line) > _indent(before):
            text, joined = f"{text}:", True
        before = line
        level = 0 if joined else chapter_level(line)
        if text and (not joined or level or _STARTS.match(line)):
            yield Paragraph(text=_spaced(text))
            text = ""
        if level:
            yield Heading(text=line.strip(), level=level)
        else:
            text = join_lines(text, line)
    if text:
        yield Paragraph(text=_spaced(text))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def join_lines(before: str, line: str) -> str:
    """Join a wrapped line to the text before it, without a space between Chinese, and joining hyphenated words."""
    line = line.strip()
    if not before or not line:
        return before or line
    if before.endswith("-") and before[-2:-1].isalpha() and line[0].islower():
        return before[:-1] + line
    if _is_wide(before[-1]) and _is_wide(line[0]):
        return before + line
    return f"{before} {line}"


def _title_level(line: str, following: str) -> int:
    """Return the level of a heading between blank lines, or 0."""
    text = line.strip()
    if level := chapter_level(line):
        return level
    if _columns(text) > _LONGEST_TITLE or _ENDS_SENTENCE.search(text):
        return 0
    if _ENGLISH_CHAPTER.match(text):
        return 1
    if match := _NUMBERED.match(text):
        depth = match.group(1).count(".") + 1
        return depth if depth > 1 or not _NUMBERED.match(following.strip()) else 0
    capitals = text.isascii() and text.isupper() and sum(map(str.isalpha, text)) >= 4
    return 1 if capitals and len(text) <= 60 and not _STARTS.match(text) else 0


def chapter_level(line: str) -> int:
    """Return the level of a Chinese chapter heading ("第一章 …", "一、…", "（一）…"), or 0."""
    text = line.strip().strip("　")
    if _columns(text) > 60 or _ENDS_SENTENCE.search(text):
        return 0
    if match := _CHAPTER.match(text):
        return 2 if match.group(1) == "节" else 1
    if match := _CHINESE_NUMBER.match(text):
        return 3 if match.group(1) else 2
    return 0


def _spaced(text: str) -> str:
    return re.sub(r"[ \t]{2,}", " ", text)


def looks_like_title(text: str) -> bool:
    """Return whether a line is short and doesn't end like a sentence."""
    return _columns(text) <= _LONGEST_TITLE and "\n" not in text and not _ENDS_SENTENCE.search(text)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if _is_wide(character) else 1 for character in text)


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
