"""Separate thinking that a model writes between `<think>` and `</think>` from its answer.

Some models use other tags: `<thinking>`, `<thought>`, `<reasoning>`, Seed's `<seed:think>`, Mistral's `[THINK]`, Kimi's
`◁think▷`.
"""

import re

from ragsite.llm.types import TextPiece, ThinkPiece

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_TAG = re.compile(rf"(?<!`)(?:<(/?)(?:{'|'.join(_NAMES)})\s{{0,2}}>|\[(/?)(?-i:THINK)\]|◁(/?)think▷)", re.IGNORECASE)
_LONGEST_TAG = len("</seed:think  >")
_TAGS = tuple(f"<{slash}{name}" for slash in ("", "/") for name in _NAMES)
_OTHER_TAGS = ("[THINK]", "[/THINK]", "◁think▷", "◁/think▷")
_OPENING = re.compile(r"[<\[◁]")


class ThinkSplitter:
    """Splits streamed text, cut anywhere, into pieces of text and thinking.

    Tags are recognised anywhere and in any case, except after a backtick, where an answer writes about them. Without a
    closing tag, the rest is thinking; a closing tag without an opening one is dropped. White space before the first
    word of the answer and of the thinking is dropped, too.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._thinking = False
        self._started = {True: False, False: False}

    def feed(self, text: str) -> list[TextPiece | ThinkPiece]:
        """Return the pieces that are certain; the beginning of a possible tag is held back."""
        text = self._held + text
        pieces: list[TextPiece | ThinkPiece] = []
        # Include the last character before, which may be a backtick.
        offset = len(self._before)
        whole = self._before + text
        for match in _TAG.finditer(whole, offset):
            pieces += self._emit(whole[offset : match.start()])
            self._thinking = not any(match.groups())
            offset = match.end()
        keep = len(whole)  # or the position of a possible tag at the end
        for match in _OPENING.finditer(whole, max(offset, len(whole) - _LONGEST_TAG + 1)):
            tail = whole[match.start() :].lower()
            name = tail.rstrip()
            begun = (name in _TAGS and len(tail) - len(name) <= 2) or any(tag.startswith(tail) for tag in _TAGS)
            begun = begun or any(tag.startswith(whole[match.start() :]) for tag in _OTHER_TAGS)
            if begun and whole[match.start() - 1 : match.start()] != "`":
                keep = match.start()
                break
        pieces += self._emit(whole[offset:keep])
        self._held = whole[keep:]
        self._before = whole[:keep][-1:]
        return pieces

    def close(self) -> list[TextPiece | ThinkPiece]:
        """Return the text that was held back, since it isn't a tag."""
        held, self._held = self._held, ""
        return self._emit(held)

    def _emit(self, text: str) -> list[TextPiece | ThinkPiece]:
        if not self._started[self._thinking]:
            text = text.lstrip()
        if not text:
            return []
        self._started[self._thinking] = True
        return [ThinkPiece(text) if self._thinking else TextPiece(text)]


def split_thinking(text: str) -> tuple[str, str]:
    """Return (thinking, answer) of a complete reply.

    Some servers put the opening tag into the prompt, so that the reply starts with its thinking; in a complete reply, a
    closing tag that comes first shows that.
    """
    first = _TAG.search(text)
    if first is not None and any(first.groups()):
        text = "<think>" + text
    pieces = _pieces(text)
    thinking = "".join(piece.text for piece in pieces if isinstance(piece, ThinkPiece))
    return thinking.strip(), "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)).strip()


def strip_thinking(text: str) -> str:
    """Return a text without thinking, even if it isn't closed; tags that the text only mentions are kept."""
    return "".join(piece.text for piece in _pieces(text) if isinstance(piece, TextPiece)).strip()


def _pieces(text: str) -> list[TextPiece | ThinkPiece]:
    splitter = ThinkSplitter()
    return splitter.feed(text) + splitter.close()
