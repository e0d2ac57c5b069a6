"""Separates a mail's own words from the older mails that it quotes or forwards, which programs add in many ways.

Tried first, on 60 mails of about thirty programs: quotequail and mail-parser-reply, which know only Western clients.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from knowledge.parsing import text
from knowledge.parsing.elements import Element, Heading, Paragraph, Table

# Marks that `marked` puts around the quotes in HTML, where they become paragraphs.
_CITED, _INDENTED, _END = "\ue0c1", "\ue0c2", "\ue0c3"
_MARKS = re.compile(f"[{_CITED}{_INDENTED}{_END}]")
_BLOCKQUOTE = re.compile(r"<(/?)blockquote\b([^>]*)>", re.I)
_IS_CITED = re.compile(r"""type\s*=\s*["']?cite|_quote|isReplyContent|ReplyContent|moz-""", re.I)
_QUOTE_MARKS = re.compile(r"\s?((?:>[ \t]?)+)(?!>)")
_QUOTE_LABELS = ("Quoted: ", "引用：")  # in English and Chinese
_FORWARD_LABELS = ("Forwarded: ", "转发：")
_MOST_QUOTES = 100  # within each other
_MOST_GREETING = 2  # lines
_MOST_BLANK = 5  # lines between what introduces a quote and the quote
_LONGEST_HEAD = 300  # characters of a line that introduces a quote
_MOST_HEAD_LINES = 40  # of the header of a quoted mail, with its recipients

_NAMES = {
    "from": r"from|发件人|發件人|寄件者|寄件人",
    "sent": r"sent|发送时间|发送日期|發送時間|寄件日期|傳送時間|寄件時間",
    "date": r"date|日期|时间|時間",
    "to": r"to|收件人|收件者",
    "subject": r"subject|主\s*题|主\s*題|主旨|标题|標題",
    "other": r"b?cc|reply-to|importance|attachments?|organization|抄送[人至]?|密送|副本|附件|重要性|回复|回覆",
}
_FIELD = re.compile(
    r"[*|\s]*(?:"
    + "|".join(f"(?P<{kind}>{names})" for kind, names in _NAMES.items())
    + r")\*{0,2}\s*[:：|]\s*\*{0,2}\s*(?P<value>.*)",
    re.I,
)
_FORWARDED = re.compile(r"\s*(?:fwd?|转发|轉寄|轉發)\s*[:：]|.*(?:forwarded (?:message|by)|转发|轉寄|轉發)", re.I)
_SEPARATOR = re.compile(
    r"[-‐–—_=*\s]{2,}(?:original message|forwarded message|forwarded by .{2,100}|(?:回复的)?原始?[邮郵]件"
    r"|[邮郵]件原件|原信|(?:转发|轉寄|轉發)的?[邮郵]件(?:信息)?)[-‐–—_=*\s]{2,}|begin forwarded message[:：]"
    r"|(?:(?:下面|以下)是(?:被?转发|轉寄|轉發)的[邮郵]件|开始转发的[邮郵]件|開始轉寄的?郵件)[:：]",
    re.I,
)
_RULE = re.compile(r"[-‐–—_=]{10,}")
_ATTRIBUTION = re.compile(
    r"(?:-+\s*)?(?:on|at) .*\d.* wrote\s*(?:[:：]|-+)?|[^<>]+ <\S+@\S+> wr(?:ote|ites)\s*:|.+ wrote (?:on|at) .*\d.*:"
    r"|(?:在\s*.*\d.*|.+[于於]\s*\d.*|\d{4}.*[,，].+)[写寫]道\s*[:：]?",
    re.I,
)
_WROTE = re.compile(r"(?:wrote|writes|[写寫]道)\s*[:：]$", re.I)
_MOMENT = re.compile(r"\d[:：]\d\d|\S@\S")  # a time of day or an address
_FOOTER = re.compile(r"--|_{5,}|-{5,}|={5,}|sent from my |get outlook for |发自我的|發自我的|從我的", re.I)
_CHINESE = re.compile("[㐀-鿿]")


@dataclass(slots=True)
class _Line:
    """A line of a mail; `element` is what it is part of in HTML, `depth` the number of quotes around it.

    `is_cited` is false if these quotes are only indented, as a writer may indent a passage.
    """

    text: str
    depth: int = 0
    is_cited: bool = False
    element: Element | None = None


@dataclass(slots=True)
class _Head:
    """What introduces a quote: a sentence, or fields of a header; `end` is the number of the line after it."""

    end: int = 0
    words: str = ""
    fields: tuple[str, ...] = ()
    is_forwarded: bool = False
    is_certain: bool = True  # even if nothing marks the lines after it as a quote


def marked(html: str) -> str:
    """Return a mail's HTML with marks around its quotes, for `elements_of_html`."""

    def mark(found: re.Match[str]) -> str:
        if found[1]:
            return f"<p>{_END}</p>{found[0]}"
        return f"{found[0]}<p>{_CITED if _IS_CITED.search(found[2]) else _INDENTED}</p>"

    return _BLOCKQUOTE.sub(mark, _MARKS.sub("", html))


def is_quoted(heading: str) -> bool:
    """Return whether a passage under a heading was quoted by a newer mail, which may have corrected it."""
    return heading.startswith(_QUOTE_LABELS) or heading == _QUOTE_LABELS[0].rstrip(" :")


def elements_of_text(source: str, subject: str) -> Iterator[Element]:
    """Yield the elements of a mail's plain text: its own words, then those it quotes under headings that say so."""
    lines = []
    for line in source.split("\n"):
        marks = _QUOTE_MARKS.match(line)
        depth = marks[1].count(">") if marks else 0
        lines.append(_Line(line[marks.end() :] if marks else line, depth, depth > 0))
    yield from _elements(lines, subject)


def elements_of_html(elements: list[Element], subject: str) -> Iterator[Element]:
    """Yield the elements of `marked` HTML in the same order as those of plain text."""
    lines: list[_Line] = []
    open_quotes: list[bool] = []
    for element in elements:
        if isinstance(element, Paragraph) and (marks := _MARKS.findall(element.text)):
            for mark in marks:
                if mark != _END:
                    open_quotes.append(mark == _CITED)
                elif open_quotes:
                    open_quotes.pop()
            if not (words := _MARKS.sub("", element.text)).strip(" -"):
                continue
            element = replace(element, text=words)
        texts = [""]
        if isinstance(element, Paragraph):
            texts = element.text.split("\n")
        elif isinstance(element, Table):
            element = replace(
                element,
                columns=tuple(_MARKS.sub("", cell) for cell in element.columns),
                rows=tuple(tuple(_MARKS.sub("", cell) for cell in row) for row in element.rows),
            )
            # Thunderbird and NetEase show the header of a quoted mail as a table.
            rows = [
                ": ".join((row[0].rstrip(" :："), *row[1:])) for row in (element.columns, *element.rows) if any(row)
            ]
            fields = [_FIELD.fullmatch(row) for row in rows]
            if (
                all(fields)
                and any(each and each["from"] for each in fields)
                and any(e and e["subject"] for e in fields)
            ):
                element, texts = Paragraph(text="\n".join(rows)), rows
        lines += [_Line(words, len(open_quotes), any(open_quotes), element) for words in texts]
    yield from _elements(lines, subject)


def _elements(lines: list[_Line], subject: str) -> Iterator[Element]:
    is_forwarded = bool(_FORWARDED.match(subject))
    head: _Head | None = None
    for _ in range(_MOST_QUOTES):
        own, following, lines = _split(lines)
        if head is not None:
            yield from _introduction(head, is_forwarded)
            is_forwarded = False
        yield from _own(own, bool(subject))
        if following is None:
            return
        head = following
    yield from _introduction(_Head(), False)
    yield from _own(lines, bool(subject))


def _introduction(head: _Head, is_forwarded: bool) -> Iterator[Element]:
    """Yield the heading of a quoted mail, and its header."""
    labels = (
        ("引用：", "转发：") if _CHINESE.search(head.words or "".join(head.fields)) else ("Quoted: ", "Forwarded: ")
    )
    # On the level of the subject, so that older words are a passage of their own, apart from the newer ones.
    words = (labels[is_forwarded or head.is_forwarded] + head.words).rstrip(" :：")
    yield Heading(text=words, level=1)
    if head.fields:
        yield Paragraph(text="\n".join(head.fields))


def _own(lines: list[_Line], deeper: int) -> Iterator[Element]:
    """Yield the elements of a mail's own words, with "> " before the lines to which they reply one by one."""
    for (is_cited, _), group in groupby(lines, lambda line: (line.is_cited, id(line.element))):
        part = list(group)
        words = "\n".join(line.text for line in part)
        whole = part[0].element
        for element in text.elements_of(words) if whole is None else [whole]:
            if whole is not None and isinstance(element, Paragraph):
                element = replace(element, text=words)
            if is_cited and isinstance(element, Paragraph | Heading):
                element = Paragraph(text="\n".join(f"> {line}" for line in element.text.split("\n")))
            elif isinstance(element, Heading):  # below the subject
                element = replace(element, level=element.level + deeper)
            if not isinstance(element, Paragraph) or element.text.strip("> \n"):
                yield element


def _split(lines: list[_Line]) -> tuple[list[_Line], _Head | None, list[_Line]]:
    """Return the lines of the newest mail, the head of the mail that it quotes, or None, and that mail's lines."""
    last_quoted = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].depth), -1)
    at = spoken = 0  # lines before, and those of them with words
    while at < len(lines):
        if _is_blank(lines[at]) and not lines[at].depth:
            at += 1
            continue
        head = _head(lines, at) if lines[at].depth == 0 else _Head(at)
        if head is None:
            at, spoken = at + 1, spoken + 1
            continue
        start = head.end
        while start < len(lines) and _is_blank(lines[start]):
            start += 1
        end = start
        while end < len(lines) and (lines[end].depth or _is_blank(lines[end])):
            end += 1
        is_last = end == len(lines) or bool(_FOOTER.match(lines[end].text.strip()))
        quoted = [replace(line, depth=max(line.depth - 1, 0), is_cited=line.depth > 1) for line in lines[start:end]]
        inner = _head(quoted, 0)
        is_quote = head.end > at or inner is not None or (bool(quoted) and lines[start].is_cited)
        # An answer below the only quote, after no more than a greeting, is moved above it, like all others.
        is_above = spoken <= _MOST_GREETING and head.end > at and last_quoted < end
        if quoted and is_quote and (is_last or is_above):
            if inner is not None:
                words, fields = inner.words or head.words, inner.fields or head.fields
                head = replace(inner, words=words, fields=fields, is_forwarded=inner.is_forwarded or head.is_forwarded)
                quoted = quoted[inner.end :]
            return [*lines[:at], *lines[end:]], head, quoted
        if head.fields or (head.end > at and head.is_certain and not quoted):
            return lines[:at], head, lines[head.end :]
        # The mail's own words stand between the lines to which they reply.
        at, spoken = max(end, at + 1), _MOST_GREETING + 1
    return lines, None, []


def _is_blank(line: _Line) -> bool:
    return not line.text.strip() and (line.element is None or isinstance(line.element, Paragraph))


def _head(lines: list[_Line], at: int) -> _Head | None:
    """Return the head of a quoted mail that begins at a line, or None."""
    at = next((each for each in range(at, len(lines)) if not _is_blank(lines[each])), len(lines))
    if at == len(lines) or lines[at].depth:
        return None
    line = lines[at].text.strip()
    if _RULE.fullmatch(line):
        return _header(lines, at + 1, 3)
    if not _SEPARATOR.fullmatch(line):
        return _header(lines, at, 3) or _attribution(lines, at)
    following = next((each for each in range(at + 1, len(lines)) if not _is_blank(lines[each])), len(lines))
    head = _header(lines, at + 1, 2) or _attribution(lines, following) or _Head(at + 1)
    return replace(head, is_forwarded=bool(_FORWARDED.match(line)), is_certain=True)


def _header(lines: list[_Line], at: int, least: int) -> _Head | None:
    """Return the header of a quoted mail with at least so many fields, or None."""
    values: dict[str, str] = {}
    shown: list[str] = []
    end = at
    for place in range(at, min(at + _MOST_HEAD_LINES, len(lines))):
        line = lines[place]
        if _is_blank(line) and not shown:
            continue
        found = _FIELD.fullmatch(line.text.strip())
        if found is not None and not line.depth:
            kind = next(name for name in _NAMES if found[name])
            if kind == "from" and kind in values:
                break
            values[kind] = found["value"].strip(" ;*|")
            if values[kind]:
                shown.append(
                    " ".join(line.text.replace("*", "").split()).strip("; ").strip("| ").replace(" | ", ": ", 1)
                )
            end = place + 1
        elif not shown or line.depth or _is_blank(line):
            break
    is_mail = least < 3 or "sent" in values or "subject" in values or "@" in values.get("from", "")
    if "from" not in values or not is_mail or len(values) < least:
        return None
    return _Head(end, ", ".join(filter(None, (values["from"], values.get("sent") or values.get("date")))), tuple(shown))


def _attribution(lines: list[_Line], at: int) -> _Head | None:
    """Return the sentence that introduces a quote, which may be wrapped, or None."""
    for end in range(at, min(at + 3, len(lines))):
        if lines[end].depth or _is_blank(lines[end]):
            break
        # The first of the joined lines that it may begin with: those before belong to the text.
        joined = [" ".join(line.text.strip() for line in lines[first : end + 1]) for first in range(at, end + 1)]
        fits = [len(words) <= _LONGEST_HEAD and bool(_ATTRIBUTION.fullmatch(words)) for words in joined]
        if fits[0]:
            return None if any(fits[1:]) else _Head(end + 1, joined[0], is_certain=bool(_MOMENT.search(joined[0])))
        following = next((line for line in lines[end + 1 : end + _MOST_BLANK] if not _is_blank(line)), None)
        has_details = "@" in joined[0] or sum(map(str.isdigit, joined[0])) > 2 or _WROTE.search(joined[0])
        # In other languages only the date or address and the colon are known.
        if end == at and following and following.is_cited and has_details and joined[0].endswith((":", "：")):
            return _Head(end + 1, joined[0])
    return None
