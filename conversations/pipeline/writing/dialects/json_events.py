"""Block events in a model's text: JSON objects, one after another, optionally in a list or a code fence.

    {"t":"block_start","id":"b1","kind":"text"}
    {"t":"delta","id":"b1","text":"…"}
    {"t":"block_end","id":"b1"}

Everything between them is text. An object that is cut off, or whose quotation marks don't match, ends where the next
event begins, and its contents are recovered.
"""

import json
import re
from contextlib import suppress
from typing import Any

KINDS = ("text", "table", "image", "code")
_NAMES = ("block_start", "delta", "block_update", "block_end")
# Fields that some models write before the event's name.
_BEFORE = r'"(?:id|kind)"\s*:\s*"[^"\\{}]{0,40}"\s*'
_EVENT = re.compile(rf'\{{\s*(?:{_BEFORE},\s*){{0,2}}"(?:t|type)"\s*:\s*"(?:{"|".join(_NAMES)})"')
# After the first event, any object counts as one.
_OBJECT = re.compile(r'\{\s*"\w+"\s*:')
_STARTS = tuple(f'{{"{key}":"{name}"' for key in ("t", "type") for name in _NAMES)
# Text allowed before the first event: a fence, the beginning of a list, an object around the list.
_LEAD = re.compile(r'(?:`{3,}[A-Za-z]*[ \t]*\r?\n\s*)?(?:\{\s*"\w+"\s*:\s*)?(?:\[\s*)?\Z')
_LEAD_SO_FAR = re.compile(r"`{1,2}|`{3,}[A-Za-z]*[ \t]*\r?|`{3,}[A-Za-z]*[ \t]*\r?\n\s*(?P<rest>.*)", re.DOTALL)
_FIELDS_SO_FAR = re.compile(rf"\{{(?:{_BEFORE},\s*)+")
_FIELD_SO_FAR = re.compile(r'\{"(?:id|kind)":"[^"\\{}]{0,40}"?')
_WRAP_SO_FAR = re.compile(r'\{(?:"\w*(?:"(?::(?:\[)?)?)?)?')
# Text ignored between events and after the last.
_JUNK = re.compile(r"[\s,;\]}]+|`{3,}(?=\s)")
_JUNK_SO_FAR = re.compile(r"`{1,}")
# The number of characters at the end of a piece in which an event may begin.
_WINDOW = 160
_STRING = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)(?:"|\\?\Z)', re.DOTALL)
_FIELD = r'"{}"\s*:\s*"((?:[^"\\]|\\.)*)'
_LAST_TEXT = re.compile(r'"(?:text|content)"\s*:\s*"(.*)\Z', re.DOTALL)
_LIST = re.compile(r'"(row|columns)"\s*:\s*\[')
_SIZES = re.compile(r'"(?:width|height)"\s*:\s*\d*')
_END_OF_OBJECT = re.compile(r'(?<!\\)"\s*(?:,\s*"(?:id|kind|t|type)"\s*:\s*"[^"{}]*"?\s*)*\}?[\s,\]]*\Z')
_HALF_NAME = re.compile(r'[,{]\s*"?\w*"?\s*:?\s*\[?\s*\Z')
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")

Item = str | dict[str, Any]


class EventSplitter:
    """Takes pieces of text, cut anywhere, and returns events and the text around them."""

    def __init__(self) -> None:
        self._held = ""
        self._seen = False
        # Right after an event, where commas, brackets and fences are ignored.
        self._behind = False
        self._scan = _Scan()

    def feed(self, text: str) -> list[Item]:
        """Take a piece and return the complete items."""
        self._held += text
        items: list[Item] = []
        while self._step(items):
            pass
        return [item for item in items if item]

    def close(self) -> list[Item]:
        """Return what was held back, unless it is only the beginning of an event."""
        held, self._held = self._held, ""
        # The beginning of an event has no contents; after another event, neither does text that leads to one.
        if not held or (_so_far(held) and (self._seen or '{"' in held)):
            return []
        is_event = _EVENT.match(held) or (self._seen and _OBJECT.match(held))
        return [(salvage(held, cut=True) if is_event else None) or held]

    def _step(self, items: list[Item]) -> bool:
        """Process an event or a piece of text; return False if more input is needed."""
        if self._behind:
            while junk := _JUNK.match(self._held):
                self._held = self._held[junk.end() :]
            if not self._held or _JUNK_SO_FAR.fullmatch(self._held):
                return False
        match = (_OBJECT if self._seen else _EVENT).search(self._held)
        if match is None:
            # Text that may be the beginning of an event, or lead to one, is held back.
            window = max(0, len(self._held) - _WINDOW)
            starts = (at for at in range(window, len(self._held)) if self._held[at] in "`[{")
            keep = next((at for at in starts if _so_far(self._held[at:])), len(self._held))
            items.append(self._held[:keep])
            self._behind = self._behind and not keep
            self._held = self._held[keep:]
            return False
        if match.start():
            items.append(_LEAD.sub("", self._held[: match.start()]))
            self._held, self._scan = self._held[match.start() :], _Scan()
        end = self._scan.end_of_object(self._held)
        following = self._scan.next_event(self._held)
        if following is not None and (end is None or following < end):
            end = following
        elif end is None:
            return False
        raw, self._held, self._scan = self._held[:end], self._held[end:], _Scan()
        value = None
        with suppress(ValueError, RecursionError):
            value = json.loads(raw, strict=False)
        items.append((value if isinstance(value, dict) else None) or salvage(raw) or raw)
        self._seen = self._behind = True
        return True


# Delimiters of objects and strings: outside a string, and within one.
_MARK = re.compile(r'[{}"]')
_MARK_IN_STRING = re.compile(r'"|\\.', re.DOTALL)


class _Scan:
    """Finds the end of an object, continuing where it stopped when more text has arrived."""

    def __init__(self) -> None:
        self._at = self._depth = 0
        self._in_string = False
        self._sought = 1

    def next_event(self, text: str) -> int | None:
        """Return the position of the next event, or None."""
        match = _EVENT.search(text, self._sought)
        self._sought = max(1, len(text) - _WINDOW)
        return match.start() if match is not None else None

    def end_of_object(self, text: str) -> int | None:
        """Return the position after the object at the beginning of the text, or None."""
        while match := (_MARK_IN_STRING if self._in_string else _MARK).search(text, self._at):
            self._at = match.end()
            if match[0] == '"':
                self._in_string = not self._in_string
            elif match[0] in "{}":
                self._depth += 1 if match[0] == "{" else -1
                if not self._depth:
                    return self._at
        # The character that a trailing backslash escapes has not arrived yet.
        self._at = len(text) - (self._in_string and self._at < len(text) and text.endswith("\\"))
        return None


def salvage(raw: str, *, cut: bool = False) -> dict[str, Any] | None:
    """Return the contents of a broken event, or None if some of them can't be told apart from its syntax.

    An event that is `cut` may end within a field's name. In a block of an unknown kind, losing other fields does not
    matter if there is a text, or if one may have followed.
    """
    found: dict[str, Any] = {}
    rest = raw
    if match := _LAST_TEXT.search(raw):
        found["text"] = _unescaped(_END_OF_OBJECT.sub("", match[1]))
        rest = raw[: match.start()]
    elif match := _LIST.search(raw):
        strings, end = [], match.end()
        while string := _STRING.match(raw, end):  # up to where the list is cut off
            strings.append(_unescaped(string[1]))
            end = string.end()
        found[match[1]] = strings
        rest = raw[: match.start()] + raw[end:]
    for name in ("t", "type", "id", "kind", "language", "alt", "url"):
        if match := re.search(_FIELD.format(name), rest):
            found[name] = _unescaped(match[1])
            rest = rest[: match.start()] + rest[match.end() :]
    if cut:
        rest = _HALF_NAME.sub("", rest)
    attributed = found.get("kind", "text") not in KINDS and (cut or "text" in found)
    framed = {"t", "type"} & found.keys() and (attributed or not re.search(r"\w", _SIZES.sub("", rest)))
    return found if framed else None


def _unescaped(text: str) -> str:
    """Return the value of a JSON string's inner text, even if it is cut within an escape or has unescaped quotes."""
    text = _HALF_ESCAPE.sub(r"\1", text)
    text = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', text)
    text = re.sub(r'\\(?!["\\/bfnrtu])|\\(?=u(?![0-9a-fA-F]{4}))', r"\\\\", text)
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _so_far(text: str) -> bool:
    """Return whether a text may be the beginning of an event, including the text that leads to one."""
    lead = _LEAD_SO_FAR.fullmatch(text)
    if lead is not None:
        text = lead["rest"] or ""
        if not text:
            return True
    compact = re.sub(r"\s+", "", text)
    for opening in ("", "["):
        rest = _FIELDS_SO_FAR.sub("{", compact.removeprefix(opening), count=1)
        if any(start.startswith(rest) for start in _STARTS):
            return True
        if _WRAP_SO_FAR.fullmatch(rest) or _FIELD_SO_FAR.fullmatch(rest):  # so far it has at most a first field
            return True
        if (wrapped := re.match(r'\{"\w+":\[?', rest)) and any(s.startswith(rest[wrapped.end() :]) for s in _STARTS):
            return True
    return False
