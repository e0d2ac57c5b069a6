"""The program that tidies up after a killed `manage.py up`: it ends what was started, then the embedded database.

It only waits, for as long as the site runs, so it loads nothing of Django before it is needed. Its input is a pipe from
its parent: `+NUMBER` and `-NUMBER` tell of process groups that began and ended, `bye` that the parent stops in
good order, and the end of the pipe that the parent is gone.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 6.0  # seconds between asking a process group to stop and ending it


def main() -> None:
    """Wait for the parent's end, and tidy up where it came without farewell."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    told = sys.stdin.read().split()  # until the parent's end is closed
    if "bye" in told:
        return
    sys.stderr.write("Ragsite was killed; stopping what it had started.\n")
    groups: set[int] = set()
    for word in told:
        (groups.add if word[0] == "+" else groups.discard)(int(word[1:]))
    end_groups(list(groups), grace=3.0)

    from ragsite.runtime import embedded  # now, since it loads Django's settings

    embedded.stop_own()


def end_groups(pids: list[int], grace: float = GRACE, reap: Callable[[], object] = lambda: None) -> None:
    """Ask process groups to stop, wait for at most `grace` seconds, then end what is left of them.

    `reap` is called in between, where they are children: a group's number stays until its leader has been waited for.
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
    """End every process of the group at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
