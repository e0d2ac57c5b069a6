"""The kinds of blocks that an answer consists of, each in one place: from its events to text, Markdown and HTML.

A block is a dictionary with `id`, `kind` and the fields with which its kind begins. To add a kind, write a class and
list it in `KINDS`; its contents come as `text` or `rows`, or with the event that begins it. A block of an unknown
kind, such as one stored by a later version, is shown as code.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

# The address of a picture on this site, not on another (`//`).
OWN_ADDRESS = re.compile(r"/(?![/\\])")


class Renderer(Protocol):
    """Renders the texts of an answer as HTML, with its citations."""

    def text(self, text: str) -> SafeString:
        """Return Markdown as HTML."""

    def open_text(self, text: str) -> tuple[SafeString, SafeString]:
        """Return unfinished Markdown as HTML: the part that is final, and its last part."""

    def inline(self, text: str) -> SafeString:
        """Return one line as HTML."""

    def cell_class(self, text: str) -> str:
        """Return the CSS class of a table cell; may be empty."""

    def code(self, text: str, language: str, *, whole: bool, name: str) -> SafeString:
        """Return code as HTML, highlighted once it is `whole`."""


class Kind:
    """What the site does with the blocks of one kind.

    `is_prose` is whether the text is Markdown, which is rendered piece by piece as it arrives; `is_redrawn`, whether a
    complete block looks different from an open one.
    """

    name: ClassVar[str]
    is_prose: ClassVar[bool] = False
    is_redrawn: ClassVar[bool] = False

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a new block; `given` are those of the event."""
        return {"text": ""}

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the text that is stored, searched and sent to models as history."""
        raise NotImplementedError

    def cited(self, block: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield the lines that can contain citation markers, each as its cells."""
        yield from ()

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return the Markdown of exports. `words` edits texts that can contain citation markers, `site` is the
        beginning of addresses.
        """
        return self.plain_text(block)

    def opening(self, given: Mapping[str, Any]) -> str:
        """Return the Markdown with which a stream begins the block."""
        return ""

    def closing(self) -> str:
        """Return the Markdown with which a stream ends the block."""
        return ""

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the block as an element with the id `name`."""
        raise NotImplementedError

    def added_html(self, text: str | None, row: list[Any] | None, renderer: Renderer) -> SafeString | None:
        """Return the HTML that new text or a row adds to an open block; None if the block must be drawn again."""
        return None


class Text(Kind):
    """Markdown. An open block keeps its last, unfinished part in an element of its own."""

    name = "text"
    is_prose = True

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the Markdown."""
        return str(block["text"]).strip()

    def cited(self, block: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield the text."""
        yield (block["text"],)

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return the Markdown."""
        return words(str(block["text"])).strip()

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the rendered text."""
        if not is_open:
            return format_html('<div class="block" id="{}">{}</div>', name, renderer.text(block["text"]))
        return format_html(
            '<div class="block" id="{0}">{1}<div class="open" id="{0}-open">{2}</div></div>',
            name, *renderer.open_text(block["text"]),
        )  # fmt: skip


class Table(Kind):
    """A table with the names of its columns; its rows come one by one."""

    name = "table"

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns, and no rows."""
        return {"columns": list(given.get("columns") or []), "rows": []}

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the rows in Markdown, so that a reader can tell the header from them."""
        header = [block["columns"], ["---"] * len(block["columns"])] if block["columns"] else []
        return "\n".join(" | ".join(map(str, line)) for line in [*header, *block["rows"]])

    def cited(self, block: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield the header and the rows."""
        yield from [block["columns"], *block["rows"]]

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return the whole table."""
        rows = [[words(str(cell)) for cell in row] for row in block["rows"]]
        columns = block["columns"]
        return "".join([table_row(columns), table_row(["---"] * len(columns)), *map(table_row, rows)]).rstrip()

    def opening(self, given: Mapping[str, Any]) -> str:
        """Return the header, if there is one."""
        columns = given.get("columns")
        return table_row(columns) + table_row(["---"] * len(columns)) if columns else ""

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the table, which can be scrolled."""
        heads = format_html_join("", "<th>{}</th>", ((renderer.inline(str(head)),) for head in block["columns"]))
        rows = format_html_join("", "{}", ((self._row_html(row, renderer),) for row in block["rows"]))
        return format_html(
            '<div class="block table-wrap" id="{0}" tabindex="0" role="group" aria-label="{3}"><table class="table">'
            '<thead><tr>{1}</tr></thead><tbody id="{0}-rows">{2}</tbody></table></div>',
            name,
            heads,
            rows,
            _("Table"),
        )

    def added_html(self, text: str | None, row: list[Any] | None, renderer: Renderer) -> SafeString | None:
        """Return a row."""
        return SafeString("") if row is None else self._row_html(row, renderer)

    def _row_html(self, row: Iterable[Any], renderer: Renderer) -> SafeString:
        cells = []
        for cell in map(str, row):
            name = renderer.cell_class(cell)
            cells.append((format_html(' class="{}"', name) if name else "", renderer.inline(cell)))
        return format_html("<tr>{}</tr>", format_html_join("", "<td{}>{}</td>", cells))


class Image(Kind):
    """A picture of a cited passage. Its URL, on this site, and its size in pixels are known later."""

    name = "image"

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the alt text."""
        return {"alt": given.get("alt") or "", "url": "", "width": None, "height": None}

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the picture in Markdown, or only its alt text."""
        if block["url"]:
            return f"![{block['alt']}]({block['url']})"
        return f"[{block['alt']}]" if block["alt"] else ""

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return a link to the picture, which only readers of its document can see, or its alt text."""
        alt = _line(block["alt"])
        if block["url"]:
            address = f"{site}{block['url']}"
            return f"[{alt or address}]({address})"
        return f"*[{alt}]*" if block["alt"] else ""

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the picture with its caption; without a URL of this site, it is empty."""
        url = block["url"] or ""
        if not OWN_ADDRESS.match(url):
            return format_html('<figure class="block picture" id="{}"></figure>', name)
        size = ""
        if block["width"] and block["height"]:
            size = format_html(' width="{}" height="{}"', block["width"], block["height"])
        caption = format_html("<figcaption>{}</figcaption>", block["alt"]) if block["alt"] else ""
        return format_html(
            '<figure class="block picture" id="{0}"><a href="{1}" target="_blank">'
            '<img src="{1}" alt="{2}" loading="lazy"{3}></a>{4}</figure>',
            name, url, block["alt"], size, caption,
        )  # fmt: skip

    def added_html(self, text: str | None, row: list[Any] | None, renderer: Renderer) -> SafeString | None:
        """Return nothing: a picture has neither."""
        return SafeString("")


class Code(Kind):
    """Code with its language, which is highlighted when it is complete."""

    name = "code"
    is_redrawn = True

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the language, and no text."""
        return {"language": given.get("language") or "", "text": ""}

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the code in a fence."""
        return f"```{block.get('language', '')}\n{self._code(block).rstrip()}\n```"

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return the code in a fence that is longer than those within it."""
        text = self._code(block).rstrip("\n")
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", text))])
        return f"{fence}{block.get('language', '')}\n{text}\n{fence}"

    def opening(self, given: Mapping[str, Any]) -> str:
        """Return the beginning of a fence."""
        return f"```{given.get('language') or ''}\n"

    def closing(self) -> str:
        """Return the end of the fence."""
        return "\n```"

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the code with a button to copy it."""
        return renderer.code(self._code(block), block.get("language") or "", whole=not is_open, name=name)

    def added_html(self, text: str | None, row: list[Any] | None, renderer: Renderer) -> SafeString | None:
        """Return the text."""
        return escape(text or "")

    def _code(self, block: Mapping[str, Any]) -> str:
        """Return the text; for a block of an unknown kind without one, its fields."""
        if "text" in block:
            return str(block["text"])
        fields = {name: value for name, value in block.items() if name not in ("id", "kind")}
        return json.dumps(fields, ensure_ascii=False, default=str)


class Choices(Kind):
    """Documents that a question may mean. It is complete from its beginning."""

    name = "choices"

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the documents."""
        return {"choices": list(given.get("choices") or [])}

    def plain_text(self, block: Mapping[str, Any]) -> str:
        """Return the list of their names."""
        return "\n".join(f"- {choice['name']}" for choice in block["choices"])

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        """Return the list of their names."""
        return "\n".join(f"- {_line(choice['name'])}" for choice in block["choices"])

    def opening(self, given: Mapping[str, Any]) -> str:
        """Return the list of their names."""
        return self.plain_text(self.begin(given))

    def html(self, block: Mapping[str, Any], name: str, renderer: Renderer, *, is_open: bool) -> SafeString:
        """Return the list of their names, for readers who can't choose."""
        names = format_html_join("", "<li>{}</li>", ((choice["name"],) for choice in block["choices"]))
        return format_html('<ul class="block" id="{}">{}</ul>', name, names)


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Text(), Table(), Image(), Code(), Choices())}


def kind_of(block: Mapping[str, Any]) -> Kind:
    """Return the kind of a block, or of the event that begins it; code if it is unknown."""
    return KINDS.get(block["kind"], KINDS[Code.name])


def texts(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield every text that can contain citation markers."""
    return (str(cell) for block in blocks for line in kind_of(block).cited(block) for cell in line)


def table_row(cells: Iterable[Any]) -> str:
    """Return a row of a table in Markdown, with its line break."""
    escaped = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return "| " + " | ".join(escaped) + " |\n"


def _line(text: str) -> str:
    return " ".join(text.split())
