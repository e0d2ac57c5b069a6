"""Mathematics in Markdown: inline as `\\(…\\)` and `$…$`, display as `\\[…\\]` and `$$…$$`; the source is kept.

The tokens are `math_inline`, which may contain display mathematics, too, and `math_block`. Their `content` is the
source with its delimiters, and `meta["display"]` is whether it is display mathematics. Pages show the source until a
script typesets it.

Formulas that aren't closed yet remain text, with their backslashes, so that nothing flickers while they are written.
"""

import re
from collections.abc import Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

# The most characters of a formula.
LONGEST = 2000
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
# Signs that distinguish `\[E = mc^2\]` from an escaped bracket, and a formula from a price. Escaped characters don't
# count.
_ESCAPED = re.compile(r"\\[\\`*_\[\]<>|~$#]")
_FORMULA = re.compile(r"\\[A-Za-z]|[\^_{=]")
_REASONED = re.compile(r"\\[A-Za-z]|[\^_{=+*/<>]")
_WORD = re.compile(r"[A-Za-z0-9]")
_BLANK = re.compile(r"\n[ \t>]*\n")
_OPENING = re.compile(r"\\[(\[]|\$\$?")


def mathematics_plugin(parser: MarkdownIt) -> None:
    """Add mathematics to a Markdown parser."""
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("code", "math_block", _block, ends)
    parser.inline.ruler.before("escape", "math_inline", _inline)


def is_display(source: str) -> bool:
    """Return whether a formula, given with its delimiters, is display mathematics."""
    return source.startswith(("$$", "\\["))


def formula_html(source: str) -> str:
    """Return the HTML of a formula, given with its delimiters, until a script typesets it."""
    return f'<span class="math{" display" if is_display(source) else ""}">{escape(source)}</span>'


def marked(text: str) -> SafeString:
    """Return plain text as HTML in which each formula is an element, on one line."""
    parts = (
        formula_html(part.replace("\n", " ")) if is_formula else escape(part)
        for part, is_formula in split_formulas(text)
    )
    return mark_safe("".join(parts))


def split_formulas(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the non-empty parts of a text without other markup, and whether each is a formula."""
    start = at = 0
    while opening := _OPENING.search(text, at):
        end = _end(text, opening.start(), len(text))
        if end is None:
            at = opening.end()
            continue
        if start < opening.start():
            yield text[start : opening.start()], False
        yield text[opening.start() : end], True
        start = at = end
    if start < len(text):
        yield text[start:], False


def _end(text: str, start: int, most: int) -> int | None:
    """Return the end of the formula that begins at `start`, or None if there is none."""
    opening = text[start : start + 2]
    if opening[:1] == "$" and opening != "$$":
        return _end_of_dollars(text, start, most)
    if opening == "$$" and (text[start + 2 : start + 3] == "$" or text[start - 1 : start] == "$"):
        return None
    closing = _CLOSING.get(opening)
    if closing is None or _is_escaped(text, start):
        return None
    end = text.find(closing, start + 2, min(most, start + LONGEST))
    # With another backslash before it, it is a line break: `\\[2pt]` closes nothing.
    while end > 0 and _is_escaped(text, end):
        end = text.find(closing, end + 1, min(most, start + LONGEST))
    inner = text[start + 2 : end] if end > 0 else ""
    if not inner.strip() or _BLANK.search(inner):
        return None
    if opening == "\\[" and not inner.startswith("\n") and not _FORMULA.search(_ESCAPED.sub("", inner)):
        return None
    return end + 2


def _end_of_dollars(text: str, start: int, most: int) -> int | None:
    """Return the end of `$…$`, or None for amounts of money, shell variables and single signs."""
    before, after = text[start - 1 : start], text[start + 1 : start + 2]
    if not after or after.isspace() or _WORD.match(before) or before in {"\\", "$"}:
        return None
    end = text.find("$", start + 1, min(most, start + LONGEST))
    while end > 0 and _is_escaped(text, end):
        end = text.find("$", end + 1, min(most, start + LONGEST))
    if end < 0 or text[end - 1].isspace():
        return None
    inner, follows = text[start + 1 : end], text[end + 1 : end + 2]
    if follows == "$" or _BLANK.search(inner):
        return None
    if _WORD.match(follows) and (follows.isdigit() or not (len(inner) == 1 or _FORMULA.search(inner))):
        return None
    if inner[0].isdigit() and " " in inner and not _REASONED.search(inner):
        return None
    return end + 1


def _is_escaped(text: str, at: int) -> bool:
    """Return whether a position is preceded by an odd number of backslashes."""
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def _inline(state: StateInline, silent: bool) -> bool:
    character = state.src[state.pos]
    if character not in "\\$":
        return False
    end = _end(state.src, state.pos, state.posMax)
    if end is None:
        # An unclosed formula keeps its backslash.
        opening = state.src[state.pos : state.pos + 2]
        if opening == "\\(" or (opening == "\\[" and state.src[state.pos + 2 : state.pos + 3] in {" ", "\n"}):
            if not silent:
                state.append_pending(opening)
            state.pos += 2
            return True
        return False
    if not silent:
        source = state.src[state.pos : end]
        token = state.push("math_inline", "math", 0)
        token.content, token.meta = source, {"display": is_display(source)}
    state.pos = end
    return True


def _block(state: StateBlock, start: int, end_line: int, silent: bool) -> bool:
    """Parse a block from a line that begins with `$$` or `\\[` to one with the closing delimiter, or a blank line."""
    if state.is_code_block(start):
        return False
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    opening = first[:2]
    if opening not in ("$$", "\\[") or first.startswith("$$$"):
        return False
    rest = first[2:]
    if opening == "\\[" and rest.strip() and not _FORMULA.search(_ESCAPED.sub("", rest)):
        return False
    closing, line, at, found = _CLOSING[opening], start, 2, -1
    while True:
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        found = text.find(closing, at)
        while found > 0 and _is_escaped(text, found):
            found = text.find(closing, found + 1)
        at = 0
        if found >= 0 or line + 1 >= end_line or state.isEmpty(line + 1) or state.sCount[line + 1] < state.blkIndent:
            break
        line += 1
    apart = found >= 0 and not text[found + 2 :].strip()
    if found >= 0 and not apart and line == start:
        return False  # a paragraph that begins with a formula
    if silent:
        return True
    source = state.getLines(start, line + 1, state.blkIndent, False).strip()
    if apart and source[2:-2].strip():
        token = state.push("math_block", "math", 0)
        token.content, token.meta, token.block = source, {"display": True}, True
        token.map = [start, line + 1]
    elif found >= 0:
        # Text follows on its last line, so it is part of a paragraph.
        state.push("paragraph_open", "p", 1).map = [start, line + 1]
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = source, [start, line + 1], []
        state.push("paragraph_close", "p", -1)
    else:
        token = state.push("math_open", "p", 0)
        token.content, token.map, token.block = source, [start, line + 1], True
    state.line = line + 1
    return True
