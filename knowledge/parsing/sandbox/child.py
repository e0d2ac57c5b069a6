"""The process in which files are parsed: `python -m knowledge.parsing.sandbox.child`, started by `processes.py`.

It is a server that doesn't import Django or open any file. For each file it loads the parser and forks: the fork lowers
its own limits, reads its job (JSON, one line) from the socket that came with the request, and writes JSON lines to it:
elements or a result, and finally `{"type": "end"}` or `{"type": "error", "key": …, "params": …, "place": …}`.
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

MAX_FILE = 1024**3  # maximum size in bytes of a written file (a picture, a conversion)
IDLE_S = 120.0  # time that the server waits for the next file

Answer = dict[str, Any]


def main() -> None:
    """Fork for each request from standard input, until the parent is gone or has been silent for too long."""
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
        with contextlib.suppress(ImportError):  # the fork raises it again and reports it
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
        # Wait for the fork to end, kill the processes it started, and send its exit code (negative: a signal).
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        control.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _lead_group(pid: int) -> None:
    """Make the fork the leader of a process group, so that its children end with it; both sides try this."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(pid, pid)


def _work(channel: int) -> None:
    """Read a job, set the limits, and write the results."""
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
    # Address space (bytes), processor time (s), size of written files (bytes); no core dumps.
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
    mode, engine, languages, kept = job["ocr"]
    context = ParseContext(
        Path(job["output_dir"]),
        filename,
        int(job["max_pages"]),
        int(job["max_rows"]),
        bool(job["hidden"]),
        mode,
        engine,
        tuple(languages),
        Path(kept) if kept else None,
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
    """Call a function of `knowledge.parsing` with JSON-safe arguments, and yield its JSON-safe result."""
    module, _, function = str(job["function"]).rpartition(".")
    if not module.startswith("knowledge.parsing."):
        raise ValueError(f"{module} is not a parser.")
    yield {"type": "result", "value": getattr(import_module(module), function)(**job["arguments"])}


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[Answer]]] = {"parse": _parse, "call": _call}


def _die_with_parent() -> None:
    """End this process and its children once the parent is gone, which closes its end of the socket."""
    while os.read(0, 1024):
        continue
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


_OUT_OF_MEMORY = b'{"type":"error","key":"memory","params":{}}\n'


def _report(out: BinaryIO, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report the exception that ends this process as the last line.

    Messages of unknown errors may quote the document, so only their type and location are reported.
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
    """Return the location of an error, innermost frame first."""
    frames = traceback.extract_tb(trace)[-6:]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))


if __name__ == "__main__":
    main()
