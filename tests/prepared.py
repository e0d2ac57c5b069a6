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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import site
from tests.site import PATIENCE, ROOT, run_command

APPS = ("conversations", "knowledge", "ragsite", "retrieval")
NAME = "ragsite"  # of the database within, as the settings have it


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
        if folder := os.environ.get("TESTS_OF_RAGSITE_DIR"):
            made = Path(folder, "prepared")
            with _alone(made.with_suffix(".lock")):
                if not made.exists():
                    half_made = made.with_suffix(".new")
                    migrated(half_made)
                    done = run_command(half_made, "migrate", "--verbosity", "0")
                    assert done.returncode == 0, done.stderr
                    half_made.rename(made)
            _copy(made, data_dir)
        yield data_dir


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
