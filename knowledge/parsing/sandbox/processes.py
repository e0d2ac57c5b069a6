"""Starts the parsing processes: one per file, forked from a server that has loaded the parsers.

Starting Python and loading a parser takes longer than reading a small file, so a server process
(`python -m knowledge.parsing.sandbox.child`) does that once, never opens a file itself, and forks for each file. A
server forks for one file at a time; idle ones are kept for the next file, and end by themselves after a while.
"""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from knowledge.parsing.errors import ParseError

MAX_IDLE = 2  # servers kept for the next file
START_S = 60.0  # time limit for a server to load a parser and fork

_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = (sys.executable, "-m", "knowledge.parsing.sandbox.child")

_idle: list["_Server"] = []
_lock = threading.Lock()


class Process:
    """A process that parses a file: the leader of its own process group, which ends when `channel` is closed."""

    def __init__(self, server: "_Server", channel: socket.socket, pid: int) -> None:
        self.channel = channel
        self.exit_code: int | None = None
        self._server = server
        self._pid = pid

    def wait(self, seconds: float) -> int | None:
        """Return the exit code (negative: a signal) of a process that is ending, or None if it takes longer."""
        if self.exit_code is None:
            self.exit_code = self._server.reap(seconds)
        return self.exit_code

    def end(self) -> None:
        """Kill the process and the programs it started, if any are left, and release its server."""
        self.channel.close()
        if self.exit_code is None and not self._server.broken:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)  # not reaped yet, so the process ID is still its own
            self.wait(START_S)
        with _lock:
            if not self._server.broken and len(_idle) < MAX_IDLE:
                _idle.append(self._server)
                return
        self._server.close()


def start(module: str, job: bytes) -> Process:
    """Start a process for a job (one JSON line) with a parser in `module`; raises `ParseError` on failure."""
    for _ in range(MAX_IDLE + 1):  # idle servers may have ended just now
        with _lock:
            server = _idle.pop() if _idle else _Server()
        ours, theirs = socket.socketpair()
        with theirs:
            pid = server.fork(module, theirs)
        if pid is not None:
            process = Process(server, ours, pid)
            with suppress(BrokenPipeError):  # it has already died; its exit code shows why
                ours.sendall(job)
            return process
        ours.close()
        server.close()
    raise ParseError("internal.start")


class _Server:
    """A process that forks parsing processes, without this process's environment, which contains secrets."""

    def __init__(self) -> None:
        # Closing this end makes the server exit, unless another process has inherited it.
        self.control, theirs = socket.socketpair()
        self._asked_to_reap = False
        self.broken = False
        with theirs:
            self._process = subprocess.Popen(
                _COMMAND,
                cwd=_ROOT,
                env={
                    "PATH": os.defpath,
                    "PYTHONPATH": str(_ROOT),
                    "PYTHONUTF8": "1",
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "LC_ALL": "C.UTF-8",
                    "MALLOC_ARENA_MAX": "2",
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                    # With defusedxml, if installed, openpyxl parses in pure Python, four times slower. Files with a
                    # document type are refused earlier, so the standard library's parser is as safe.
                    "OPENPYXL_DEFUSEDXML": "False",
                },
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def fork(self, module: str, channel: socket.socket) -> int | None:
        """Return the ID of a process that serves the other end of `channel`, or None if the server is gone."""
        self._asked_to_reap = False
        with suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self.control, [module.encode()], [channel.fileno()])
        return self._answer(START_S)

    def reap(self, seconds: float) -> int | None:
        """Return the exit code of the forked process once it has ended, or None if that takes longer."""
        if not self._asked_to_reap:
            self._asked_to_reap = True
            with suppress(BrokenPipeError, ConnectionResetError):
                self.control.sendall(b"\n")
        return self._answer(seconds)

    def close(self) -> None:
        """End the server."""
        self.control.close()
        self._process.kill()
        self._process.wait()

    def _answer(self, seconds: float) -> int | None:
        self.control.settimeout(seconds)
        try:
            answer = self.control.recv(32)
        except TimeoutError:
            return None
        except ConnectionResetError:
            answer = b""
        self.broken = not answer
        return int(answer) if answer else None


@atexit.register
def _close_idle() -> None:
    with _lock:
        while _idle:
            _idle.pop().close()


def _leave_to_parent() -> None:
    """Drop the servers in a forked process, since they belong to its parent."""
    global _lock
    _lock = threading.Lock()
    while _idle:
        _idle.pop().control.close()


os.register_at_fork(after_in_child=_leave_to_parent)
