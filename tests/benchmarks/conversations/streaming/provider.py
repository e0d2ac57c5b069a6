"""A model that writes at a steady rate, however fast it is read, and records when it wrote each token.

It implements the provider's protocol over a socket. The answers of a level begin together when all have been requested,
so that the time before a stream isn't included; they begin one after the other within the duration of a token.
"""

import asyncio
import json
import re
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from tests.benchmarks.conversations import instant_model

# Patterns for the number of a stream in a question, and that of a token.
QUESTION = "How do I reset the switch of desk {}?"
_STREAM = re.compile(rb"reset the switch of desk (\d+)\?")
WORD = re.compile(rb"W(\d+)")
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Level:
    """A number of simultaneous streams, numbered from `first`, with their tokens and tokens per second."""

    first: int
    streams: int
    tokens: int
    rate: float


@dataclass(slots=True)
class Written:
    """The times (monotonic seconds) at which the tokens of each stream were written, in order."""

    began: float = 0.0
    times: dict[int, list[float]] = field(default_factory=dict)


def text(tokens: int) -> list[str]:
    """Return an answer of `tokens` tokens: numbered words in sentences that cite a source, in paragraphs and lists."""
    made = []
    for number in range(1, tokens + 1):
        word = f"**W{number}**" if number % 23 == 0 else f"W{number}"
        if number % 120 == 0:
            made.append(f" {word}.\n\n")
        elif number % 120 == 90:
            made.append(f" {word}:\n\n-")
        elif number % 120 > 90 and number % 10 == 0:
            made.append(f" {word}\n-")
        elif number % 15 == 0:
            made.append(f" {word} [1].")
        else:
            made.append(f" {word}")
    return made


def run(listener: socket.socket, control: Connection) -> None:
    """Serve until the other end of `control` is closed; reply to each `Level` with `Written`.

    The time at which its answers begin is sent first.
    """
    with suppress(EOFError):
        asyncio.run(_Provider(listener, control).serve())


class _Provider:
    def __init__(self, listener: socket.socket, control: Connection) -> None:
        self._listener, self._control = listener, control
        self._waiting: dict[int, asyncio.StreamWriter] = {}
        self._level = Level(0, 0, 0, 1.0)
        self._all_there = asyncio.Event()
        self._ended = asyncio.Event()

    async def serve(self) -> None:
        server = await asyncio.start_server(self._answer, sock=self._listener)
        async with server:
            while True:
                self._level = await asyncio.to_thread(self._control.recv)
                self._waiting.clear()
                self._all_there.clear()
                self._ended.clear()
                self._check()
                await self._all_there.wait()
                written = Written(began=time.monotonic())
                self._control.send(written.began)
                await self._write(written)
                self._ended.set()
                self._control.send(written)

    def _expects(self, stream: int) -> bool:
        return 0 <= stream - self._level.first < self._level.streams

    def _check(self) -> None:
        if self._level.streams and len(self._waiting) == self._level.streams:
            self._all_there.set()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.partition("content-length:")[2].split("\r\n")[0] or 0)
                asked = await reader.readexactly(length)
                named = _STREAM.findall(asked)
                stream = int(named[-1]) if named else 0
                if instant_model.wants_plan(asked) or stream in self._waiting or not self._expects(stream):
                    writer.write(instant_model.reply_to(asked))
                else:
                    writer.write(_HEAD)
                    self._waiting[stream] = writer
                    self._check()
                    await self._ended.wait()
                await writer.drain()
        writer.close()

    async def _write(self, written: Written) -> None:
        """Write each token at its time; tokens due at the same moment go to one stream after the other."""
        level = self._level
        frames = [_chunk({"content": token}) for token in text(level.tokens)]
        end = _chunk({}, "stop") + _chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n"
        writers = list(self._waiting.items())
        written.times = {stream: [] for stream, _writer in writers}
        for number, frame in enumerate(frames):
            for place, (stream, writer) in enumerate(writers):
                due = written.began + (number + place / len(writers)) / level.rate
                if (early := due - time.monotonic()) > 0.0005:
                    await asyncio.sleep(early)
                written.times[stream].append(time.monotonic())
                writer.write(frame)
            await asyncio.sleep(0)
        for _stream, writer in writers:
            writer.write(end)


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {"id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "steady", "choices": [choice]}
    return _chunked(b"data: " + json.dumps(body).encode() + b"\n\n")


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
