"""A running site for tests: `manage.py up` in a separate process with its own data folder."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import psutil
import psycopg

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "ragsite"  # as the settings name it
PASSWORD = "tests-of-sites-7"  # of the user `demo`
# Seconds to wait for expected events; generous, since the machine may be busy.
PATIENCE = 120.0


@contextmanager
def data_folder() -> Iterator[Path]:
    """Yield a data folder outside pytest's, which is not accessible to other users, such as the database's."""
    with TemporaryDirectory(prefix="ragsite-site-", ignore_cleanup_errors=True) as name:
        yield Path(name) / "data"


def run_up(data_dir: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an `up` that is expected to fail; return its output and exit code."""
    return run_command(data_dir, "up", *arguments, **environment)


def run_command(data_dir: Path, command: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a management command to its end; return its output and exit code."""
    return subprocess.run(
        manage(data_dir, command, *arguments),
        env=_environment(environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def processes(data_dir: Path) -> list[psutil.Process]:
    """Return the running processes that use a data folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE and str(data_dir) in " ".join(process.info["cmdline"] or []):
            found.append(process)
    return found


class Site:
    """A context manager that runs `manage.py up`, or another command that runs until it is stopped."""

    command: tuple[str, ...] = ("up", "--port", "0")
    ready = re.compile(r"ready at (http://\S+)")

    def __init__(self, data_dir: Path, *arguments: str, root: Path = ROOT, **environment: str) -> None:
        """Start it in `root`; `environment` is added to this process's, without Ragsite's and models' variables."""
        self.data_dir = data_dir
        self.output: list[str] = []
        self.url = ""
        self._lines: queue.Queue[str] = queue.Queue()
        self.process = subprocess.Popen(
            manage(data_dir, *self.command, *arguments, root=root),
            env=_environment(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Site":
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait_until_ready(self) -> None:
        """Wait until the URL is printed; all output is in `output`."""
        self.url = self.wait_for(self.ready, PATIENCE).group(1).rstrip("/")

    def wait_for(self, pattern: re.Pattern[str], timeout: float) -> re.Match[str]:
        """Wait for a matching line after the last one that was matched."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                line = self._lines.get(timeout=0.2)
            except queue.Empty:
                if self.process.poll() is not None and self._lines.empty():
                    break
                continue
            if match := pattern.search(line):
                return match
        raise AssertionError(f"nothing matched {pattern.pattern!r} in:\n" + "".join(self.output))

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection]:
        """Connect to its database, which takes less time than a command."""
        socket = (self.data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[4]
        with psycopg.connect(host=socket, user="postgres", dbname=DATABASE, autocommit=True) as connection:
            yield connection

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            self._lines.put(line)


class Web(Site):
    """`manage.py web`."""

    command = ("web", "--port", "0")
    ready = re.compile(r"is listening at (http://\S+)")


class Worker(Site):
    """`manage.py worker`."""

    command = ("worker",)
    ready = re.compile(r"(background worker is running)")


def manage(data_dir: Path, command: str, *arguments: str, root: Path = ROOT) -> list[str]:
    """Return the command line of a management command on a data folder."""
    return [sys.executable, str(root / "manage.py"), command, "--data-dir", str(data_dir), *arguments]


def _environment(added: dict[str, str]) -> dict[str, str]:
    ours = ("RAGSITE_", "LLM_", "EMBEDDING_", "DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # Without a model at Ollama's usual port, whatever this machine runs.
    fixed = {"OLLAMA_URL": "http://127.0.0.1:9", "PYTHONUNBUFFERED": "1"}
    # Reading takes a second of each answer, and what is read within a time limit depends on how busy the machine is.
    fixed |= {"ENABLE_READER": "false", "READER_PASSAGES": "4", "READER_TIMEOUT": "60"}
    if folder := os.environ.get("TESTS_OF_RAGSITE_DIR"):
        fixed["RAGSITE_STATIC_DIR"] = f"{folder}/static"  # collected once for all sites of a run
    return kept | fixed | added
