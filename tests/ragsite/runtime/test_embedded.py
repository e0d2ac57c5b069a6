"""The embedded PostgreSQL: one server per data folder, also after a crash."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import psutil
import psycopg
import pytest
from pytest_django import Settings

from ragsite.runtime import embedded


@pytest.fixture
def folder(settings: Settings) -> Iterator[Path]:
    """A data folder apart from pytest's, which each start of pytest closes to others: the server may run as another."""
    with TemporaryDirectory(prefix="ragsite-embedded-", ignore_cleanup_errors=True) as name:
        settings.DATA_DIR = Path(name)
        settings.POSTGRES_DIR = settings.DATA_DIR / "postgres"
        settings.MEDIA_ROOT = settings.DATA_DIR / "media"
        yield settings.DATA_DIR
        embedded.let_go_after_fork()


def _left_by_a_crash(pgdata: Path, pid: int) -> None:
    """Write what PostgreSQL writes, for a process that is not PostgreSQL."""
    lines = [str(pid), str(pgdata), "1760000000", "5432", str(pgdata), "", "   1234  5678", "ready   "]
    (pgdata / "postmaster.pid").write_text("\n".join(lines) + "\n")


def _hold_elsewhere(folder: Path) -> "subprocess.Popen[str]":
    """Hold the folder's lock in a process of its own, until its input is closed."""
    code = (
        "import fcntl, os, sys; f = open(sys.argv[1], 'a+'); fcntl.flock(f, fcntl.LOCK_EX); f.truncate(0);"
        "f.write(str(os.getpid())); f.flush(); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder / "up.lock")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_data_folder_has_one_holder(folder: Path) -> None:
    with _hold_elsewhere(folder) as other:
        with pytest.raises(embedded.DataFolderInUse, match=str(folder)):
            embedded.hold_data_folder()
        other.kill()
    embedded.hold_data_folder()
    assert (folder / "up.lock").read_text() == str(os.getpid())


def test_folders_are_private(folder: Path, settings: Settings) -> None:
    folder.chmod(0o755)
    embedded.hold_data_folder()
    assert not folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO) & ~(stat.S_IXGRP | stat.S_IXOTH)
    assert stat.S_IMODE(settings.MEDIA_ROOT.stat().st_mode) == 0o700


def test_a_dead_holder_is_waited_for(folder: Path) -> None:
    with _hold_elsewhere(folder) as other:
        (folder / "up.lock").write_text("999999999")  # as if its guard were still tidying up
        assert other.stdin is not None
        other.stdin.close()
        embedded.hold_data_folder(patience=60)
    assert (folder / "up.lock").read_text() == str(os.getpid())


def test_a_reused_process_id_is_no_server(folder: Path) -> None:
    pgdata = folder / "postgres"
    pgdata.mkdir()
    _left_by_a_crash(pgdata, os.getpid())
    assert embedded._postmaster(pgdata) is None


def test_a_copy_of_a_running_site_has_a_server_of_its_own(folder: Path, settings: Settings) -> None:
    settings.POSTGRES_MEMORY_MB = 24
    original = settings.POSTGRES_DIR
    try:
        socket = embedded.socket_directory()
        with TemporaryDirectory(prefix="ragsite-copy-", ignore_cleanup_errors=True) as name:
            settings.DATA_DIR = Path(name) / "data"
            subprocess.run(["cp", "-a", str(folder), str(settings.DATA_DIR)], check=True)
            settings.POSTGRES_DIR = settings.DATA_DIR / "postgres"
            assert embedded._postmaster(settings.POSTGRES_DIR) is None
            embedded.stop()
            try:
                assert embedded.socket_directory() not in (socket, "")
            finally:
                embedded.stop()
        settings.POSTGRES_DIR = original
        assert embedded._running_socket(original) == socket
        with psycopg.connect(host=socket, user="postgres", dbname="postgres") as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        settings.POSTGRES_DIR = original
        embedded.stop()


def test_the_folder_of_another_users_server_is_read_from_its_file(tmp_path: Path) -> None:
    class Process:
        def cwd(self) -> str:
            raise psutil.AccessDenied

    copy = tmp_path / "copy"
    copy.mkdir()
    process: Any = Process()
    assert embedded._serves(process, str(tmp_path), tmp_path)
    assert not embedded._serves(process, str(tmp_path), copy)


def test_a_folder_that_was_moved_keeps_its_server(folder: Path, settings: Settings) -> None:
    """Another server on the same files would destroy them."""
    settings.POSTGRES_MEMORY_MB = 24
    try:
        embedded.socket_directory()
        moved = settings.POSTGRES_DIR.rename(folder / "moved")
        settings.POSTGRES_DIR = moved
        assert embedded._postmaster(moved) is not None
    finally:
        embedded.stop()


def test_others_may_not_look_into_the_data_folder(folder: Path, settings: Settings) -> None:
    folder.chmod(0o755)
    settings.POSTGRES_MEMORY_MB = 24
    try:
        embedded.socket_directory()
        assert stat.S_IMODE(folder.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)
    finally:
        embedded.stop()


def test_it_starts_past_what_a_crash_left(folder: Path, settings: Settings) -> None:
    half_made = folder / "postgres.new"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18\n")
    settings.EMBEDDED_POSTGRES_CONF = settings.EMBEDDED_POSTGRES_CONF | {"work_mem": "5MB"}
    settings.POSTGRES_MEMORY_MB = 24
    try:
        _expect_a_working_server("5MB")
        embedded.stop()
        assert embedded._postmaster(settings.POSTGRES_DIR) is None
        _left_by_a_crash(settings.POSTGRES_DIR, os.getpid())
        _expect_a_working_server("5MB")
    finally:
        embedded.stop()
    assert not half_made.exists()


def _expect_a_working_server(work_mem: str) -> None:
    socket = embedded.socket_directory()
    assert embedded.socket_directory() == socket
    with psycopg.connect(host=socket, user="postgres", dbname="postgres") as connection:
        assert connection.execute("SHOW work_mem").fetchone() == (work_mem,)
        assert connection.execute("SHOW shared_buffers").fetchone() == ("24MB",)


@pytest.mark.parametrize(("machine", "kept"), [(512 * 2**20, 128), (8 * 2**30, 1024), (256 * 2**30, 2048)])
def test_the_server_keeps_an_eighth_of_the_memory_within_bounds(
    machine: int, kept: int, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.POSTGRES_MEMORY_MB = None
    monkeypatch.setattr(embedded.psutil, "virtual_memory", lambda: SimpleNamespace(total=machine))
    assert embedded._shared_buffers_mb() == kept


def test_a_folder_without_a_cluster_is_reported(folder: Path, settings: Settings) -> None:
    settings.POSTGRES_DIR.mkdir()
    (settings.POSTGRES_DIR / "PG_VERSION").write_text("nonsense")
    with pytest.raises(embedded.DatabaseBroken, match=r"The embedded PostgreSQL in .* can't be started"):
        embedded.socket_directory()
