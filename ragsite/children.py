"""The processes of a running site, kept together: forked, watched, and never outliving their parent.

Each child leads a process group of its own, so that what it starts in turn ends with it and a Ctrl-C at
the terminal reaches the parent alone. A guard process waits for the parent's end; should that come without
farewell, it ends the groups, then the embedded database, and only then lets go of the data folder.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkProcess

from django.conf import settings

from ragsite import embedded

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 6.0  # seconds between asking a process group to stop and ending it
# A child that ran this long (seconds) starts again at once. One that keeps dying sooner waits longer each time, but
# never so long that the site, which takes a few seconds to start, is away for half a minute.
STEADY = 10.0
LONGEST_PAUSE = 10.0
_fork = multiprocessing.get_context("fork")


@dataclass
class Child:
    """One process of the site, started again when it dies."""

    name: str
    work: Callable[[], None]
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
        """The process's number, which is its group's too; 0 before the first start."""
        return (self.process.pid or 0) if self.process else 0

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.is_alive()

    def pause(self, now: float) -> float:
        """Count the process's end at `now` (monotonic), and return after how many seconds to start it again."""
        self.failures = 0 if now - self.started > STEADY else self.failures + 1
        return min(2.0 ** (self.failures - 1), LONGEST_PAUSE) if self.failures else 0.0

    def ending(self) -> str:
        """Return in words how the process ended."""
        code = self.process.exitcode if self.process else None
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}"


def _start(process: ForkProcess) -> None:
    """Fork; a signal that comes before the child has put off its parent's handlers waits until it has."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def _run(work: Callable[[], None], guard: "Guard") -> None:
    """Prepare a forked child and do its work."""
    os.setsid()
    guard.forget()
    embedded.let_go_after_fork()
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    work()


def end_groups(pids: list[int], grace: float = GRACE) -> None:
    """Ask process groups to stop, wait for at most `grace` seconds, then end what is left of them."""
    pids = [pid for pid in pids if pid > 0]
    for pid in pids:
        _signal_leader(pid, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(_group_lives(pid) for pid in pids):
        time.sleep(0.05)
    for pid in pids:
        kill_group(pid)


def kill_group(pid: int) -> None:
    """End every process of the group at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _signal_leader(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _group_lives(pid: int) -> bool:
    for process in multiprocessing.active_children():  # reaps those that ended
        if process.pid == pid and process.is_alive():
            return True
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class Guard:
    """Outlives a killed parent for as long as it takes to end the parent's children and database."""

    def __init__(self) -> None:
        """Fork the guard; it holds the data folder beside the parent."""
        self._read, self._write = os.pipe()
        self._process = _fork.Process(target=self._wait, name="guard")
        _start(self._process)
        os.close(self._read)

    def watch(self, pid: int) -> None:
        """Tell the guard of a process group to end should the parent be killed."""
        os.write(self._write, f"+{pid}\n".encode())

    def unwatch(self, pid: int) -> None:
        """Tell the guard that a group has ended, since its number may be given to another."""
        os.write(self._write, f"-{pid}\n".encode())

    def dismiss(self) -> None:
        """End the guard: its parent stops in good order."""
        os.write(self._write, b"bye\n")
        os.close(self._write)
        self._process.join(5)

    def forget(self) -> None:
        """Close the parent's end of the pipe in another forked child."""
        os.close(self._write)

    def _wait(self) -> None:
        os.setsid()
        os.close(self._write)
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        with os.fdopen(self._read, encoding="ascii") as pipe:
            told = pipe.read().split()  # until the parent's end is closed
        if "bye" in told:
            return
        sys.stderr.write("Ragsite was killed; stopping what it had started.\n")
        ended = {entry[1:] for entry in told if entry.startswith("-")}
        end_groups([int(entry[1:]) for entry in told if entry[1:] not in ended], grace=3.0)
        if settings.EMBEDDED_DATABASE:
            embedded.stop()
