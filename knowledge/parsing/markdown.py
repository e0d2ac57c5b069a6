"""Markdown, from the tokens of markdown-it-py; HTML in it is read by the HTML parser."""

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from knowledge.parsing.decoding import read_text
from knowledge.parsing.elements import Code, Element, Heading, Paragraph, Title
from knowledge.parsing.html.document import elements_of
from knowledge.parsing.limits import STRUCK_OUT, pieces
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import make_table, with_captions
from knowledge.parsing.text import join_lines
from ragsite.markup.mathematics import mathematics_plugin

# A line of front matter: "key: value", or an item or a further line of the key above.
_KEY = re.compile(r"([^\W\d][^:#]{0,60}?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*(?:-\s+)?(.*\S)")
_LONGEST_ADDRESS = 100  # characters; longer ones are of no use to readers
_LONGEST_INLINE = 20_000  # characters; the parser searches for each missing end up to the end of the text
# Text without marks, such as most cells of tables; the parser would take a while for each.
_PLAIN = re.compile(r"(?:[^\W_]|[ ,.;:'\"()/+%#=|-])+")
# In a longer text, the marks that the parser pairs, each with all before it; beyond these it is read as it is.
_MARK, _MOST_MARKS = re.compile(r"[*_~\[`<$]"), 2000
_STRUCK_OUT = frozenset({"<s>", "<del>", "<strike>"})
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?(?:-->|\Z)", re.S)


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of a Markdown file; raises `ParseError` if it is empty or binary."""
    text = read_text(path)
    parser = MarkdownIt("commonmark", {"maxNesting": 30}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    tokens = parser.use(front_matter_plugin).use(footnote_plugin).use(mathematics_plugin).parse(text)
    return with_captions(_Reader(tokens, PictureStore(context.output_dir)).run())


def _parse_inline(state: StateCore) -> None:
    """Parse running text like markdown-it, but piece by piece if it is very long."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = token.children or []
            for piece in pieces(token.content, _LONGEST_INLINE):
                if _PLAIN.fullmatch(piece) or len(_MARK.findall(piece)) > _MOST_MARKS:
                    token.children.append(Token("text", "", 0, content=piece))
                else:
                    state.md.inline.parse(piece, state.md, state.env, token.children)


class _Reader:
    """Walks the tokens, keeping track of open lists."""

    def __init__(self, tokens: list[Token], pictures: PictureStore) -> None:
        self.tokens, self.pictures = tokens, pictures
        self.at = 0
        self.lists: list[int] = []  # for each open list the next number, 0 for bullets
        self.marker = ""
        self.title = ""

    def run(self) -> Iterator[Element]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            kind = token.type
            if kind == "heading_open":
                yield Heading(text=inline_text(self.tokens[self.at]).replace("\n", " "), level=int(token.tag[1]))
                self.at += 1
            elif kind == "inline":
                # Pictures embedded in the text; linked ones are not fetched.
                for child in token.children or []:
                    source = str(child.attrGet("src") or "")
                    if child.type == "image" and source.startswith("data:"):
                        yield from elements_of(f'<img src="{source}">', self.pictures)
                text = inline_text(token).strip()
                if text:
                    yield Paragraph(text=self.marker + text)
                    self.marker = ""
            elif kind in ("math_block", "math_open"):
                yield Paragraph(text=self.marker + token.content)
                self.marker = ""
            elif kind in ("fence", "code_block"):
                if token.content.strip():
                    yield Code(text=token.content.rstrip(), language=token.info.strip().split(" ")[0])
            elif kind == "table_open":
                table = make_table(self._rows(), header_rows=1)
                if table is not None:
                    yield table
            elif kind == "html_block":
                source = token.content
                if ("<" in source and _TAG.sub("", source).strip()) or "data:image" in source:
                    yield from elements_of(source, self.pictures)
            elif kind == "front_matter":
                yield from self._metadata(front_matter(token.content))
            elif kind == "ordered_list_open":
                self.lists.append(int(token.attrGet("start") or 1))
            elif kind == "bullet_list_open":
                self.lists.append(0)
            elif kind in ("ordered_list_close", "bullet_list_close"):
                self.lists.pop()
            elif kind == "list_item_open":
                number = self.lists[-1]
                self.lists[-1] += 1 if number else 0
                self.marker = "  " * (len(self.lists) - 1) + (f"{number}. " if number else "- ")
            elif kind == "footnote_open":
                self.marker = f"[{(token.meta or {}).get('label') or (token.meta or {}).get('id', 0) + 1}] "
        children = (child for token in self.tokens for child in token.children or [])
        if any(child.type == "s_open" or child.content.lower() in _STRUCK_OUT for child in children):
            yield STRUCK_OUT
        if self.title:  # as the pages show it that are made from such files, even above another heading
            yield Title(text=self.title)

    def _rows(self) -> list[list[str]]:
        """Return the cells of the table that has been opened."""
        rows: list[list[str]] = []
        while self.at < len(self.tokens) and self.tokens[self.at].type != "table_close":
            part = self.tokens[self.at]
            self.at += 1
            if part.type == "tr_open":
                rows.append([])
            elif part.type == "inline":
                rows[-1].append(inline_text(part))
        return rows

    def _metadata(self, values: dict[str, str]) -> Iterator[Element]:
        """Yield the title in the front matter as a heading if the text has none, and the other values."""
        self.title = next((value for key, value in values.items() if key.lower() == "title"), "")
        if self.title and not any(token.type == "heading_open" and token.tag == "h1" for token in self.tokens):
            yield Heading(text=self.title, level=1)
            values = {key: value for key, value in values.items() if value != self.title}
        if values:
            yield Paragraph(text="\n".join(f"{key}: {value}" for key, value in values.items()))


def front_matter(source: str) -> dict[str, str]:
    """Return the keys of a file's front matter with their values as text, those of lists joined by commas.

    It is read line by line, not as YAML, whose references could expand without limit.
    """
    values: dict[str, list[str]] = {}
    key = ""
    for line in source.splitlines():
        if found := _KEY.match(line):
            key, rest = found.group(1).strip(), found.group(2) or ""
            values[key] = []
        else:
            item = _ITEM.match(line)
            rest = item.group(1) if item and key else ""
        rest = rest.strip().strip("[]").removeprefix("|").removeprefix(">")
        values.setdefault(key, []).extend(filter(None, (part.strip(" \t\"'") for part in rest.split(", "))))
    return {name: ", ".join(parts) for name, parts in values.items() if name and parts}


def inline_text(token: Token) -> str:
    """Return the plain text of an inline token, with the addresses of links and the alternative text of pictures."""
    parts = ""
    links: list[tuple[int, str]] = []
    broken = False  # a line has just ended
    struck = 0  # marks of struck-out text that are open
    for child in token.children or []:
        mark = child.content.lower() if child.type == "html_inline" else child.type
        if mark == "s_open" or mark in _STRUCK_OUT:
            struck += 1
        elif mark in ("s_close", "</s>", "</del>", "</strike>"):
            struck -= 1
        elif struck > 0:
            continue
        elif child.type in ("text", "code_inline", "math_inline"):
            if broken and parts and not parts.endswith("\n"):
                parts = join_lines(parts.rstrip(), child.content[:1]) + child.content[1:]
            else:
                parts += child.content
            broken = broken and not child.content
        elif child.type == "softbreak":
            broken = True
        elif child.type == "hardbreak" or (child.type == "html_inline" and child.content.lower().startswith("<br")):
            parts += "\n"
        elif child.type == "image":
            parts += child.content
        elif child.type == "footnote_ref":
            parts += f" [{(child.meta or {}).get('label') or (child.meta or {}).get('id', 0) + 1}]"
        elif child.type == "link_open":
            links.append((len(parts), str(child.attrGet("href") or "")))
        elif child.type == "link_close" and links:
            start, address = links.pop()
            shown, bare = parts[start:], address.removeprefix("mailto:")
            is_shown = not shown.strip() or shown.strip() in (bare, address) or shown in bare
            known = address.startswith(("http://", "https://", "mailto:")) and len(address) <= _LONGEST_ADDRESS
            if known and not is_shown:
                parts += f" ({bare})"
    if any(child.type == "s_open" for child in token.children or []):
        parts = re.sub(" {2,}", " ", parts)  # of the spaces around text that is left out
    return parts
