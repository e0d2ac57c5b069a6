"""Migrated databases that are reused: migrations take seconds for each worker and each site in a run.

The result of the migrations on an empty database is stored in `.prepared/` until they or the required packages change.
It doesn't include the rows that apps add after migrating, since that code may change: users of a copy run `migrate`,
as for a site of an earlier version.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import site
from tests.site import PASSWORD, PATIENCE, ROOT, Site, run_command

APPS = ("conversations", "knowledge", "ragsite", "retrieval")


def migrated(data_dir: Path) -> None:
    """Copy a server's files with a migrated database to a new data folder."""
    files = [path for app in APPS for path in sorted((ROOT / app / "migrations").glob("*.py"))]
    digest = hashlib.sha256()
    for path in (ROOT / "requirements.txt", *files):
        digest.update(path.name.encode() + path.read_bytes())
    kept = ROOT / ".prepared"
    kept.mkdir(exist_ok=True)
    with _alone(kept / "lock"):
        made = kept / digest.hexdigest()[:16]
        if not made.exists():
            for other in kept.glob("*/"):
                shutil.rmtree(other)
            half_made = made.with_suffix(".new")
            named = {"RAGSITE_DATA_DIR": str(half_made), "DJANGO_SETTINGS_MODULE": "ragsite.settings"}
            command = [sys.executable, "-m", "tests.prepared"]
            subprocess.run(command, cwd=ROOT, env=os.environ | named, timeout=PATIENCE, check=True)
            half_made.rename(made)
        _copy(made, data_dir)


@contextmanager
def data_folder() -> Iterator[Path]:
    """Yield a data folder with the database of a site that is migrated but was never started."""
    with site.data_folder() as data_dir:
        _copy(_once_per_run("prepared", _migrate), data_dir)
        yield data_dir


@contextmanager
def site_folder() -> Iterator[Path]:
    """Yield the data folder of a stopped site that has indexed the samples; `demo` has the password `site.PASSWORD`."""
    with site.data_folder() as data_dir:
        subprocess.run(["cp", "-a", str(_once_per_run("site", _index_samples)), str(data_dir)], check=True)
        yield data_dir


def _once_per_run(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made by the first worker of a run that needs it."""
    folder = Path(os.environ.get("TESTS_OF_RAGSITE_DIR") or tempfile.mkdtemp(prefix="ragsite-tests-"))
    made = folder / name
    with _alone(made.with_suffix(".lock")):
        if not made.exists():
            half_made = made.with_suffix(".new")
            make(half_made)
            half_made.rename(made)
    return made


def _migrate(data_dir: Path) -> None:
    migrated(data_dir)
    done = run_command(data_dir, "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr


def _index_samples(data_dir: Path) -> None:
    _migrate(data_dir)
    query = "SELECT bool_and(status = 'ready'), bool_or(status = 'failed') FROM knowledge_document"
    deadline = time.monotonic() + PATIENCE
    with Site(data_dir, RAGSITE_DEMO_PASSWORD=PASSWORD) as first, first.database() as database:
        while (states := database.execute(query).fetchone()) != (True, False):
            assert states is not None and not states[1] and time.monotonic() < deadline, "".join(first.output)
            time.sleep(0.2)
        # Too old for the example conversation, whose answers would be among those that a test expects.
        database.execute("UPDATE knowledge_knowledgebase SET created_at = created_at - interval '2 hours'")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy(made: Path, data_dir: Path) -> None:
    """Copy the server's files, preserving their owner."""
    data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(made / "postgres"), str(data_dir / "postgres")], check=True)
    (data_dir / "postgres" / "log").unlink()


if __name__ == "__main__":
    import django

    django.setup()

    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
