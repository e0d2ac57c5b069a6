"""Readers of the streams: they record what arrives and when, and analyse it only afterwards."""

import asyncio
import json
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from tests.benchmarks.conversations.streaming.provider import WORD

_APART = 0.05  # seconds between two calls
_TEXT, _PING, _PONG = 0x1, 0x9, 0xA  # kinds of messages (RFC 6455, 5.2)
_WEBSOCKET_ENDS = re.compile(rb'data-status=\\?"(?:completed|failed|stopped|interrupted)')


@dataclass(frozen=True, slots=True)
class Call:
    """A reader's `request`, and for a WebSocket the message with the question."""

    port: int
    request: bytes
    message: str = ""


@dataclass(slots=True)
class Read:
    """A reader's result: the time at which each word arrived, and bytes and messages from the first word on.

    `end` is the size of a page's final messages: the results of the citation check (which doubts each sentence here),
    sources, buttons. `text` is the answer, if the protocol contains it (server-sent events). Times are monotonic
    seconds.
    """

    words: dict[int, float] = field(default_factory=dict)
    bytes: int = 0
    end: int = 0
    frames: list[float] = field(default_factory=list)
    text: str | None = None
    ended: bool = False


def run(control: Connection) -> None:
    """Make the calls of each list received and send back what was read, until the pipe is closed.

    Calls are made one shortly after the other, since answers are measured, not how many questions are accepted at once.
    """
    with suppress(EOFError):
        while True:
            control.send(asyncio.run(_all(control.recv())))


async def _all(calls: list[Call]) -> list[Read]:
    return await asyncio.gather(*(_one(call, place * _APART) for place, call in enumerate(calls)))


async def _one(call: Call, wait: float) -> Read:
    await asyncio.sleep(wait)
    reader, writer = await asyncio.open_connection("127.0.0.1", call.port)
    came: list[tuple[float, bytes]] = []
    with suppress(ConnectionError, asyncio.IncompleteReadError):  # the rest is lost
        writer.write(call.request)
        if call.message:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_masked(_TEXT, call.message.encode()))
            await _hear(reader, writer, came)
        else:
            tail = b""
            while not _http_ends(tail) and (data := await reader.read(65536)):
                came.append((time.monotonic(), data))
                tail = tail[-20:] + data
    writer.close()
    return _messages(came) if call.message else _events(came)


async def _hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, came: list[tuple[float, bytes]]) -> None:
    """Record messages with the arrival time of their last byte, until the answer's end; reply to pings."""
    buffer = bytearray()
    while data := await reader.read(65536):
        at = time.monotonic()
        buffer += data
        while (size := _whole(buffer)) is not None:
            head, end = size
            kind, message = buffer[0] & 0x0F, bytes(buffer[head:end])
            del buffer[:end]
            if kind == _PING:
                writer.write(_masked(_PONG, message))
                continue
            came.append((at, message))
            if _WEBSOCKET_ENDS.search(message):
                return


def _http_ends(tail: bytes) -> bool:
    return tail.endswith(b"0\r\n\r\n") or tail.endswith(b"data: [DONE]\n\n")


def _masked(kind: int, data: bytes) -> bytes:
    """Return a message as a client sends it (RFC 6455, 5.2)."""
    mask = os.urandom(4)
    return bytes([0x80 | kind]) + _length(len(data)) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))


def _length(size: int) -> bytes:
    return bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")


def _events(came: list[tuple[float, bytes]]) -> Read:
    """Read server-sent events: the words as they arrive, then the text of the site's own frames."""
    read = Read(ended=bool(came) and _http_ends(came[-1][1]))
    for at, data in came:
        if _note(read, at, data):
            read.bytes += len(data)
            read.frames.append(at)
    body = b"".join(data for _at, data in came).partition(b"\r\n\r\n")[2]
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b'data: {"step"')]
    if lines:
        events = [json.loads(step["message"]) for line in lines if (step := json.loads(line))["step"] == 8]
        read.text = "".join(event.get("text", "") for event in events if event["type"] == "delta")
    return read


def _messages(came: list[tuple[float, bytes]]) -> Read:
    """Read the messages of a WebSocket."""
    read = Read()
    for at, message in came:
        read.ended = read.ended or bool(_WEBSOCKET_ENDS.search(message))
        if _note(read, at, message):
            if read.ended or b"-blocks,*" in message[:40]:
                read.end += len(message)
            else:
                read.bytes += len(message)
                read.frames.append(at)
    return read


def _whole(buffer: bytearray) -> tuple[int, int] | None:
    """Return the start and end of the first message's payload, or None if it is incomplete."""
    if len(buffer) < 2:
        return None
    size, head = buffer[1] & 0x7F, 2
    if size >= 126:
        head = 4 if size == 126 else 10
        if len(buffer) < head:
            return None
        size = int.from_bytes(buffer[2:head], "big")
    return (head, head + size) if len(buffer) >= head + size else None


def _note(read: Read, at: float, data: bytes) -> bool:
    """Record new words; return whether the answer has begun."""
    for match in WORD.finditer(data):
        read.words.setdefault(int(match[1]), at)
    return bool(read.words)
