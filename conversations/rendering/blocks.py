"""The blocks of an answer as HTML. Element ids begin with `name`, which is unique on the page."""

import re
from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from conversations.rendering import markdown


def block_html(name: str, block: dict[str, Any], context: markdown.Context, *, is_open: bool) -> SafeString:
    """Return one block; an open text block keeps its last, unfinished part in an element of its own."""
    match block["kind"]:
        case "table":
            heads = format_html_join(
                "", "<th>{}</th>", ((markdown.render_inline(str(c), context),) for c in block["columns"])
            )
            rows = format_html_join("", "{}", ((row_html(row, context),) for row in block["rows"]))
            return format_html(
                '<div class="block table-wrap" id="{0}" tabindex="0"><table class="table"><thead><tr>{1}</tr></thead>'
                '<tbody id="{0}-rows">{2}</tbody></table></div>',
                name,
                heads,
                rows,
            )
        case "image":
            url = block["url"] or ""
            # An image of a cited passage: only URLs of this site are loaded.
            if not re.match(r"/(?!/)", url):
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
        case "choices":
            names = format_html_join("", "<li>{}</li>", ((choice["name"],) for choice in block["choices"]))
            return format_html('<ul class="block" id="{}">{}</ul>', name, names)
        case "code":
            return markdown.code_html(block["text"], block["language"] or "", whole=not is_open, name=name)
        case _:
            if not is_open:
                return format_html('<div class="block" id="{}">{}</div>', name, markdown.render(block["text"], context))
            change = markdown.Incremental(context).feed(block["text"])
            return format_html(
                '<div class="block" id="{0}">{1}<div class="open" id="{0}-open">{2}</div></div>',
                name, change.finished, change.open,
            )  # fmt: skip


def row_html(row: Iterable[Any], context: markdown.Context) -> SafeString:
    """Return one row of a table."""
    cells = []
    for cell in map(str, row):
        name = markdown.cell_class(cell)
        attribute = format_html(' class="{}"', name) if name else ""
        cells.append((attribute, markdown.render_inline(cell, context)))
    return format_html("<tr>{}</tr>", format_html_join("", "<td{}>{}</td>", cells))


def texts(blocks: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Yield every text that can contain citation markers."""
    for block in blocks:
        if block["kind"] == "table":
            yield from (str(cell) for row in [block["columns"], *block["rows"]] for cell in row)
        elif block["kind"] == "text":
            yield block["text"]
