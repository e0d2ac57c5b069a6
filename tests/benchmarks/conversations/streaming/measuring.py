"""Measures the cost of streams at each level of load: the site's streams, compared with a bare relay."""

import json
import logging
import multiprocessing
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db import connections
from django.utils.module_loading import import_string

from conversations import services
from ragsite.accounts import tokens
from tests import database_threads
from tests.benchmarks.conversations.overhead import fill
from tests.benchmarks.conversations.streaming import provider, readers, relay
from tests.benchmarks.conversations.streaming.provider import Level, Written
from tests.benchmarks.conversations.streaming.readers import Call, Read
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.measuring import table

WAYS = ("relay", "sse", "websocket")
# Seconds within which all answers of a level must begin, and within which they must end after the last token.
PATIENCE = 120.0
_SETTLING = 0.5  # seconds at the beginning of the streams that are not measured
_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: ways, numbers of streams, seconds, and tokens per second of each stream."""

    ways: tuple[str, ...]
    levels: tuple[int, ...]
    seconds: float
    rate: float


@dataclass(slots=True)
class Figures:
    """The figures of one level in one way. Lags are milliseconds, memory is bytes.

    `processor` is the serving process's milliseconds per token, `busy` its share of one core. `bytes` is the number
    sent per byte of text, `end` that of a page's final messages. `frames` is the messages per second of the busiest
    stream, `lost` the number of lost tokens.
    """

    way: str
    streams: int
    lags: list[float] = field(default_factory=list)
    processor: float = 0.0
    busy: float = 0.0
    bytes: float = 0.0
    end: float = 0.0
    frames: float = 0.0
    lost: int = 0
    memory: tuple[int, int] = (0, 0)


def run(plan: Plan, say: Callable[[str], None]) -> list[Figures]:
    """Run the plan in a separate database beside the site's, and print a table."""
    with scratch.database("ragsite_bench_stream", keep=False):
        scratch.empty()
        with ExitStack() as stack:
            bench = _Bench(stack)
            figures = []
            for streams in plan.levels:
                for way in plan.ways:
                    figures.append(bench.measure(way, streams, plan))
                    say(_line(figures[-1]))
    say("\n" + _table(figures))
    return figures


class _Bench:
    """The processes, and the account that asks."""

    def __init__(self, stack: ExitStack) -> None:
        self._user = User.objects.create_user("bench")
        fill(self._user)
        self._first = 1
        listeners = {name: stack.enter_context(_listener()) for name in ("provider", "relay", "web")}
        self._ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
        base_url = f"http://127.0.0.1:{self._ports['provider']}/v1"
        self._headers = _headers(self._user)
        database_threads.shut_down()
        connections.close_all()
        self._provider, theirs = _fork.Pipe()
        stack.enter_context(_process(provider.run, listeners["provider"], theirs))
        self._readers, theirs = _fork.Pipe()
        stack.enter_context(_process(readers.run, theirs))
        self._served = {
            "relay": stack.enter_context(_process(relay.run, listeners["relay"], base_url)),
            "web": stack.enter_context(_process(_serve, listeners["web"], base_url)),
        }
        for way in WAYS:  # load what the first question needs
            self._level(way, Level(self._take(1), 1, 5, 50.0))

    def measure(self, way: str, streams: int, plan: Plan) -> Figures:
        """Run one level in one way."""
        level = Level(self._take(streams), streams, max(1, round(plan.seconds * plan.rate)), plan.rate)
        return self._level(way, level)

    def _take(self, streams: int) -> int:
        first, self._first = self._first, self._first + streams
        return first

    def _level(self, way: str, level: Level) -> Figures:
        pid = self._served["relay" if way == "relay" else "web"]
        calls = [self._call(way, number) for number in range(level.first, level.first + level.streams)]
        connections.close_all()
        self._provider.send(level)
        self._readers.send(calls)
        began = _received(self._provider)
        time.sleep(max(0.0, min(_SETTLING, level.tokens / level.rate / 4)))
        measured, worked, memory = time.monotonic(), _processor(pid), _memory(pid)
        ends = began + level.tokens / level.rate
        time.sleep(max(0.0, ends - time.monotonic()))
        seconds, worked = time.monotonic() - measured, _processor(pid) - worked
        figures = Figures(way, level.streams, busy=worked / seconds, memory=(memory, _memory(pid)))
        written: Written = _received(self._provider)
        reads: list[Read] = _received(self._readers)
        # Relative to the tokens delivered: a slow process does the rest of the work later.
        handed_on = sum(measured <= at <= measured + seconds for read in reads for at in read.words.values())
        figures.processor = worked * 1000 / max(1, handed_on)
        _judge(figures, level, written, reads)
        return figures

    def _call(self, way: str, number: int) -> Call:
        question = provider.QUESTION.format(number)
        if way == "relay":
            body = json.dumps({"stream": True, "messages": [{"role": "user", "content": question}]})
            return Call(self._ports["relay"], _request("POST", "/v1/chat/completions", body))
        session = services.create_session(self._user, f"Desk {number}")
        if way == "sse":
            body = json.dumps({"question": question})
            path = f"/api/chat/sessions/{session.pk}/content"
            return Call(self._ports["web"], _request("POST", path, body, **self._headers["sse"]))
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}  # fmt: skip
        form = {"action": "ask", "question": question, "request_id": str(uuid.uuid4())}
        path = f"/ws/sessions/{session.pk}/?language=en"
        request = _request("GET", path, "", **upgrade, **self._headers["websocket"])
        return Call(self._ports["web"], request, json.dumps(form))


def _judge(figures: Figures, level: Level, written: Written, reads: list[Read]) -> None:
    text = "".join(provider.text(level.tokens))
    for (_stream, times), read in zip(sorted(written.times.items()), reads, strict=True):
        came = [read.words.get(number) for number in range(1, level.tokens + 1)]
        figures.lags += [(at - sent) * 1000 for at, sent in zip(came, times, strict=True) if at is not None]
        lost = came.count(None)
        # The received text must be complete and in order.
        figures.lost += lost or (0 if _whole(read, text) else level.tokens)
        if read.frames:
            seconds = max(read.frames[-1] - read.frames[0], 1.0)
            figures.frames = max(figures.frames, len(read.frames) / seconds)
        figures.bytes += read.bytes / len(text.encode()) / level.streams
        figures.end += read.end / level.streams


def _whole(read: Read, text: str) -> bool:
    return read.ended and (read.text is None or read.text.split() == text.split())


def _table(figures: list[Figures]) -> str:
    relays = {item.streams: item.processor for item in figures if item.way == "relay"}
    rows = []
    for item in figures:
        p50, p95 = np.percentile(item.lags, [50, 95]) if item.lags else (0.0, 0.0)
        ratio = f"{item.processor / relays[item.streams]:.2f}" if relays.get(item.streams) else ""
        before, after = (size / 2**20 for size in item.memory)
        rows.append(
            [item.way, str(item.streams), f"{p50:.0f}", f"{p95:.0f}", f"{max(item.lags, default=0.0):.0f}",
             f"{item.processor:.3f}", ratio, f"{item.busy:.0%}", f"{item.bytes:.1f}",
             f"{item.end / 1024:.0f}", f"{item.frames:.1f}",
             str(item.lost), f"{before:.0f} → {after:.0f}"]
        )  # fmt: skip
    return table(
        ["way", "streams", "lag p50 ms", "p95", "max", "processor ms per token", "× relay", "of a core",
         "bytes × text", "end KB", "frames/s", "lost", "memory MB"],
        rows,
    )  # fmt: skip


def _line(item: Figures) -> str:
    p95 = float(np.percentile(item.lags, 95)) if item.lags else 0.0
    return f"{item.way}, {item.streams} streams: p95 {p95:.0f} ms, {item.processor:.3f} ms per token, {item.lost} lost"


# --- The processes ------------------------------------------------------------------------------------


def _serve(listener: socket.socket, base_url: str) -> None:
    """Serve the site as its web process does."""
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_CONCURRENCY = base_url, "steady", 0
    # All answers of a level must begin: a question rejected because of too many searches would never reach it.
    settings.MAX_CONCURRENT_TURNS, settings.API_REQUESTS_PER_MINUTE = 10_000, 0
    settings.SEARCH_QUEUE, settings.SEARCH_TIMEOUT = 10_000, PATIENCE
    settings.LOGGING_CONFIG = None  # loading the site would set up logging again
    logging.getLogger("ragsite.qa").disabled = True
    import_string("ragsite.runtime.http_server.serve")(listener, lambda: None)  # of a higher layer, and loads this app


def _listener() -> socket.socket:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    # Inherited by its connections: otherwise the kernel delays a token until a slow reader has read those before it.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


@contextmanager
def _process(work: Callable[..., None], *args: Any) -> Iterator[int]:
    """Context manager: run a function in a separate process, and terminate it at the end; yield its id."""
    process = _fork.Process(target=work, args=args, daemon=True)
    process.start()
    try:
        yield process.pid or 0
    finally:
        process.terminate()
        process.join(5)
        process.kill()


def _received(pipe: Connection) -> Any:
    if not pipe.poll(PATIENCE):
        raise TimeoutError(f"Not all answers began, or ended, within {PATIENCE:.0f} seconds; some may have failed.")
    return pipe.recv()


def _processor(pid: int) -> float:
    """Return the processor time of a process in seconds, for all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    """Return the memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _headers(user: User) -> dict[str, dict[str, str]]:
    """Return the headers that authenticate an API client and a page."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    cookie = f"{settings.SESSION_COOKIE_NAME}={session.session_key}"
    return {"sse": {"Authorization": f"Token {tokens.create_token(user, 'bench')}"}, "websocket": {"Cookie": cookie}}


def _request(method: str, path: str, body: str, **headers: str) -> bytes:
    fields = {"Host": "127.0.0.1", **headers}
    if body:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(body.encode()))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", body]).encode()
