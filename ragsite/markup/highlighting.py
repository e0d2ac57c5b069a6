"""Highlight code: Pygments' tokens as elements with a few of its short classes, without inline styles."""

import time
from functools import lru_cache
from pathlib import Path

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Generic, Keyword, Literal, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

# The most characters of highlighted code, of a line, and of a language's name, and the seconds after which the rest is
# left plain. Some lexers take quadratic time for long lines.
LONGEST = 20_000
LONGEST_LINE = 1000
_LONGEST_NAME = 30
_PATIENCE = 0.3
# Common languages only: some other lexers take very long for code that isn't in their language.
_LANGUAGES = frozenset(Path(__file__).with_name("languages.txt").read_text("utf-8").split())
# From specific to general types; the first that matches a token is used.
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment.Preproc, "k"), (Comment.PreprocFile, "s"), (Comment, "c"), (Error, ""), (Keyword.Type, "nb"),
    (Keyword, "k"), (Operator.Word, "k"), (Name.Tag, "k"), (Name.Attribute, "nf"), (Name.Function, "nf"),
    (Name.Class, "nf"), (Name.Decorator, "nf"), (Name.Builtin, "nb"), (Name.Exception, "nb"),
    (Name.Variable, "nv"), (Name.Constant, "m"), (Number, "m"),
    (String, "s"), (Literal, "m"), (Generic.Deleted, "gd"), (Generic.Inserted, "gi"),
    (Generic.Heading, "k"), (Generic.Subheading, "k"), (Generic.Prompt, "c"), (Generic.Output, ""),
)  # fmt: skip


def highlighted(code: str, language: str) -> SafeString:
    """Return code as safe HTML, highlighted if its language is known and it isn't too long."""
    name = language.lower()
    if len(code) > LONGEST or len(name) > _LONGEST_NAME or name not in _LANGUAGES:
        return escape(code)
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    if max(map(len, code.split("\n"))) > LONGEST_LINE:
        return escape(code)
    return _coloured(code, name)


@lru_cache(maxsize=256)
def _coloured(code: str, language: str) -> SafeString:
    try:
        lexer: Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    parts: list[str] = []
    until = time.monotonic() + _PATIENCE
    written, pending, of = 0, "", ""
    for kind, text in lexer.get_tokens(code):
        found = next((name for parent, name in _CLASSES if kind[: len(parent)] == parent), "") if text.strip() else of
        if found != of:
            parts.append(_element(pending, of))
            pending, of = "", found
        if code[written : written + len(text)] != text:
            return escape(code)  # the lexer changed the code
        pending += text
        written += len(text)
        if time.monotonic() > until:
            break
    parts += [_element(pending, of), escape(code[written:])]
    return mark_safe("".join(parts))


def _element(text: str, name: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name and text else escape(text)
