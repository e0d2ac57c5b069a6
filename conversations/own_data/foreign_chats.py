"""Reads chats from the export files of ChatGPT and Open WebUI, one at a time.

ChatGPT sends a zip file with `conversations.json` (or `conversations-000.json`, …): a list of conversations, each with
a `mapping` of nodes. Open WebUI saves a list of chats, each with `chat.history.messages`. In both a message knows its
parent, so that edited questions and repeated answers are branches.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

import ijson
from django.utils.translation import gettext as _

from ragsite.exceptions import Refused

# Characters of a question or an answer; longer ones are cut.
LONGEST = 200_000
# A chat with more messages is cut, and a file may have this many times its size when unpacked.
MOST_MESSAGES, MOST_UNPACKED = 5_000, 40
# What ChatGPT's own page replaces by a link or a widget.
_MARKERS = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue20f]")
_LIST_OF_CHATS = re.compile(r"(?:^|/)(?:conversations|chat-export)[^/]*\.json$")
_HIDDEN = "is_visually_hidden_from_conversation"


@dataclass(slots=True)
class ForeignTurn:
    """A question with its answer; `key` identifies it within its chat."""

    key: str
    parent: str | None
    question: str
    answer: str = ""
    thinking: str = ""
    model: str = ""
    asked_at: datetime | None = None


@dataclass(slots=True)
class ForeignChat:
    """A chat of another site; parents precede their children."""

    source: str
    key: str
    title: str
    turns: list[ForeignTurn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Message:
    key: str
    parent: str
    role: str
    text: str
    thinking: str = ""
    model: str = ""
    at: datetime | None = None


def read(name: str, file: IO[bytes], size: int) -> Iterator[ForeignChat]:
    """Yield the chats of an export file, zip or JSON; raises `Refused` ("unknown_export", "damaged_export")."""
    if not zipfile.is_zipfile(file):
        file.seek(0)
        yield from _chats(name, file)
        return
    try:
        with zipfile.ZipFile(file) as archive:
            inner = [each for each in archive.infolist() if _LIST_OF_CHATS.search(each.filename)]
            if not inner:
                raise _unknown(name)
            if sum(each.file_size for each in inner) > MOST_UNPACKED * size:
                raise _damaged(name)
            for each in sorted(inner, key=lambda info: info.filename):
                with archive.open(each) as opened:
                    yield from _chats(f"{name}: {each.filename}", opened)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):  # damaged, encrypted, exotic or cut
        raise _damaged(name) from None


def _unknown(name: str) -> Refused:
    message = _(
        "“{name}” isn't an export of chats that can be read. Choose the zip file that ChatGPT sent you, its "
        "conversations.json, or the file that Open WebUI saved under “Export chats”."
    )
    return Refused("unknown_export", message.format(name=name))


def _damaged(name: str) -> Refused:
    return Refused("damaged_export", _("“{name}” is damaged or incomplete. Export your chats again.").format(name=name))


def _chats(name: str, file: IO[bytes]) -> Iterator[ForeignChat]:
    """Yield the chats of a JSON file, which is a list of them or one alone, without reading it whole."""
    first = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first not in (b"[", b"{"):
        raise _unknown(name)
    file.seek(0)
    found = False
    try:
        for item in ijson.items(file, "item" if first == b"[" else "", use_float=True):
            chat = _chat(item) if isinstance(item, dict) else None
            if chat is not None:
                found = True
                yield chat
    except (ijson.JSONError, UnicodeDecodeError):
        raise _damaged(name) from None
    if not found:
        raise _unknown(name)


def _chat(item: Mapping[str, Any]) -> ForeignChat | None:
    """Return a chat in either format, or None if it has none."""
    match item:
        case {"mapping": dict() as nodes}:
            key = str(item.get("conversation_id") or item.get("id") or "")
            messages = [_of_chatgpt(name, node) for name, node in nodes.items()]
            source = "chatgpt"
        case {"chat": {"history": {"messages": dict() as nodes}}}:
            key = str(item.get("id") or "")
            messages = [_of_open_webui(name, node) for name, node in nodes.items()]
            source = "open-webui"
        case {"chat": {"messages": list() as listed}}:  # of an early version: one after the other
            key = str(item.get("id") or "")
            nodes = {str(number): each for number, each in enumerate(listed, 1) if isinstance(each, dict)}
            linked = {name: each | {"id": name, "parentId": str(int(name) - 1)} for name, each in nodes.items()}
            messages = [_of_open_webui(name, node) for name, node in linked.items()]
            source = "open-webui"
        case _:
            return None
    title = item.get("title")
    if not isinstance(title, str):
        title = ""
    return ForeignChat(source, key or title, title, _turns([each for each in messages if each][:MOST_MESSAGES]))


def _of_chatgpt(key: str, node: Any) -> _Message | None:
    """Return a node of ChatGPT; one without a message, or with a message that isn't shown, has an empty role."""
    if not isinstance(node, dict):
        return None
    parent = str(node.get("parent") or "")
    match node.get("message"):
        case {"author": {"role": "user" | "assistant" as role}, "content": dict() as content}:
            message: Mapping[str, Any] = node["message"]
            parts = content.get("parts")
            texts = [each for each in parts if isinstance(each, str)] if isinstance(parts, list) else []
            given = message.get("metadata")
            details = given if isinstance(given, dict) else {}
            is_shown = message.get("recipient", "all") == "all" and not details.get(
                "is_visually_hidden_from_conversation"
            )
            if is_shown and content.get("content_type") in ("text", "multimodal_text"):
                text = _MARKERS.sub("", "\n".join(texts))
                model = str(details.get("model_slug") or "")
                return _Message(key, parent, role, text, model=model, at=_time(message.get("create_time")))
    return _Message(key, parent, "", "")


def _of_open_webui(key: str, node: Any) -> _Message | None:
    if not isinstance(node, dict):
        return None
    role, text = str(node.get("role") or ""), str(node.get("content") or "")
    thinking = ""
    # Open WebUI stores a model's thinking in the text.
    if text.startswith("<details") and 'type="reasoning"' in text[:200] and "</details>" in text:
        thinking, _end, text = text.partition("</details>")
        thinking = thinking.partition("</summary>")[2].strip()
        thinking = "\n".join(line.removeprefix("&gt; ").removeprefix("> ") for line in thinking.splitlines())
    parent = str(node.get("parentId") or "")
    model = str(node.get("modelName") or node.get("model") or "")
    shown = role if role in ("user", "assistant") else ""
    return _Message(key, parent, shown, text.strip(), thinking, model, _time(node.get("timestamp")))


def _time(seconds: Any) -> datetime | None:
    """Return a time given in seconds since 1970, or None if there is none."""
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(seconds, UTC)
    return None


def _turns(messages: list[_Message]) -> list[ForeignTurn]:
    """Return the turns of a tree of messages.

    The answer to a question is all that follows until the next question. If a question has several answers, each is a
    turn that repeats it.
    """
    known = {message.key: message for message in messages}
    below: dict[str, list[_Message]] = {}
    for message in messages:
        parent = message.parent if message.parent in known and message.parent != message.key else ""
        below.setdefault(parent, []).append(message)
    turns: list[ForeignTurn] = []
    # Messages with the turns that they belong to.
    waiting: list[tuple[_Message, ForeignTurn | None]] = [(each, None) for each in reversed(below.get("", []))]
    seen: set[str] = set()
    while waiting:
        message, turn = waiting.pop()
        if message.key in seen:
            continue
        seen.add(message.key)
        after = below.get(message.key, [])
        if message.role == "user" and message.text.strip():
            before = None if turn is None else turn.key
            turn = ForeignTurn(message.key, before, message.text[:LONGEST], asked_at=message.at)
            turns.append(turn)
        elif message.role == "assistant" and turn is not None:
            if message.text.strip():
                turn.answer = f"{turn.answer}\n\n{message.text}".strip()[:LONGEST]
            turn.thinking, turn.model = message.thinking or turn.thinking, message.model or turn.model
        for number, follower in reversed(list(enumerate(after))):
            branch = turn
            if number and turn is not None and follower.role != "user":
                branch = ForeignTurn(
                    f"{turn.key}/{follower.key}", turn.parent, turn.question, turn.answer, asked_at=turn.asked_at
                )
                turns.append(branch)
            waiting.append((follower, branch))
    return turns
