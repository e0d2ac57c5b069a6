"""The program that cleans up after a killed `manage.py up`: it stops the child processes, then the embedded database.

It only waits while the site runs, so it doesn't load Django until it is needed. It reads a pipe from its parent:
`+NUMBER` and `-NUMBER` announce the start and end of process groups, `bye` a normal stop of the parent; the end of the
pipe means that the parent has ended.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 6.0  # seconds between asking a process group to stop and killing it


def main() -> None:
    """Wait for the parent's end, and clean up if it was killed."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    messages = sys.stdin.read().split()  # returns when the parent's end of the pipe is closed
    if "bye" in messages:
        return
    sys.stderr.write("Ragsite was killed; stopping its processes.\n")
    groups: set[int] = set()
    for word in messages:
        if word[0] == "+":
            groups.add(int(word[1:]))
        else:
            groups.discard(int(word[1:]))
    end_groups(list(groups), grace=3.0)

    from ragsite.runtime import embedded  # imported late, since it loads Django's settings

    embedded.stop_own()


def end_groups(pids: list[int], grace: float = GRACE, reap: Callable[[], object] = lambda: None) -> None:
    """Ask process groups to stop, wait for at most `grace` seconds, then kill the remaining ones.

    `reap` is called in between to reap child processes, since a group exists until its leader has been reaped.
    """
    pids = [pid for pid in pids if pid > 0]
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(_group_lives(pid) for pid in pids):
        time.sleep(0.05)
        reap()
    for pid in pids:
        kill_group(pid)


def kill_group(pid: int) -> None:
    """Kill every process of the group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
