"""Runs parsers in a child process with limits, so that no file can crash the worker."""

import json
import logging
import selectors
import signal
import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.parsing.elements import Element, PageBreak, element_from_dict
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import format_of
from knowledge.parsing.sandbox import processes

logger = logging.getLogger(__name__)

MAX_LINE = 16 * 1024**2  # bytes of one JSON line; the child splits elements well below it
TICK_S = 0.2  # interval of checks on a silent child
GRACE_S = 5.0  # time limit for a process that closed its socket to end


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits for a file: seconds of waiting for the parser, megabytes of memory, pages, table rows, hidden parts."""

    timeout_s: float = 900
    memory_mb: int = 3072
    max_pages: int = 5000
    max_rows: int = 200_000
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Ocr:
    """OCR settings; see `ParseContext`."""

    mode: str = "off"
    engine: str = "rapidocr"
    languages: tuple[str, ...] = ("en", "zh")
    kept: str = ""


class ParseStopped(ParseError):
    """The caller asked to stop."""


def parse_file(
    path: Path,
    filename: str,
    output_dir: Path,
    limits: ParseLimits,
    on_progress: Callable[[int, int | None], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
    ocr: Ocr = Ocr(),
) -> Generator[Element, None, None]:
    """Yield the elements of the file at `path`, parsed by the format of `filename`'s extension.

    Pictures are written to `output_dir`. `on_progress(page, total)` is called at each page break; `should_stop` is
    called several times a second. Memory use here is constant, since the child waits until an element is consumed.
    Raises `ParseError` with the reason, or `ParseStopped`. Closing the generator ends the child.
    """
    parser = format_of(filename).parser
    if not path.is_file():
        raise ParseError("broken.gone")
    if path.stat().st_size == 0:
        raise ParseError("empty")
    output_dir.mkdir(parents=True, exist_ok=True)
    job = {
        "task": "parse",
        "path": str(path.resolve()),
        "filename": filename,
        "output_dir": str(output_dir.resolve()),
        "max_pages": limits.max_pages,
        "max_rows": limits.max_rows,
        "hidden": limits.hidden,
        "ocr": [ocr.mode, ocr.engine, ocr.languages, ocr.kept],
    }
    with closing(_answers(parser, job, limits, should_stop)) as answers:
        for answer in answers:
            element = element_from_dict(answer)
            if isinstance(element, PageBreak) and element.page is not None:
                on_progress(element.page, element.total)
            yield element


def call(function: str, arguments: dict[str, Any], limits: ParseLimits) -> Any:
    """Call a function of `knowledge.parsing` in a child with JSON-safe arguments; return its JSON-safe result.

    Raises `ParseError` like `parse_file`.
    """
    job = {"task": "call", "function": function, "arguments": arguments}
    with closing(_answers(function, job, limits, lambda: False)) as answers:
        return next(answers)["value"]


def _answers(
    function: str, job: dict[str, Any], limits: ParseLimits, should_stop: Callable[[], bool]
) -> Generator[dict[str, Any], None, None]:
    """Start a process for `function` and yield its answers; raises the error that it reports, or that ended it."""
    job = job | {"timeout_s": int(limits.timeout_s) + 1, "memory_mb": limits.memory_mb}
    process = processes.start(function.rpartition(".")[0], json.dumps(job).encode() + b"\n")
    try:
        for line in _lines(process.channel, limits.timeout_s, should_stop):
            answer: dict[str, Any] = json.loads(line)
            if answer["type"] == "end":
                return
            if answer["type"] == "error":
                if answer.get("place"):
                    logger.warning("Parser failed: %s %s at %s", answer["key"], answer["params"], answer["place"])
                if answer["key"] == "memory":
                    raise ParseError("memory", memory=limits.memory_mb)
                raise ParseError(answer["key"], **answer["params"])
            yield answer
        raise _died(process.wait(GRACE_S), limits)
    except json.JSONDecodeError as error:
        raise _died(process.wait(GRACE_S), limits) from error
    finally:
        process.end()


def _lines(channel: socket.socket, timeout_s: float, should_stop: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the process's lines; the time that the caller spends between lines doesn't count."""
    waited = 0.0
    asked = float("-inf")
    rest = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        while True:
            started = time.monotonic()
            ready = selector.select(TICK_S)
            waited += time.monotonic() - started
            if time.monotonic() - asked >= TICK_S:
                asked = time.monotonic()
                if should_stop():
                    raise ParseStopped("cancelled")
            if not ready:
                if waited > timeout_s:
                    raise too_slow(timeout_s)
                continue
            try:
                piece = channel.recv(1 << 16)
            except ConnectionResetError:  # the process died before it had read its job
                piece = b""
            if not piece:
                break
            rest += piece
            if b"\n" in piece:
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                yield from lines
            elif len(rest) > MAX_LINE:
                raise ParseError("too_large.line")
            if waited > timeout_s:
                raise too_slow(timeout_s)
    if rest:
        yield bytes(rest)


def _died(code: int | None, limits: ParseLimits) -> ParseError:
    """Return the error for a child's exit code; negative ones are signals."""
    if code == -signal.SIGXCPU:
        return too_slow(limits.timeout_s)
    if code in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP):  # not by anything in the file
        return ParseError("killed", name=signal.Signals(-code).name)
    if code is not None and code < 0:
        return ParseError("broken.crashed", name=signal.Signals(-code).name, memory=limits.memory_mb)
    return ParseError("broken.ended", code=code)


def too_slow(timeout_s: float) -> ParseError:
    """Return the error for exceeding the time limit."""
    return ParseError("timeout", seconds=round(timeout_s))
