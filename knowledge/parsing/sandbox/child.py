"""Where files are parsed: `python -m knowledge.parsing.sandbox.child`, started by `processes.py`.

It is a server that imports no Django and touches no file. For each file it loads the parser and forks: the fork lowers
its own limits, reads its job (JSON, one line) from the socket that came with the order, and writes JSON lines to it:
elements or a result, and last `{"type": "end"}` or `{"type": "error", "code": …, "message": …}`.
"""

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from knowledge.parsing.elements import FileType
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import bounded
from knowledge.parsing.registry import ParseContext, extension_of, find_format, format_of
from knowledge.parsing.sandbox.identity import identify, mislabelled
from knowledge.parsing.titles import titled

MAX_FILE = 1024**3  # bytes that one written file (a picture, a conversion) may have
IDLE_S = 120.0  # how long the server waits for the next file

Answer = dict[str, Any]


def main() -> None:
    """Fork for each order that comes by standard input, until the parent is gone or has been silent for long."""
    control = socket.socket(fileno=0)
    while True:
        control.settimeout(IDLE_S)
        try:
            module, descriptors, _, _ = socket.recv_fds(control, 256, 1)
        except (TimeoutError, ConnectionResetError):
            return
        if not descriptors:
            return
        channel = descriptors[0]
        with contextlib.suppress(ImportError):  # the fork meets it again, and says so
            import_module(module.decode())
        pid = os.fork()
        if pid == 0:
            control.detach()
            _work(channel)
            return
        _lead_group(pid)
        os.close(channel)
        control.settimeout(None)
        control.sendall(b"%d" % pid)
        if not control.recv(1):
            return  # the fork notices it too
        # Wait for the fork's end, end what it has started, and tell its exit code (negative: a signal).
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        control.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _lead_group(pid: int) -> None:
    """Make the fork the leader of a group, so that what it starts ends with it; both sides try it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(pid, pid)


def _work(channel: int) -> None:
    """Do one job: read it, set the limits, answer."""
    _lead_group(os.getpid())
    out = os.fdopen(os.dup(channel), "wb", buffering=1 << 16)
    sys.excepthook = partial(_report, out)
    os.dup2(channel, 0)
    os.close(channel)
    line = bytearray()
    while not line.endswith(b"\n"):
        if not (piece := os.read(0, 1 << 16)):
            os._exit(1)
        line += piece
    job = json.loads(bytes(line))
    threading.Thread(target=_die_with_parent, daemon=True).start()
    # Address space (bytes), processor time (s), written files (bytes); no core dumps.
    timeout_s, memory = int(job["timeout_s"]), int(job["memory_mb"]) * 1024**2
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, timeout_s + 1, timeout_s + 5),
        (resource.RLIMIT_FSIZE, MAX_FILE, MAX_FILE),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a stricter limit is set already, or macOS
            resource.setrlimit(kind, (soft, hard))
    for answer in _TASKS[job["task"]](job):
        _send(out, answer)
        if answer["type"] in ("page_break", "result"):
            out.flush()
    _send(out, {"type": "end"})
    out.flush()


def _send(out: BinaryIO, answer: Answer) -> None:
    out.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")


def _parse(job: dict[str, Any]) -> Iterator[Answer]:
    path, filename = Path(job["path"]), str(job["filename"])
    mode, engine, languages = job["ocr"]
    context = ParseContext(
        Path(job["output_dir"]), filename, int(job["max_pages"]), int(job["max_rows"]), mode, engine, tuple(languages)
    )
    named = extension_of(filename)
    found = identify(path, named)
    kind = find_format(found)
    if kind is None:
        raise mislabelled(named, found)
    kind.require()
    if kind.media_type != format_of(filename).media_type:
        yield FileType(media_type=kind.media_type).to_dict()
    for element in titled(kind.load()(path, context), kind.titled):
        for piece in bounded(element):
            yield piece.to_dict()


def _call(job: dict[str, Any]) -> Iterator[Answer]:
    """Call one function of this package with JSON-safe arguments and answer with its JSON-safe result."""
    module, _, function = str(job["function"]).rpartition(".")
    if not module.startswith("knowledge.parsing."):
        raise ValueError(f"{module} is not a parser.")
    yield {"type": "result", "value": getattr(import_module(module), function)(**job["arguments"])}


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[Answer]]] = {"parse": _parse, "call": _call}


def _die_with_parent() -> None:
    """End this process and those it started as soon as the parent is gone: its end of the socket closes."""
    while os.read(0, 1024):
        continue
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


_OUT_OF_MEMORY = b'{"type":"error","key":"memory","params":{}}\n'


def _report(out: BinaryIO, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Turn whatever ends this process into one last line.

    Messages of unknown errors may quote the document, so only their type and place are told.
    """
    if isinstance(error, BrokenPipeError):
        return
    if isinstance(error, MemoryError):
        traceback.clear_frames(trace)
        out.flush()
        os.write(out.fileno(), _OUT_OF_MEMORY)
        return
    place = _place(trace)
    if isinstance(error, ParseError):
        refusal, cause = error, error.__cause__
        place = f"{type(cause).__name__}: {_place(cause.__traceback__)}" if cause else ""
    elif isinstance(error, ModuleNotFoundError):
        refusal = ParseError("missing_tool", name=error.name)
    elif isinstance(error, RecursionError):
        refusal = ParseError("broken.too_deep")
    else:
        refusal = ParseError("broken.unknown", name=kind.__name__)
    _send(out, {"type": "error", "key": refusal.key, "params": refusal.params, "place": place})
    out.flush()


def _place(trace: TracebackType | None) -> str:
    """Return where an error came from, innermost first."""
    frames = traceback.extract_tb(trace)[-6:]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))


if __name__ == "__main__":
    main()
