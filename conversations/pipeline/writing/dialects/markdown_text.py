"""Parses Markdown in pieces: tables and fenced code at the left margin become parts of their own.

Indented ones (such as in a list) and quoted ones stay in the Markdown text. A line is held back only while it may still
begin a table or a fence.
"""

import re

from conversations.pipeline.writing.dialects.parts import CodeHead, CodeText, End, Part, TableHead, TableRow, Words
from conversations.pipeline.writing.pictures import without_pictures

_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)")
_INDENTED_FENCE = re.compile(r"(?:[ \t]+|(?:[-*+]|\d{1,9}[.)])[ \t]+)+(`{3,}|~{3,})")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_PIPE = re.compile(r"(?<!\\)\|")
# The most characters of a line that may begin a table or a fence, so that endless lines are not held back.
LONGEST_LINE = 10_000
_BREAK = re.compile(r"(?<!\s)\s*<br\s*/?>\s*", re.IGNORECASE)
# Bounded: for each mark without an end, the rest of the cell would be searched.
_LINK = re.compile(r"\[([^\]\d][^\]]{0,300})\]\(([^)\s]{0,2000})\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]{1,300}?)(?<=\S)\*(?![\w*])")
_CODE = re.compile(r"(?<!`)(`++)(.{1,300}?)(?<!`)\1(?!`)")
_ASIDE = re.compile(r"\x00(\d+)\x00")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>|~$#])")


class MarkdownReader:
    """Takes pieces of Markdown, cut anywhere, and returns parts."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._held = ""
        # The part of the current line that was passed on; empty at the beginning of a line.
        self._line = ""
        # The closing fences of the open indented and unindented code block, and the number of the open table's columns.
        self._inner = ""
        self._fence = ""
        self._columns = 0

    def feed(self, text: str) -> list[Part]:
        """Take a piece and return the complete parts."""
        # A carriage return may be the first half of a line end.
        self._held = (self._held + text).replace("\r\n", "\n")
        return self._read(final=False)

    def close(self) -> list[Part]:
        """Return what was held back, end the open part and reset the reader."""
        parts = self._read(final=True)
        self._begin()
        return [*parts, End()]

    def _read(self, *, final: bool) -> list[Part]:
        parts: list[Part] = []
        seen = None
        while self._held and (now := (self._held, self._fence, self._columns)) != seen:
            seen = now
            if self._fence:
                self._read_code(parts, final)
            elif self._columns:
                self._read_row(parts, final)
            else:
                self._read_text(parts, final)
        return _joined(parts)

    def _read_text(self, parts: list[Part], final: bool) -> None:
        """Pass on the rest of the line, or open a part with the next one."""
        if not self._line and not self._inner:
            if self._opens_fence(parts, final) or self._opens_table(parts, final):
                return
            if self._undecided(final):
                return
        line, end, rest = self._held.partition("\n")
        if not end and not final and line.endswith("\r"):
            line, rest = line[:-1], "\r"
        parts.append(Words(line + end))
        self._line += line
        self._held = rest
        if end:
            # Within indented code, a fence at the margin does not open a block.
            if self._inner:
                if self._line.strip().startswith(self._inner) and not self._line.strip().strip(self._inner[0]):
                    self._inner = ""
            elif match := _INDENTED_FENCE.match(self._line):
                self._inner = match[1]
            self._line = ""

    def _undecided(self, final: bool) -> bool:
        """Return whether the line so far may begin a fence or a table."""
        line, end, rest = self._held.partition("\n")
        if final or len(line) > LONGEST_LINE or (end and not line.startswith("|")):
            return False
        if line[:1] in ("`", "~"):
            return bool(_FENCE.match(line)) or not line.strip(line[0])
        if not end or not line.startswith("|"):
            return line.startswith("|")
        # The second line so far may be the delimiter row of a table.
        second, end, _rest = rest.partition("\n")
        return not end and len(second) <= LONGEST_LINE and not second.strip(" \t|:-")

    def _opens_fence(self, parts: list[Part], final: bool) -> bool:
        line, end, rest = self._held.partition("\n")
        match = _FENCE.fullmatch(line.rstrip("\r")) if len(line) <= LONGEST_LINE else None
        if match is None or not (end or final) or (match[1][0] == "`" and "`" in match[2]):
            return False
        self._fence, self._held = match[1], rest
        parts.append(CodeHead(next(iter(match[2].split()), "")))
        return True

    def _opens_table(self, parts: list[Part], final: bool) -> bool:
        head, _, below = self._held.partition("\n")
        second, end, rest = below.partition("\n")
        if not head.startswith("|") or not (end or final) or max(len(head), len(second)) > LONGEST_LINE:
            return False
        if "-" not in second or not _DELIMITERS.fullmatch(second):
            return False
        columns = _cells(head)
        if len(columns) != len(_cells(second)):
            return False
        self._columns, self._held = len(columns), rest
        parts.append(TableHead(columns))
        return True

    def _read_row(self, parts: list[Part], final: bool) -> None:
        line, end, rest = self._held.partition("\n")
        if not line.startswith("|"):
            self._columns = 0
            parts.append(End())
        elif end or final:
            cells = _cells(line)
            if len(cells) > self._columns:  # keep the excess in the last column
                cells = (*cells[: self._columns - 1], " | ".join(cells[self._columns - 1 :]))
            parts.append(TableRow(cells + ("",) * (self._columns - len(cells))))
            self._held = rest

    def _read_code(self, parts: list[Part], final: bool) -> None:
        line, end, rest = self._held.partition("\n")
        stripped = line.strip()
        marks = not self._line and len(line) <= LONGEST_LINE and not stripped.strip(self._fence[0])
        if marks and stripped.startswith(self._fence) and (end or final):
            parts.append(End())
            self._fence, self._held = "", rest
            return
        if marks and not end and not final:
            return
        if not end and not final and line.endswith("\r"):
            line, rest = line[:-1], "\r"
        parts.append(CodeText(line + end))
        self._line = "" if end else self._line + line
        self._held = rest


def plain_cell(text: str) -> str:
    """Return a table cell without Markdown's marks and pictures; citation markers are kept."""
    text = without_pictures(_BREAK.sub(" ", text.replace("\\|", "|")).strip())
    codes: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        codes.append(match[2].strip())
        return f"\x00{len(codes) - 1}\x00"

    text = _CODE.sub(set_aside, text.replace("\x00", ""))
    text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", _LINK.sub(r"\1 (\2)", text)))
    return _ASIDE.sub(lambda match: codes[int(match[1])], _ESCAPED.sub(r"\1", text))


def _cells(line: str) -> tuple[str, ...]:
    """Return the cells of a line; pipes at its ends are borders."""
    text = line.strip()
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return tuple(plain_cell(cell) for cell in _PIPE.split(text))


def _joined(parts: list[Part]) -> list[Part]:
    """Return the parts with adjacent pieces of a block merged."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Words) and isinstance(last, Words):
            joined[-1] = Words(last.text + part.text)
        elif isinstance(part, CodeText) and isinstance(last, CodeText):
            joined[-1] = CodeText(last.text + part.text)
        else:
            joined.append(part)
    return joined
