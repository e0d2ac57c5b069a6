"""A backup is consistent, and is restored completely or not at all."""

import errno
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import Settings

from knowledge.models import Document
from ragsite.backup import archive, creation, database, restoring, switch
from ragsite.backup.archive import BackupError
from ragsite.models import BackupRun
from ragsite.runtime import embedded
from retrieval.models import EmbeddingSpace
from tests import factories
from tests.ragsite.backup.conftest import Elsewhere
from tests.ragsite.runtime.test_new_database import _CATALOGUE


def _contents() -> dict[str, Any]:
    """Return everything of a database: its catalogue and the rows of all tables."""
    found: dict[str, Any] = {}
    with connection.cursor() as cursor:
        for name, query in _CATALOGUE.items():
            cursor.execute(query.replace("%s", "'public'"))
            found[name] = {str(row) for row in cursor.fetchall()}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT t::text FROM {table} t")
            found[table] = sorted(row for (row,) in cursor.fetchall())
    return found


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _restore(path: Path, **options: Any) -> None:
    """Restore as in a new process."""
    embedded.let_go_after_fork()
    restoring.restore(path, **options)


def _refusal(path: Path, **options: Any) -> str:
    with pytest.raises(BackupError) as caught:
        _restore(path, **options)
    assert not switch.is_pending()
    return str(caught.value)


def test_a_restored_site_equals_its_original(
    document: Document, backup: Path, elsewhere: Elsewhere, settings: Settings
) -> None:
    (settings.DATA_DIR / "models" / "readers" / "own").mkdir(parents=True)
    (settings.DATA_DIR / "models" / "readers" / "own" / "model.onnx").write_bytes(b"weights")
    before, media = _contents(), _files(settings.MEDIA_ROOT)
    manifest = creation.create(backup)
    assert manifest["database"]["tables"]["knowledge_chunk"]["rows"] == 3
    assert manifest["database"]["partitions"][0][1] == "retrieval_vector"
    assert not manifest["lost"]
    elsewhere.go()
    _restore(backup)
    after = _contents()
    differences = {name: set(rows) ^ set(before[name]) for name, rows in after.items()}
    assert {name: found for name, found in differences.items() if found} == {}
    assert _files(settings.MEDIA_ROOT) == media != {}
    assert (settings.DATA_DIR / "secret-key").read_text().strip() == settings.SECRET_KEY
    assert (settings.DATA_DIR / "secret-key").stat().st_mode & 0o777 == 0o600
    assert (settings.DATA_DIR / "models" / "readers" / "own" / "model.onnx").read_bytes() == b"weights"
    private = [settings.MEDIA_ROOT, *settings.MEDIA_ROOT.rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in private} == {0}
    assert not switch.is_pending()
    # The numbers of new rows go on where they were.
    assert factories.make_user("new").pk > document.knowledge_base.owner_id
    factories.index_document(factories.make_document(document.knowledge_base).pk)


def test_a_site_of_an_older_version_is_migrated(owner: User, backup: Path, elsewhere: Elsewhere) -> None:
    executor = MigrationExecutor(connection)
    leaves = dict(executor.loader.graph.leaf_nodes())
    elsewhere.go()
    executor = MigrationExecutor(connection)
    executor.migrate([*({**leaves, "ragsite": "0005_plain_labels2"}).items()])
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO auth_group (name) VALUES ('kept')")
    call_command("backup", str(backup))  # as before an update, with the new version's code
    _restore(backup)
    assert not BackupRun.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM auth_group WHERE name = 'kept'")
        assert cursor.fetchone() == (1,)


def test_documents_are_those_of_the_snapshot(
    document: Document, backup: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """One is added while files are copied, another deleted between the snapshot and the copying of its file."""
    base, others = document.knowledge_base, []
    add = creation._Files.add

    def adding(files: creation._Files, wanted: set[str]) -> set[str]:
        if not others:
            others.extend([factories.make_document(base), factories.make_document(base)])
        elif len(others) == 2:
            path = Path(settings.MEDIA_ROOT) / str(others[0].file.name)
            others.pop(0).delete()
            path.unlink(missing_ok=True)
        return add(files, wanted)

    monkeypatch.setattr(creation._Files, "add", adding)
    manifest = creation.create(backup)
    assert set(manifest["files"]) == {document.file.name, others[0].file.name}
    assert manifest["database"]["tables"]["knowledge_document"]["rows"] == 2
    assert not manifest["lost"]
    assert set(archive.check(backup)["files"]) == set(manifest["files"])


def test_a_file_that_was_replaced_meanwhile_is_copied_again(
    document: Document, backup: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    path = Path(settings.MEDIA_ROOT) / str(document.file.name)
    add = creation._Files.add

    def adding(files: creation._Files, wanted: set[str]) -> set[str]:
        found = add(files, wanted)
        path.unlink()
        path.write_text("It opens at ten.")
        return found

    monkeypatch.setattr(creation._Files, "add", adding)
    creation.create(backup)
    elsewhere.go()
    _restore(backup)
    assert _files(settings.MEDIA_ROOT) == {str(document.file.name): b"It opens at ten."}


def test_a_file_that_was_lost_before_is_named(document: Document, backup: Path, settings: Settings) -> None:
    (Path(settings.MEDIA_ROOT) / str(document.file.name)).unlink()
    assert creation.create(backup)["lost"] == [document.file.name]


def test_rows_written_meanwhile_are_not_in_the_backup(
    document: Document, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = database.dump

    def dumping(cursor: Any, writer: Any) -> dict[str, Any]:
        thread = threading.Thread(target=lambda: (factories.make_chunk(document), connection.close()))
        thread.start()
        thread.join()
        return dump(cursor, writer)

    monkeypatch.setattr(database, "dump", dumping)
    assert creation.create(backup)["database"]["tables"]["knowledge_chunk"]["rows"] == 3
    assert document.chunks.count() == 4


# --- Refusals -----------------------------------------------------------------------------------------


def test_a_site_is_only_replaced_on_request(document: Document, backup: Path, elsewhere: Elsewhere) -> None:
    creation.create(backup)
    elsewhere.go()
    _restore(backup)
    factories.make_user("later")
    assert "use --replace" in _refusal(backup)
    assert User.objects.filter(username="later").exists()
    _restore(backup, replace=True)
    assert not User.objects.filter(username="later").exists()


def test_documents_without_a_database_count_as_a_site(
    document: Document, backup: Path, elsewhere: Elsewhere, settings: Settings
) -> None:
    creation.create(backup)
    elsewhere.go()
    kept = settings.MEDIA_ROOT / "documents" / "1" / "kept"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    assert "There already is a site" in _refusal(backup)
    assert kept.read_text() == "kept"


def test_a_running_site_is_not_replaced(document: Document, backup: Path, elsewhere: Elsewhere) -> None:
    creation.create(backup)
    elsewhere.go()
    connection.ensure_connection()
    parameters = connection.get_connection_params()
    where = {name: parameters[name] for name in ("host", "user", "dbname")}
    with psycopg.connect(**where):
        assert "in use (other connections: 1)" in _refusal(backup, replace=True)


def test_a_held_data_folder_is_not_touched(document: Document, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    creation.create(backup)

    def hold(patience: float) -> None:
        raise embedded.DataFolderInUse

    monkeypatch.setattr(embedded, "hold_data_folder", hold)
    with pytest.raises(CommandError, match=r"is running\. Stop it \(`manage.py up`\) first"):
        call_command("restore", str(backup), "--replace")


def test_a_backup_of_a_newer_version_is_refused(document: Document, backup: Path, elsewhere: Elsewhere) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('ragsite', '0999_later', now())")
    try:
        creation.create(backup)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '0999_later'")
    elsewhere.go()
    assert "made by a newer version of Ragsite" in _refusal(backup)
    assert connection.introspection.table_names() == []


def test_another_key_in_the_environment_is_refused(
    document: Document, backup: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    creation.create(backup)
    monkeypatch.setenv("RAGSITE_SECRET_KEY", "another")
    settings.SECRET_KEY = "another"
    assert "RAGSITE_SECRET_KEY is not the key of the backed-up site" in _refusal(backup)


def test_a_small_disk_is_refused(document: Document, backup: Path, elsewhere: Elsewhere, monkeypatch: Any) -> None:
    creation.create(backup)
    elsewhere.go()
    monkeypatch.setattr(restoring.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 100}))
    assert "restoring needs about" in _refusal(backup)


def test_a_disk_that_fills_up_changes_nothing(
    document: Document, backup: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    creation.create(backup)
    elsewhere.go()

    def touch(path: Path, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "touch", touch)
    assert "disk is full" in _refusal(backup)
    assert _files(settings.MEDIA_ROOT) == {}
    assert connection.introspection.table_names() == []


def test_a_damaged_backup_changes_nothing(document: Document, backup: Path) -> None:
    creation.create(backup)
    content = bytearray(backup.read_bytes())
    content[200] ^= 1
    backup.write_bytes(content)
    before = _contents()
    assert "is damaged" in _refusal(backup, replace=True)
    assert _contents() == before


# --- Interruptions ------------------------------------------------------------------------------------


@pytest.fixture
def restored(document: Document, backup: Path, elsewhere: Elsewhere, settings: Settings) -> Callable[[], bool]:
    """A site that was restored and then changed; returns whether it is as it was before another restore."""
    creation.create(backup)
    elsewhere.go()
    _restore(backup)
    factories.make_document(document.knowledge_base)
    (settings.DATA_DIR / "secret-key").write_text("changed")
    (settings.DATA_DIR / "demo-password").write_text("changed")
    before, files = _contents(), _files(settings.DATA_DIR)

    def is_as_before() -> bool:
        assert not switch.is_pending()
        return _contents() == before and _files(settings.DATA_DIR) == files

    return is_as_before


def test_a_failure_while_loading_changes_nothing(
    restored: Callable[[], bool], backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def migrate(*args: Any, **options: Any) -> None:
        raise OperationalError("out of memory")

    monkeypatch.setattr(database, "call_command", migrate)
    assert _refusal(backup, replace=True) == "The database can't be restored: out of memory. Nothing was changed."
    assert restored()


def test_rows_that_the_database_rejects_change_nothing(
    restored: Callable[[], bool], backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = archive.pieces

    def doubled(path: Path, packed: Any, manifest: Any, name: str) -> Iterator[bytes]:
        yield from pieces(path, packed, manifest, name)
        if name == "database/auth_user":
            yield from pieces(path, packed, manifest, name)

    monkeypatch.setattr(archive, "pieces", doubled)
    _refusal(backup, replace=True)
    assert restored()


class Killed(BaseException):
    """The process was killed."""


@pytest.mark.parametrize("moves", range(5))
def test_a_restore_killed_between_two_moves_is_reverted(
    moves: int, restored: Callable[[], bool], backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = 0

    def rename(path: Path, target: Path) -> None:
        nonlocal done
        if target.name in {Path(item).name for item in switch.ITEMS}:
            if done == moves:
                raise Killed
            done += 1
        path_rename(path, target)

    path_rename = Path.rename
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        patch.setattr(switch, "recover", lambda: None)
        with pytest.raises(Killed):
            _restore(backup, replace=True)
    assert switch.is_pending()
    switch.recover()
    assert restored()


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_restore_killed_after_its_commit_is_finished(
    is_moved: bool,
    restored: Callable[[], bool],
    document: Document,
    backup: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    """Also if the machine lost its power before the moves reached the disk."""
    with monkeypatch.context() as patch:
        if not is_moved:
            patch.setattr(switch, "_replace", lambda item: None)
        patch.setattr(switch, "recover", lambda: None)
        _restore(backup, replace=True)
    assert switch.is_pending()
    switch.recover()
    assert not switch.is_pending()
    assert Document.objects.count() == 1
    assert set(_files(settings.MEDIA_ROOT)) == {document.file.name}
    assert (settings.DATA_DIR / "secret-key").read_text() != "changed"
    assert not (settings.DATA_DIR / "demo-password").exists()


def test_vectors_are_searched_again(document: Document, backup: Path, elsewhere: Elsewhere) -> None:
    creation.create(backup)
    elsewhere.go()
    _restore(backup)
    space = EmbeddingSpace.objects.get(active=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {space.table_name}")
        assert cursor.fetchone() == (3,)
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [space.index_name])
        assert "USING hnsw" in cursor.fetchone()[0]
