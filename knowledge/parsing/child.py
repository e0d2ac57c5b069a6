"""The parsing child process: `python -m knowledge.parsing.child JOB`, where JOB is JSON written by `runner.py`.

It imports no Django, lowers its own limits before it touches the file, and writes JSON lines to standard output:
elements or a result, and last `{"type": "end"}` or `{"type": "error", "code": …, "message": …}`.
"""

import contextlib
import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import bounded, check_file
from knowledge.parsing.registry import ParseContext, format_of

MAX_FILE = 1024**3  # bytes that one written file (a picture, a conversion) may have

Answer = dict[str, Any]


def main() -> None:
    """Read the job, set the limits, run it."""
    out = _take_standard_output()
    sys.excepthook = _reporter(out)
    job = json.loads(sys.argv[1])
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _lower_limits(int(job["timeout_s"]), int(job["memory_mb"]))
    for answer in _TASKS[job["task"]](job):
        _send(out, answer)
        if answer["type"] in ("page_break", "result"):
            out.flush()
    _send(out, {"type": "end"})
    out.flush()


def _take_standard_output() -> BinaryIO:
    """Keep the pipe for answers alone: what a library prints goes to standard error."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "wb", buffering=1 << 16)


def _send(out: BinaryIO, answer: Answer) -> None:
    out.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")


def _parse(job: dict[str, Any]) -> Iterator[Answer]:
    path, filename = Path(job["path"]), str(job["filename"])
    context = ParseContext(Path(job["output_dir"]), filename, int(job["max_pages"]), int(job["max_rows"]))
    check_file(path, Path(filename).suffix.lower().removeprefix("."))
    for element in format_of(filename).load()(path, context):
        for piece in bounded(element):
            yield piece.to_dict()


def _call(job: dict[str, Any]) -> Iterator[Answer]:
    """Call one function of this package with JSON-safe arguments and answer with its JSON-safe result."""
    module, _, function = str(job["function"]).rpartition(".")
    if not module.startswith("knowledge.parsing."):
        raise ParseError("unsupported", f"{module} is not a parser.")
    yield {"type": "result", "value": getattr(import_module(module), function)(**job["arguments"])}


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[Answer]]] = {"parse": _parse, "call": _call}


def _lower_limits(timeout_s: int, memory_mb: int) -> None:
    """Bound address space (bytes), processor time (s), written files (bytes); no core dumps."""
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory_mb * 1024**2, memory_mb * 1024**2),
        (resource.RLIMIT_CPU, timeout_s + 1, timeout_s + 5),
        (resource.RLIMIT_FSIZE, MAX_FILE, MAX_FILE),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a stricter limit is set already, or macOS
            resource.setrlimit(kind, (soft, hard))


def _die_with_parent() -> None:
    """End this process and those it started as soon as the parent is gone: its end of standard input closes."""
    while os.read(0, 1024):
        continue
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


_OUT_OF_MEMORY = b'{"type":"error","code":"memory","message":""}\n'


def _reporter(
    out: BinaryIO,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """Return the hook that turns whatever ends this process into one last line.

    Messages of unknown errors may quote the document, so only their type and place are told.
    """

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, BrokenPipeError):
            return
        if isinstance(error, MemoryError):
            traceback.clear_frames(trace)
            out.flush()
            os.write(out.fileno(), _OUT_OF_MEMORY)
            return
        _send(out, _describe(kind, error, trace))
        out.flush()

    return report


def _describe(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Answer:
    if isinstance(error, ParseError):
        return {"type": "error", "code": error.code, "message": error.message}
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(trace)[-6:]]
    place = " < ".join(reversed(places))
    if isinstance(error, ModuleNotFoundError):
        message = f"A part that reads this kind of file is not installed ({error.name})."
        return {"type": "error", "code": "missing_tool", "message": message, "place": place}
    if isinstance(error, RecursionError):
        return {
            "type": "error",
            "code": "broken",
            "message": "The file is nested too deeply to be read.",
            "place": place,
        }
    message = f"The file is damaged or uses something that can't be read ({kind.__name__})."
    return {"type": "error", "code": "broken", "message": message, "place": place}


if __name__ == "__main__":
    main()
