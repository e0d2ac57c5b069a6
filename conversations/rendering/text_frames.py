"""Messages for updating an answer's text on a page: only the changed end is sent, for `static/js/text-frames.js`.

A record is `~PLACE[,DROP[,FINISHED[,EVENTS]]]~HTML`. The page removes `DROP` characters (`*` for all) from the end of
the HTML that it was last sent for the place, appends the HTML, and moves the first `FINISHED` characters (`*` for all,
which closes the place) before it, as they are final. Without `DROP`, the HTML is inserted before the closing tags at
the end instead. `EVENTS` is the increment of the answer's `seq`, 1 by default. Characters are UTF-16 code units, as in
JavaScript. Records in one message are separated by `SEPARATOR`. A citation that was sent before is referred to by its
number and its classes except the first, between `NAMED`s.
"""

import re

MARK = "~"
SEPARATOR = "\x1e"
NAMED = "\x1f"
_RESERVED = str.maketrans(dict.fromkeys((SEPARATOR, NAMED), " "))
_CITATION = re.compile(r'<sup class="citation([^"]*)"><a [^<>]*?data-citation="(\d+)".*?</sup>', re.DOTALL)
_CLOSING_TAG = re.compile(r"</\w+>\n?", re.ASCII)


class Records:
    """Creates the records of one answer, and keeps track of the citations that were sent."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}

    def record(self, place: str, html: str, events: int, drop: int | str = "", finished: int | str = "") -> str:
        """Return a record; `place` is the message's id and the block's, `12-b1`."""
        fields = [place, str(drop), str(finished or ""), "" if events == 1 else str(events)]
        while not fields[-1]:
            fields.pop()
        return f"{MARK}{','.join(fields)}{MARK}{_CITATION.sub(self._named, html.translate(_RESERVED))}"

    def _named(self, citation: re.Match[str]) -> str:
        name = citation[2] + citation[1]
        if self._sent.get(name) == citation[0]:
            return f"{NAMED}{name}{NAMED}"
        self._sent[name] = citation[0]
        return citation[0]


class Tail:
    """The open end of a text block on the page; None until it was sent in full."""

    def __init__(self, records: Records) -> None:
        self._record = records.record
        self._shown: str | None = None

    def becomes(self, place: str, html: str, events: int, finished: str | None = "") -> str:
        """Return the record that changes it to `html`, which starts with `finished`; None closes it."""
        known = self._shown
        if known and finished == "" and (new := _inserted(known, html)) is not None:
            self._shown = html
            return self._record(place, new, events)
        # The length of the common prefix, by binary search.
        kept, most = 0, min(len(known or ""), len(html))
        while known and kept < most:
            middle = (kept + most + 1) // 2
            if known[kept:middle] == html[kept:middle]:
                kept = middle
            else:
                most = middle - 1
        drop: int | str = "*" if known is None else _units(known[kept:])
        self._shown = html[len(finished or "") :]
        return self._record(place, html[kept:], events, drop, "*" if finished is None else _units(finished))


def _inserted(before: str, after: str) -> str | None:
    """Return the text inserted before the closing tags at the end, or None if anything else differs."""
    end = len(before)
    while (start := before.rfind("</", 0, end)) >= 0 and _CLOSING_TAG.fullmatch(before, start, end):
        end = start
    if len(after) < len(before) or after[:end] != before[:end] or not after.endswith(before[end:]):
        return None
    return after[end : len(after) - len(before) + end]


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
