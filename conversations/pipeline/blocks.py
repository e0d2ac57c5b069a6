"""Writing an answer as block events, with citation markers checked on the way."""

import re
from collections.abc import Iterable

from conversations.events import BlockEnd, BlockKind, BlockStart, BlockUpdate, Delta, Event
from conversations.pipeline.graph import Emit
from conversations.pipeline.state import PictureInfo, State

_MARKER = re.compile(r"[\[【](\d{1,3})[\]】]")
# The end of a piece that may be the beginning of a marker.
_OPEN_MARKER = re.compile(r"[\[【]\d{0,3}\Z")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$#])")


class BlockWriter:
    """Emits blocks with ids `b1`, `b2`, … and keeps the state's answer in step with them."""

    def __init__(self, state: State, emit: Emit) -> None:
        self._state = state
        self._emit = emit
        self._open_text: str | None = None

    async def text(self, text: str) -> None:
        """Append Markdown to the open text block, opening one when there is none."""
        if not text:
            return
        if self._open_text is None:
            self._open_text = await self._start("text")
        await self._send(Delta(id=self._open_text, text=text))

    async def table(self, columns: list[str], rows: Iterable[list[str]]) -> None:
        """Write a whole table."""
        await self.close()
        block = await self._start("table", columns=columns)
        for row in rows:
            await self._send(Delta(id=block, row=row))
        await self._send(BlockEnd(id=block))

    async def picture(self, picture: PictureInfo) -> None:
        """Write a picture."""
        await self.close()
        block = await self._start("image", alt=picture.alt)
        await self._send(BlockUpdate(id=block, url=picture.url, width=picture.width, height=picture.height))
        await self._send(BlockEnd(id=block))

    async def close(self) -> None:
        """End the open text block, if any."""
        if self._open_text is not None:
            await self._send(BlockEnd(id=self._open_text))
            self._open_text = None

    async def _start(self, kind: BlockKind, columns: list[str] | None = None, alt: str | None = None) -> str:
        block = f"b{len(self._state.answer.blocks) + 1}"
        await self._send(BlockStart(id=block, kind=kind, columns=columns, alt=alt))
        return block

    async def _send(self, event: Event) -> None:
        self._state.answer.apply(event)
        await self._emit(event)


class MarkerFilter:
    """Lets through the citation markers that point at a source and drops those that point nowhere.

    Works on pieces cut anywhere: the beginning of a marker is held back until its end has come.
    """

    def __init__(self, known: set[int]) -> None:
        self.cited: set[int] = set()
        self._known = known
        self._held = ""

    def feed(self, text: str) -> str:
        """Take a piece and return what may be shown of it."""
        text = self._held + text
        match = _OPEN_MARKER.search(text)
        self._held = text[match.start() :] if match else ""
        return _MARKER.sub(self._judge, text[: len(text) - len(self._held)])

    def close(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        return held

    def _judge(self, match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number not in self._known:
            return ""
        self.cited.add(number)
        return f"[{number}]"


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it stands; what starts a line can't become a list or a heading."""
    escaped = _SPECIAL.sub(r"\\\1", text)
    return re.sub(r"(?m)^(\s*)([-+]|\d+[.)])(?=\s)", lambda match: f"{match[1]}{_escape_start(match[2])}", escaped)


def _escape_start(mark: str) -> str:
    return f"\\{mark}" if len(mark) == 1 else f"{mark[:-1]}\\{mark[-1]}"
