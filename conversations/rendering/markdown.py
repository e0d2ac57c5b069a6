"""Markdown of an answer to safe HTML, whole or as it streams.

Raw HTML is escaped, images are never loaded, and links, also plain addresses, lead only to URLs that occur in the
sources. The result is sanitised by `nh3`. Formulas stay as written, in an element for a script to find. Complete code
blocks are highlighted.
Citation markers (`[1]`, `[1, 2]`, `【1】`) become superscript links if their number is known and stay text otherwise.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from conversations.citations.markers import MARKER, numbers_in, numbers_of
from conversations.citations.underline import SentenceMark, underlined
from ragsite.markup.highlighting import highlighted
from ragsite.markup.mathematics import formula_html, mathematics_plugin, split_formulas

_ALIGNED = re.compile(r"text-align:\s*(left|right|center)")
# Letters and digits joined by hyphens, with at least one digit: LS-2448P. A match has at most 51 characters.
_MODEL_NUMBER = re.compile(r"(\b(?=[A-Za-z-]{0,50}\d)[A-Za-z0-9]{1,12}(?:-[A-Za-z0-9]{1,12}){1,3}\b)", re.ASCII)
# Characters of a table cell from which it gets a minimum width, so that it isn't squeezed to a word per line.
LONG_CELL = 16
# A cell with a number, its sign, unit and sources: ≈ $1,200.50, -40 °C, 98 % [2]. Numbers are right-aligned.
_NUMBER_CELL = re.compile(
    r"[-+\u2212±≈~<>≤≥]?\s?[$€£¥￥]?\s?[-\u2212]?\d+(?:[,\s]\d{3})*(?:\.\d+)?"
    r"(?:\s?(?:[%‰]|°?[^\W\d_]{1,3}(?:/[^\W\d_]{1,3})?))?(?:\s?\[\d+\])*"
)
# Plain words, without a meaning in Markdown, HTML or citations; such words mixed with complete markers and bold words;
# a line whose kind is certain; and the closing tags of text blocks at the end of a block's HTML.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\xa0!#$&)*;<=>\[\\\]_`{|}~【】［］]+")
_BOLD = re.compile(rf"(?<= )\*\*([^\W_](?:{_PLAIN.pattern[:-1]}*[^\W_])?)\*\*")
_SIMPLE = re.compile(rf"(?:{_PLAIN.pattern}+|{MARKER.pattern}|{_BOLD.pattern})++")
_AFTER_BOLD = " .,:。，：、"
_SETTLED = re.compile(r"[^\W\d_]")
_BLOCK_ENDS = re.compile(r"(?:</(?:p|li|ul|ol|blockquote|h[3-6])>\n?)+\Z")
# Characters at the end of a block's HTML in which its closing tags are searched.
_ENDS_WITHIN = 200
# Longer diagram sources aren't drawn.
LONGEST_DIAGRAM = 20_000
# Nor are those with markup, image URLs or styles, which the frame forbids anyway.
_FOREIGN = re.compile(
    r"(?<!<)<(?!br\s*/?>)[a-z/!?]|[&#](?:lt|gt|quot|#?x?0*(?:60|3c));|\bimg\s*:|\burl\s*\(|@import|(?:java|vb)script:|themecss",
    re.IGNORECASE,
)
# An address in text, and the punctuation that doesn't belong to its end.
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]“”‘’（）【】《》，。；、！？]{1,2000}")
_AFTER_ADDRESS = ".,;:!?)]}*"
_TASK = re.compile(r"\[([ xX])\][ \u3000]+(?=\S|\Z)")
# The page itself has first- and second-level headings.
_HEADING_SHIFT = 2


@dataclass(frozen=True, slots=True)
class Marker:
    """A known citation: its URL, its label and the verdict on each of its occurrences.

    `name` is the document's name to show next to the number; empty to show only the number.
    """

    href: str
    label: str
    verdicts: tuple[SentenceMark, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Data for rendering a text: the known citations by number, and the text whose links are trusted.

    `uncited` contains the verdicts on sentences without citations that state something in no source, by their
    `letters_and_digits`.

    A context is for rendering an answer once from its beginning, since it counts the occurrences of each number.
    """

    markers: Mapping[int, Marker] = field(default_factory=dict)
    trusted_text: str = ""
    uncited: Mapping[str, SentenceMark] = field(default_factory=dict)
    _seen: Counter[int] = field(default_factory=Counter)

    def verdict(self, number: int) -> SentenceMark:
        """Return the verdict on the next occurrence of a number; empty if there is none."""
        place = self._seen[number]
        self._seen[number] += 1
        verdicts = self.markers[number].verdicts
        return verdicts[place] if place < len(verdicts) else SentenceMark()

    def text(self, text: str) -> SafeString:
        """Return Markdown as HTML."""
        return render(text, self)

    def open_text(self, text: str) -> tuple[SafeString, SafeString]:
        """Return unfinished Markdown as HTML: the part that is final, and its last part."""
        change = Incremental(self).feed(text)
        return change.finished, change.open

    def inline(self, text: str) -> SafeString:
        """Return one line as HTML."""
        return render_inline(text, self)

    def cell_class(self, text: str) -> str:
        """Return the CSS class of a table cell; may be empty."""
        return cell_class(text)

    def code(self, text: str, language: str, *, whole: bool, name: str) -> SafeString:
        """Return code as HTML, highlighted once it is `whole`."""
        return code_html(text, language, whole=whole, name=name)


def cited_numbers(text: str) -> list[int]:
    """Return the numbers of a text's citation markers, in order of first appearance."""
    return list(dict.fromkeys(numbers_in(text)))


def normalise(text: str) -> str:
    """Return the text with `\\n` as its only line end, as Markdown counts lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def render(text: str, context: Context | None = None) -> SafeString:
    """Render a complete Markdown text as safe HTML."""
    context = context or Context()
    return _html(_parser.parse(normalise(text), {"context": context}), context)


def render_inline(text: str, context: Context | None = None) -> SafeString:
    """Render a line (a table cell) as safe HTML: escaped, with linked citation markers."""
    context = context or Context()
    parts: list[str] = []
    said: list[str] = []
    for words, is_formula in split_formulas(text):
        end = 0
        for match in () if is_formula else MARKER.finditer(words):
            numbers = numbers_of(match)
            if all(number in context.markers for number in numbers):
                verdicts = [context.verdict(number) for number in numbers]
                said.append(_unbroken(words[end : match.start()].rstrip(" ")))
                doubtful = verdicts[0].doubtful and any(said)
                parts += [_doubt(verdicts[0]), *said, "</span>"] if doubtful else said
                parts += (_marker(context.markers[n], n, verdict) for n, verdict in zip(numbers, verdicts, strict=True))
                said, end = [], match.end()
        said.append(formula_html(words) if is_formula else _unbroken(words[end:]))
    return mark_safe(_cleaner.clean("".join([*parts, *said])))


def _unbroken(text: str) -> str:
    """Escape a cell's text, with each model number in an element without line breaks."""
    found = _MODEL_NUMBER.split(text)
    return "".join(f'<span class="whole">{escape(p)}</span>' if i % 2 else escape(p) for i, p in enumerate(found))


@dataclass(frozen=True, slots=True)
class Change:
    """The result of feeding text: HTML of the blocks that are final, and of the one still open."""

    finished: SafeString
    open: SafeString


class Incremental:
    """Markdown that arrives in pieces.

    A top-level block is finished when the first line of the next block is complete. Only the text from the start of the
    last block is kept and parsed again, so that the work per piece doesn't grow with the answer.
    """

    def __init__(self, context: Context | None = None) -> None:
        self._context = context or Context()
        self._tail = ""
        self._held = ""
        self._open = mark_safe("")
        markers = self._context.markers.values()
        self._judged = bool(self._context.uncited) or any(marker.verdicts for marker in markers)

    def feed(self, text: str) -> Change:
        """Add a piece of text."""
        text = self._held + text
        # A carriage return may be the first half of a line ending.
        self._held = "\r" if text.endswith("\r") else ""
        text = normalise(text.removesuffix("\r"))
        if (lengthened := self._lengthened(text)) is not None:
            self._tail += text
            self._open = lengthened
            return Change(mark_safe(""), lengthened)
        self._tail += text
        finished = mark_safe("")
        if "\n" in text:
            complete = self._tail[: self._tail.rindex("\n") + 1]
            tokens = _parser.parse(complete, {"context": self._context})
            starts = [i for i, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0 and token.map]
            if len(starts) > 1:
                last = tokens[starts[-1]]
                assert last.map is not None
                self._tail = "\n".join(self._tail.split("\n")[last.map[0] :])
                finished = _html(tokens[: starts[-1]], self._context)
        self._open = render(self._tail, self._context)
        return Change(finished, self._open)

    def close(self) -> SafeString:
        """Return the HTML of the open block."""
        html = render(self._tail + self._held, self._context)
        self._tail = self._held = ""
        return html

    def _lengthened(self, text: str) -> SafeString | None:
        """Return the open block's HTML with plain words appended, or None if it has to be parsed again.

        Plain words within a line don't start, end or close any construct; neither do complete markers and bold words.
        """
        line = self._tail[self._tail.rfind("\n") + 1 :]
        written = line.rstrip()
        ends = _BLOCK_ENDS.search(self._open, max(0, len(self._open) - _ENDS_WITHIN))
        if self._judged or not ends or not _SETTLED.search(line) or not _SIMPLE.fullmatch(text):
            return None
        if "://" in line or "://" in text or ":" in line[-3:] + text[:3]:  # may be an address
            return None
        shown = self._open[: ends.start()]
        last, following = written[-1], (line[len(written) :] + text)[0]
        if last in "]】":
            follows = following != "(" and shown.endswith("</sup>")
        elif last == "*":
            follows = following in _AFTER_BOLD and shown.endswith("</strong>")
        else:
            follows = bool(_PLAIN.fullmatch(last)) and shown[-1] == last
        if not follows:
            return None
        text, known = (line[len(written) :] + text).rstrip(), self._context.markers
        parts, end = [], 0
        for match in MARKER.finditer(text):
            numbers = numbers_of(match)
            if not all(number in known for number in numbers):
                return None
            parts.append(text[end : match.start()].rstrip(" "))
            parts += (_cleaner.clean(_marker(known[number], number, SentenceMark())) for number in numbers)
            end = match.end()
        new = _BOLD.sub(r"<strong>\1</strong>", "".join([*parts, text[end:]]))
        return mark_safe(shown + new + self._open[ends.start() :])


def _html(tokens: Sequence[Token], context: Context) -> SafeString:
    html = _parser.renderer.render(tokens, _parser.options, {"context": context})
    return mark_safe(_cleaner.clean(html))


def _doubt(verdict: SentenceMark) -> str:
    return f'<span class="doubt {escape(verdict.status)}" title="{escape(verdict.why)}">'


def _marker(marker: Marker, number: int, verdict: SentenceMark) -> str:
    label = f"{marker.label} · {verdict.label}" if verdict.label else marker.label
    name = f"<span>{escape(marker.name)}</span>" if marker.name else ""
    classes = " ".join(filter(None, ("citation", "named" if name else "", verdict.status)))
    return (
        f'<sup class="{escape(classes)}"><a href="{escape(marker.href)}" '
        f'data-citation="{number}" aria-label="{escape(label)}">{number}{name}</a></sup>'
    )


def _link_citations(state: StateCore) -> None:
    """Split the text of inline tokens at known citation markers; a core rule."""
    known = state.env["context"].markers
    if not known:
        return
    for token in state.tokens:
        if token.type == "inline" and token.children:
            result: list[Token] = []
            depth = 0
            for child in token.children:
                depth += child.nesting if child.type in ("link_open", "link_close") else 0
                result += _split(child, known) if child.type == "text" and not depth else [child]
            token.children = result


def _split(child: Token, known: Mapping[int, Marker]) -> list[Token]:
    parts: list[Token] = []
    end = 0
    for match in MARKER.finditer(child.content):
        numbers = numbers_of(match)
        if not all(number in known for number in numbers):
            continue
        parts.append(_text(child.content[end : match.start()].rstrip(" ")))
        parts += [Token("citation", "", 0, meta={"number": number}) for number in numbers]
        end = match.end()
    return [*parts, _text(child.content[end:])] if parts else [child]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _link_addresses(state: StateCore) -> None:
    """Turn trusted addresses in text into links; a core rule."""
    for token in state.tokens:
        if token.type != "inline" or "://" not in token.content:
            continue
        result: list[Token] = []
        depth = 0
        for child in token.children or []:
            depth += child.nesting if child.type in ("link_open", "link_close") else 0
            result += _with_links(child, state.env["context"]) if child.type == "text" and not depth else [child]
        token.children = result


def _with_links(child: Token, context: Context) -> list[Token]:
    parts: list[Token] = []
    end = 0
    for match in _ADDRESS.finditer(child.content):
        address = match[0].rstrip(_AFTER_ADDRESS)
        if not _trusted(address, context):
            continue
        opening = Token("link_open", "a", 1, attrs={"href": address}, level=child.level, info="auto")
        shown, closing = _text(address), Token("link_close", "a", -1, level=child.level, info="auto")
        parts += [_text(child.content[end : match.start()]), opening, shown, closing]
        end = match.start() + len(address)
    return [*parts, _text(child.content[end:])] if parts else [child]


def _mark_tasks(state: StateCore) -> None:
    """Replace `[ ]` and `[x]` at the beginning of list items by checkboxes; a core rule."""
    for index, token in enumerate(state.tokens):
        if index < 2 or token.type != "inline" or state.tokens[index - 2].type != "list_item_open":
            continue
        first = token.children[0] if token.children else None
        if first is not None and first.type == "text" and (match := _TASK.match(first.content)):
            first.content = first.content[match.end() :]
            token.children = [Token("task", "", 0, meta={"done": match[1] != " "}), *(token.children or [])]
            state.tokens[index - 2].meta = {"task": True}


def _find_whole_fences(state: StateCore) -> None:
    """Record for each fenced code block whether its closing fence has come; a core rule."""
    for token in state.tokens:
        if token.type == "fence" and token.map:
            lines = token.content.count("\n") + (not token.content.endswith("\n") and token.content != "")
            token.meta = {"whole": token.map[1] - token.map[0] - 1 > lines}


class _Renderer(RendererHTML):
    """Renderer for answers: only trusted links, no images, scrolling tables, code with its language."""

    def renderInline(self, tokens: Sequence[Token], options: Any, env: Any) -> str:
        return super().renderInline(underlined(tokens, env["context"].verdict, env["context"].uncited), options, env)

    def citation(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        meta = tokens[index].meta
        return _marker(env["context"].markers[meta["number"]], meta["number"], meta["verdict"])

    def doubt_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return _doubt(tokens[index].meta["verdict"])

    def doubt_end(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        verdict = tokens[index].meta["verdict"]
        return f' <span class="uncited" title="{escape(verdict.why)}">{escape(verdict.label)}</span>'

    def doubt_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return "</span>"

    def image(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        children = tokens[index].children or []
        return escape("".join(child.content for child in children))

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        href = str(tokens[index].attrGet("href") or "")
        if not _trusted(href, env["context"]):
            return ""
        return f'<a class="leaving" href="{escape(href)}" rel="noopener noreferrer nofollow" target="_blank">'

    def link_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        level = tokens[index].level
        opening = next(t for t in reversed(tokens[:index]) if t.type == "link_open" and t.level == level)
        href = str(opening.attrGet("href") or "")
        if _trusted(href, env["context"]):
            return "</a>"
        return "" if opening.info == "auto" else f" ({escape(href)})"

    def table_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        label = escape(_("Table"))
        return f'<div class="table-wrap" tabindex="0" role="group" aria-label="{label}"><table class="table">'

    def table_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return _cell(tokens[index])

    def td_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        env["in_cell"] = True
        return _cell(tokens[index], cell_class(tokens[index + 1].content))

    def td_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        env["in_cell"] = False
        return "</td>\n"

    def text(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        content = tokens[index].content
        return _unbroken(content) if env.get("in_cell") else escape(content)

    def heading_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return f"<{_heading(tokens[index])}>"

    def heading_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return f"</{_heading(tokens[index])}>\n"

    def list_item_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        # The box has a text alternative; the list's bullet would be redundant.
        return '<li class="task">' if tokens[index].meta.get("task") else "<li>"

    def task(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        classes, label = ("box done", _("Done")) if tokens[index].meta["done"] else ("box", _("To do"))
        return f'<span class="{classes}" role="img" aria-label="{escape(label)}"></span>'

    def math_inline(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return formula_html(tokens[index].content)

    def math_block(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return f'<div class="math display">{escape(tokens[index].content)}</div>\n'

    def math_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return f'<div class="math-open">{escape(tokens[index].content)}</div>\n'

    def fence(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        words = tokens[index].info.split()
        return f"{code_html(tokens[index].content, words[0] if words else '', whole=tokens[index].meta['whole'])}\n"

    def code_block(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return f"{code_html(tokens[index].content, '', whole=True)}\n"


def code_html(text: str, language: str, *, whole: bool, name: str = "") -> SafeString:
    """Return a code block with its language and a copy button, highlighted once it is `whole`.

    `name` is its element id, if it is a block of its own. A complete diagram is marked for a script to draw.
    """
    block, code = (f' id="{escape(name)}"', f' id="{escape(name)}-code"') if name else ("", "")
    classes = "block code" if name else "code"
    switch = ""
    if whole and language.lower() == "mermaid" and 0 < len(text) <= LONGEST_DIAGRAM and not _FOREIGN.search(text):
        classes += " diagram"
        named = escape(_("Source code"))
        switch = f'<button type="button" class="button quiet small" data-diagram-switch>{named}</button>'
    return mark_safe(
        f'<figure class="{classes}"{block}><figcaption><span>{escape(language[:30])}</span>{switch}'
        f'<button type="button" class="button quiet small" data-copy-code>{escape(_("Copy"))}</button></figcaption>'
        f'<pre tabindex="0" role="group" aria-label="{escape(_("Code"))}">'
        f"<code{code}>{highlighted(text, language) if whole else escape(text)}</code></pre></figure>"
    )


def _heading(token: Token) -> str:
    return f"h{min(6, int(token.tag[1]) + _HEADING_SHIFT)}"


def cell_class(text: str) -> str:
    """Return the CSS class for a table cell's Markdown: `long`, `numeric` or none."""
    if len(text) > LONG_CELL:
        return "long"
    return "numeric" if _NUMBER_CELL.fullmatch(text.strip()) else ""


def _cell(token: Token, of_text: str = "") -> str:
    match = _ALIGNED.search(str(token.attrGet("style") or ""))
    classes = [f"align-{match[1]}"] if match else []
    if of_text == "long" or (of_text and not match):
        classes.append(of_text)
    return f'<{token.tag} class="{" ".join(classes)}">' if classes else f"<{token.tag}>"


def _trusted(href: str, context: Context) -> bool:
    """Return whether a link's URL is in the sources or the question, so that a model can't send people elsewhere."""
    return href.startswith(("https://", "http://")) and href.rstrip("/") in context.trusted_text


_parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
_parser.enable(["table", "strikethrough"])
# Without link definitions, a block doesn't depend on later ones, and `[1]` is never a reference.
_parser.disable(["reference", "html_block", "html_inline"])
_parser.use(mathematics_plugin)
_parser.core.ruler.after("text_join", "citations", _link_citations)
_parser.core.ruler.after("text_join", "addresses", _link_addresses)
_parser.core.ruler.after("text_join", "tasks", _mark_tasks)
_parser.core.ruler.after("block", "whole_fences", _find_whole_fences)
_cleaner = nh3.Cleaner(
    tags={
        "a", "blockquote", "br", "button", "code", "del", "div", "em", "figcaption", "figure", "h3", "h4", "h5", "h6",
        "hr", "li", "ol", "p", "pre", "s", "span", "strong", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
    },
    attributes={
        "a": {"class", "href", "rel", "target", "data-citation", "aria-label"},
        "button": {"type", "class", "data-copy-code", "data-diagram-switch"},
        "div": {"class", "tabindex", "role", "aria-label"},
        "figure": {"class"},
        "li": {"class"},
        "ol": {"start"},
        "pre": {"tabindex", "role", "aria-label"},
        "span": {"class", "title", "role", "aria-label"},
        "sup": {"class"},
        "table": {"class"},
        "td": {"class"},
        "th": {"class"},
    },
    url_schemes={"http", "https"},
    link_rel=None,
)  # fmt: skip
