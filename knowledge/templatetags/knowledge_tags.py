"""Template tags and filters for documents and passages."""

import re
from collections.abc import Callable, Set
from typing import Any, Literal

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import stringfilter
from django.utils.functional import Promise
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge import explanations, locations, queries
from knowledge.chunking.sections import MARK
from knowledge.highlights import BULLET, Marks, bare
from knowledge.models import Chunk, Document
from ragsite.language.sentences import split_sentences
from ragsite.markup.highlighting import highlighted
from ragsite.markup.mathematics import marked

register = template.Library()
register.simple_tag(locations.place)
register.simple_tag(locations.place_in_line)
register.filter("formulas", stringfilter(marked))  # cells may be numbers

_FENCE = re.compile(r"^(`{3,})[ \t]*([^\s`]*)[^\n]*\n(.*?)^\1[ \t]*$\n?", re.M | re.S)
_ICONS = {"pdf": "file-text", "word": "file-text", "opendocument.text": "file-text", "rtf": "file-text",
          "presentation": "presentation", "powerpoint": "presentation", "sheet": "sheet", "excel": "sheet",
          "csv": "sheet", "separated": "sheet", "html": "globe", "related": "globe", "markdown": "file-type",
          "epub": "book-open-text", "rfc822": "mail", "outlook": "mail", "json": "braces"}  # fmt: skip


@register.filter
def time_left(document: Document) -> str:
    """Return a text such as "about 2 minutes left", or "" if there is no estimate."""
    seconds = queries.seconds_left(document)
    if seconds is None:
        return ""
    if seconds < 60:
        rounded = max(5, round(seconds / 5) * 5)
        return ngettext("about {n} second left", "about {n} seconds left", rounded).format(n=rounded)
    if seconds < 5400:
        minutes = max(1, round(seconds / 60))
        return ngettext("about {n} minute left", "about {n} minutes left", minutes).format(n=minutes)
    hours = round(seconds / 3600)
    return ngettext("about {n} hour left", "about {n} hours left", hours).format(n=hours)


@register.filter
def extent(document: Document, where: str = "") -> str:
    """Return the number of pages, sheets, slides or chapters with its unit; with `where`, pages without the unit."""
    if not document.pages:
        return ""
    count, shown = document.pages, intcomma(document.pages)
    match locations.unit(document.original_filename):
        case "sheet":
            return ngettext("{n} sheet", "{n} sheets", count).format(n=shown)
        case "slide":
            return ngettext("{n} slide", "{n} slides", count).format(n=shown)
        case "chapter":
            return ngettext("{n} chapter", "{n} chapters", count).format(n=shown)
    return shown if where else ngettext("{n} page", "{n} pages", count).format(n=shown)


@register.filter
def silent_worker_notice(document: Document) -> str:
    """Return a notice about a worker without a recent heartbeat, or ""."""
    seconds = queries.seconds_silent(document)
    if seconds is None:
        return ""
    return _("The worker hasn't responded for {n} seconds; the document will be retried automatically.").format(
        n=seconds
    )


@register.filter
def stage_label(document: Document) -> str | Promise:
    """Return the current stage, or else the status, for display."""
    return queries.STAGES.get(document.stage) or document.get_status_display()


@register.filter
def error_title(document: Document) -> str | Promise:
    """Return the title of an error, or "" if the explanation contains it."""
    title = explanations.TITLES.get(document.error_code, "")
    return "" if str(title) in document.error_message else title


@register.filter
def file_icon(document: Document) -> str:
    """Return the name of the icon for the document's format."""
    return next((icon for part, icon in _ICONS.items() if part in document.media_type), "file")


@register.simple_tag
def passage_blocks(chunk: Chunk, marks: Marks | Literal[""] = "") -> list[dict[str, Any]]:
    """Split a passage into blocks: `{"kind": "p" | "heading" | "list" | "code", "text" or "items"}`.

    The sentences in `marks` are highlighted.
    """
    blocks: list[dict[str, Any]] = []
    end = 0
    for fence in _FENCE.finditer(chunk.content):
        blocks += _prose(chunk.content[end : fence.start()])
        blocks.append({"kind": "code", "text": fence[3].rstrip("\n"), "language": fence[2]})
        end = fence.end()
    blocks += _prose(chunk.content[end:])
    # `said` maps the sentences' text to their element ids; each is removed once it is highlighted.
    said = marks.said_in(chunk) if marks else {}
    for block in blocks:
        if "items" in block:
            block["items"] = [_mark(item, said) for item in block["items"]]
        elif block["kind"] != "code":
            block["text"] = _mark(block["text"], said)
        else:  # without syntax colours if a sentence in it is highlighted
            code = _mark(block["text"], said, escape)
            block["text"] = code if "<mark" in code else highlighted(block["text"], block["language"])
    return blocks


@register.simple_tag
def marked_rows(chunk: Chunk, marks: Marks | Literal[""] = "") -> Set[int]:
    """Return the numbers of a table's rows in `marks`, from 0."""
    return marks.said.get(chunk.pk, set()) if marks else set()


def _mark(text: str, said: dict[str, str], shown: Callable[[str], SafeString] = marked) -> SafeString:
    if not said:
        return shown(text)
    parts = []
    for sentence in split_sentences(text):
        words = sentence.rstrip()
        anchor = said.pop(bare(words), "")
        html = '<mark class="said" id="{2}">{0}</mark>{1}' if anchor else "{0}{1}"
        parts.append(format_html(html, shown(words), sentence[len(words) :], anchor))
    return mark_safe("".join(parts))


def _prose(text: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in re.split(r"\n\s*\n", text):
        lines = [line for line in part.splitlines() if line.strip()]
        if lines and all(BULLET.match(line) for line in lines):
            items = [BULLET.sub("", line) for line in lines]
            if blocks and blocks[-1]["kind"] == "list":
                blocks[-1]["items"] += items
            else:
                blocks.append({"kind": "list", "items": items})
        elif len(lines) == 1 and lines[0].startswith(MARK):
            blocks.append({"kind": "heading", "text": lines[0].removeprefix(MARK)})
        elif lines:
            blocks.append({"kind": "p", "text": "\n".join(lines)})
    return blocks
