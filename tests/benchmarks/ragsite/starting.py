"""Starts sites in separate folders, and measures the time until they respond and their idle memory."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

import psutil

from tests.benchmarks.retrieval.measuring import table
from tests.site import Site, data_folder, processes


@dataclass(frozen=True, slots=True)
class Start:
    """The result of one run: seconds until the site responds, on an empty folder and again, and idle memory in MB.

    `pss` divides shared pages between processes, `rss` counts them in full. The worker includes all its processes.
    """

    empty: float
    again: float
    web_pss: float
    web_rss: float
    worker_pss: float


def run(checkouts: Sequence[Path], runs: int, rest: float, say: Callable[[str], None]) -> None:
    """Start the sites of the checkouts alternately, so that load affects all of them alike; print a table of medians.

    `rest` is the number of seconds after which memory is measured.
    """
    starts: dict[Path, list[Start]] = {checkout: [] for checkout in checkouts}
    for number in range(runs):
        for checkout, found in starts.items():
            found.append(_measured(checkout, rest))
            say(f"run {number + 1}, {checkout}: {found[-1].empty:.2f} s, again {found[-1].again:.2f} s")
    medians = {
        checkout: [median(of) for of in zip(*map(astuple, found), strict=True)] for checkout, found in starts.items()
    }
    say("\n" + table(
        ["checkout", "empty folder s", "again s", "web PSS MB", "web RSS MB", "worker PSS MB"],
        [[str(checkout), f"{empty:.2f}", f"{again:.2f}", *(f"{size:.0f}" for size in sizes)]
         for checkout, (empty, again, *sizes) in medians.items()],
    ))  # fmt: skip


def _measured(checkout: Path, rest: float) -> Start:
    with data_folder() as data_dir:
        seconds = []
        for _start in range(2):
            began = time.monotonic()
            with Site(data_dir, root=checkout) as site:
                seconds.append(time.monotonic() - began)
                time.sleep(rest)
                # Its forks, the web server before the worker; its other children are other programs.
                program = str(checkout / "manage.py")
                forked = [fork for fork in processes(data_dir) if program in fork.info["cmdline"]]
                children = [fork for fork in forked if fork.ppid() == site.process.pid]
                web, worker = sorted(children, key=psutil.Process.create_time)
                sizes = _pss([web]), web.memory_info().rss / 2**20, _pss([worker, *worker.children(recursive=True)])
    empty, again = seconds
    return Start(empty, again, *sizes)


def _pss(running: Iterable[psutil.Process]) -> float:
    found = 0.0
    for process in running:
        with suppress(psutil.NoSuchProcess):  # a process that read a file may have ended
            found += process.memory_full_info().pss / 2**20
    return found
