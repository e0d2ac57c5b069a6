"""The child processes of a running site: forked, watched, and stopped with their parent.

Each child leads a process group of its own, so that its own children end with it and Ctrl-C at the terminal reaches
only the parent. The guard waits until the parent has ended; if the parent was killed, it stops the groups, then the
embedded database, and only then releases the data folder.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkProcess

from django.conf import settings
from django.core.management.base import CommandError

from ragsite.runtime import embedded
from ragsite.runtime.guard import STOP_SIGNALS

# A child that ran for this many seconds is restarted at once. One that keeps dying sooner waits longer each time, up to
# LONGEST_PAUSE: the site takes a few seconds to start and must not be down for half a minute.
STEADY = 10.0
LONGEST_PAUSE = 10.0
_fork = multiprocessing.get_context("fork")


@dataclass
class Child:
    """A process of the site that is restarted when it dies."""

    name: str
    work: Callable[[], object]
    process: ForkProcess | None = None
    started: float = 0.0
    failures: int = 0
    due: float = 0.0

    def start(self, guard: "Guard") -> None:
        """Fork the process; it runs `work` in a group of its own."""
        self.process = _fork.Process(target=_run, args=(self.work, guard), name=self.name)
        _start(self.process)
        self.started = time.monotonic()
        guard.watch(self.pid)

    @property
    def pid(self) -> int:
        """The process id, which is also its group's; 0 before the first start."""
        return (self.process.pid or 0) if self.process else 0

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self.process is not None and self.process.is_alive()

    def pause(self, now: float) -> float:
        """Record the process's end at `now` (monotonic), and return the seconds to wait before restarting it."""
        self.failures = 0 if now - self.started > STEADY else self.failures + 1
        return min(2.0 ** (self.failures - 1), LONGEST_PAUSE) if self.failures else 0.0

    def ending(self) -> str:
        """Describe how the process ended."""
        code = self.process.exitcode if self.process else None
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}"


def _start(process: ForkProcess) -> None:
    """Fork with signals blocked until the child has replaced the signal handlers of its parent."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def _run(work: Callable[[], object], guard: "Guard") -> None:
    """Prepare a forked child and do its work."""
    os.setsid()
    guard.forget()
    embedded.let_go_after_fork()
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    try:
        work()
    except CommandError as error:
        sys.exit(f"Error: {error}")


class Guard:
    """The parent's handle of the guard: a small program that outlives a killed parent until everything is cleaned up.

    It is not a fork of the parent, so that it shares none of its memory; see `ragsite.runtime.guard`.
    """

    def __init__(self) -> None:
        """Start the guard, which shares the parent's lock on the data folder."""
        self._pids: set[int] = set()
        self._due = 0.0
        self._process = self._start()

    def watch(self, pid: int) -> None:
        """Tell the guard to end a process group if the parent is killed."""
        self._pids.add(pid)
        self._send(f"+{pid}")

    def unwatch(self, pid: int) -> None:
        """Tell the guard that a group has ended, since its ID may be reused."""
        self._pids.discard(pid)
        self._send(f"-{pid}")

    def look_after_itself(self) -> None:
        """Replace the guard if it died, at most once a second."""
        now = time.monotonic()
        if self._process.poll() is None or now < self._due:
            return
        self._due = now + 1.0
        self.forget()
        with suppress(OSError):  # out of memory, perhaps; the next attempt may succeed
            self._process = self._start()
            for pid in self._pids:
                self._send(f"+{pid}")
            sys.stderr.write("The guard died and was replaced.\n")

    def dismiss(self) -> None:
        """Stop the guard, since its parent stops normally."""
        self._send("bye")
        self.forget()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    def forget(self) -> None:
        """Close this process's end of the pipe to the guard; also called in forked children."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        path = f"import sys; sys.path.insert(0, {str(settings.BASE_DIR)!r})"
        code = f"{path}; from ragsite.runtime import guard; guard.main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, f"--data-dir={settings.DATA_DIR}"],
            stdin=subprocess.PIPE,
            bufsize=0,
            pass_fds=embedded.held(),
            start_new_session=True,  # so that a Ctrl-C at the terminal doesn't reach it
        )

    def _send(self, word: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it has died; its replacement gets all groups
            self._process.stdin.write(f"{word}\n".encode())
