"""Writes an answer as block events, and checks its citation markers."""

import re
from collections.abc import Iterable

from conversations.events import (
    BRACKETS,
    NUMBER,
    NUMBERS,
    SEPARATOR,
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Choice,
    Delta,
    in_brackets,
)
from conversations.pipeline.graph import Emit
from conversations.pipeline.state import PictureInfo, State
from conversations.pipeline.writing.dialects.parts import (
    CodeHead,
    CodeText,
    End,
    Image,
    Part,
    TableHead,
    TableRow,
    Words,
)
from conversations.pipeline.writing.pictures import PictureFilter
from ragsite.llm.stream.unicode_repair import TextMender, whole
from ragsite.markup.mathematics import split_formulas
from ragsite.site_settings.config import config

# Citation markers with the space before them, also as models write them that were trained on other grammars: [^3] and
# 【2†source】, whose number is the first.
_MARKERS = [*in_brackets(f" ?{NUMBERS} ?"), rf"\[\^{NUMBER}\]", rf"【{NUMBER}†[^】\n]{{0,40}}】"]
# Delimiters of code and formulas, line breaks, and citation markers.
_STEP = re.compile(
    "|".join(["`+", "\n+", r"\\sqrt\[[^\]\n]{0,20}\]", r"\\[\\()\[\]$]", r"\$\$", rf" ?(?:{'|'.join(_MARKERS)})"])
)
_FORMULAS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
# The end of a piece that may be incomplete: a marker, backticks, or a delimiter of a formula.
_OPENING = "".join(opening for opening, _ in BRACKETS)
_OPEN_MARKER = re.compile(
    rf"(?:(?<!`)`++|(?<!\\)\\(?:s(?:q(?:r(?:t(?:\[[^\]\n]{{0,20}})?)?)?)?)?|(?<!\$)\$|\n+"
    rf"| ?[{_OPENING}](?: ?| ?{NUMBERS}\s*(?:{SEPARATOR}\s*)?)| ?\[\^(?:{NUMBER})?"
    rf"| ?【{NUMBER}†[^】\n]{{0,40}}|(?<! ) )\Z"
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$#])")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\r?\n)+")
# How models refer to the picture of a passage.
_PASSAGE = re.compile(r"(?:passage|段落)\s*[:：]?\s*\[?(\d{1,3})\]?", re.IGNORECASE)


class BlockWriter:
    """Emits blocks with ids `b1`, `b2`, …, continuing those that the answer already has."""

    def __init__(self, state: State, emit: Emit) -> None:
        self._state = state
        self._emit = emit
        self._open = ""
        self._kind = "text"
        self._mender = TextMender()

    async def text(self, text: str) -> None:
        """Append Markdown to the open text block, or to a new one; empty lines alone don't open one."""
        if not (self._open and self._kind == "text"):
            text = _EMPTY_LINES.sub("", text)
            if not text.strip():
                return
            await self.start("text")
        await self._append(self._mender.feed(text))

    async def block(self, text: str) -> None:
        """Append Markdown and end the block."""
        await self.text(text)
        await self.close()

    async def code(self, text: str) -> None:
        """Append to the open code block."""
        await self._append(self._mender.feed(text))

    async def row(self, cells: Iterable[str]) -> None:
        """Append a row to the open table."""
        await self._emit(Delta(id=self._open, row=[whole(cell) for cell in cells]))

    async def table(self, columns: list[str], rows: Iterable[list[str]]) -> None:
        """Write a whole table."""
        await self.start("table", columns=columns)
        for row in rows:
            await self.row(row)
        await self.close()

    async def picture(self, picture: PictureInfo) -> None:
        """Write a picture."""
        await self.start("image", alt=picture.alt)
        await self._emit(BlockUpdate(id=self._open, url=picture.url, width=picture.width, height=picture.height))
        await self.close()

    async def choices(self, choices: list[Choice]) -> None:
        """Write the documents to choose from."""
        await self.close()
        name = f"b{len(self._state.answer.blocks) + 1}"
        told = [Choice(document_id=each["document_id"], name=whole(each["name"])) for each in choices]
        await self._emit(BlockStart(id=name, kind="choices", choices=told))
        await self._emit(BlockEnd(id=name))

    async def start(
        self, kind: str, columns: list[str] | None = None, alt: str | None = None, language: str | None = None
    ) -> None:
        """Open a block, ending the one before it."""
        await self.close()
        self._open, self._kind = f"b{len(self._state.answer.blocks) + 1}", kind
        columns = columns and [whole(column) for column in columns]
        alt, language = alt and whole(alt), language and whole(language)
        await self._emit(BlockStart(id=self._open, kind=kind, columns=columns, alt=alt, language=language))

    async def close(self) -> None:
        """End the open block, if any."""
        if self._open:
            await self._append(self._mender.close())
            ended, self._open = self._open, ""
            await self._emit(BlockEnd(id=ended))

    async def _append(self, text: str) -> None:
        if text:
            await self._emit(Delta(id=self._open, text=text))


class PartWriter:
    """Writes a model's answer without invalid citation markers, and only with the pictures of passages that it cites.

    Fills the state's `cited` as markers arrive. `removed` counts what it leaves out.
    """

    def __init__(self, state: State, writer: BlockWriter) -> None:
        self._state = state
        self._writer = writer
        sources = state.prompt.citations if config.ENABLE_SOURCE_CITATION else []
        self._is_cited = bool(sources)
        self._markers = MarkerFilter({citation["index"] for citation in sources}, state.prompt.cited)
        self._pictures = PictureFilter()
        self._shown: set[int] = set()
        self._waiting: list[tuple[Image, int]] = []

    async def write(self, part: Part) -> None:
        """Write the next part."""
        if not isinstance(part, Words):
            await self._writer.text(self._markers.feed(self._pictures.close()) + self._markers.close())
        match part:
            case Words():
                await self._writer.text(self._markers.feed(self._pictures.feed(part.text)))
            case TableHead():
                await self._writer.start("table", columns=[self._cell(cell) for cell in part.columns])
            case TableRow():
                await self._writer.row([self._cell(cell) for cell in part.cells])
            case CodeHead():
                await self._writer.start("code", language=part.language[:30])
            case CodeText():
                await self._writer.code(part.text)
            case Image():
                number = self._passage_of(part)
                if not await self._show(number):
                    self._waiting.append((part, number))
            case End():
                await self._writer.close()

    async def finish(self) -> None:
        """Write the remaining pictures of cited passages, and the alt text of images that can't be shown."""
        await self._writer.close()
        for number in range(1, len(self._state.prompt.evidence) + 1):
            await self._show(number)
        for image, number in self._waiting:
            if number not in self._shown:
                await self._writer.text(f"*{escape_markdown(image.alt)}*\n\n" if image.alt else "")
        await self._writer.close()

    @property
    def removed(self) -> dict[str, int]:
        """What was left out: invalid citations and foreign pictures, as in the answer's usage; empty if nothing."""
        foreign = self._pictures.dropped + sum(number not in self._shown for _image, number in self._waiting)
        counts = {"citations_removed": self._markers.dropped if self._is_cited else 0, "pictures_removed": foreign}
        return {name: count for name, count in counts.items() if count}

    async def _show(self, number: int) -> bool:
        """Write the picture of a cited passage once, and return whether it is in the answer now."""
        if number in self._state.prompt.cited and number not in self._shown:
            picture = self._state.found.pictures.get(self._state.prompt.evidence[number - 1].chunk_id)
            if picture is not None:
                self._shown.add(number)
                await self._writer.picture(picture)
        return number in self._shown

    def _passage_of(self, image: Image) -> int:
        """Return the number of the passage that an image refers to, or 0."""
        if match := _PASSAGE.fullmatch(image.url.strip()):
            return int(match[1])
        known, evidence = self._state.found.pictures, self._state.prompt.evidence
        pictures = ((number, known.get(hit.chunk_id)) for number, hit in enumerate(evidence, 1))
        return next((number for number, picture in pictures if picture is not None and picture.url == image.url), 0)

    def _cell(self, text: str) -> str:
        return self._markers.feed(text) + self._markers.close()


class MarkerFilter:
    """Passes on citation markers with a source and drops the others.

    Works on pieces cut anywhere: the beginning of a marker is held back until its end arrives. `[1, 2]`, `【1】【2】`,
    `［1］［2］`, `[^1][^2]` and `【1†source】【2†L5】` become `[1][2]`. Cited numbers are added to `cited`. A marker is
    dropped with the space before it. Inline code and formulas keep their brackets.
    """

    def __init__(self, known: set[int], cited: set[int] | None = None) -> None:
        self.cited: set[int] = set() if cited is None else cited
        self.dropped = 0  # the number of citations without a source
        self._known = known
        self._held = ""
        self._code = ""  # the backticks that opened the current code
        self._formula = ""  # the closing delimiter of the open formula

    def feed(self, text: str) -> str:
        """Take a piece and return the text that may be shown already."""
        text = self._held + text
        match = _OPEN_MARKER.search(text)
        self._held = text[match.start() :] if match else ""
        return _STEP.sub(self._pass, text[: len(text) - len(self._held)])

    def close(self) -> str:
        """Return the text that was held back."""
        held, self._held = self._held, ""
        return held

    def _pass(self, match: re.Match[str]) -> str:
        text = match[0]
        if text[0] == "\n":
            self._code = ""
            # Inline code and formulas end with their line at the latest, and display formulas with their paragraph.
            if len(text) > 1 or self._formula == "\\)":
                self._formula = ""
        elif text[0] == "`":
            self._code = "" if text == self._code else self._code or text
        elif self._code or text.startswith("\\sqrt"):
            pass
        elif text == self._formula:
            self._formula = ""
        elif text[0] in "\\$":
            self._formula = self._formula or _FORMULAS.get(text, "")
        elif not self._formula:
            numbers = [*map(int, re.findall(r"\d+", text.partition("†")[0]))]
            known = [number for number in numbers if number in self._known]
            self.dropped += len(numbers) - len(known)
            self.cited.update(known)
            space = " " if text[0] == " " and known else ""
            return space + "".join(f"[{number}]" for number in known)
        return text


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown, including line starts that would become lists or headings.

    Formulas are kept, for the page to typeset.
    """
    parts = (part if is_formula else _SPECIAL.sub(r"\\\1", part) for part, is_formula in split_formulas(text))
    return re.sub(r"(?m)^([ \t]*(?:\d+(?=[.)]))?)((?<!\d)[-+]|(?<=\d)[.)])(?=\s)", r"\1\\\2", "".join(parts))
