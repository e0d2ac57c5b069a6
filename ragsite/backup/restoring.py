"""Restore a site from a backup: everything is checked and staged first, then switched at once."""

import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from ragsite import env
from ragsite.backup import archive, creation, database, switch
from ragsite.backup.archive import BackupError
from ragsite.limits import disk
from ragsite.models import BackupRun
from ragsite.runtime import caches, embedded

Say = Callable[[str], None]


def restore(path: Path, *, replace: bool = False, say: Say = lambda line: None) -> dict[str, Any]:
    """Restore the backup at `path` to the data folder and the database of the settings; return its manifest.

    Both are unchanged until the end, and after an error. `replace` allows replacing a site that has accounts or
    documents. Raises `BackupError`.
    """
    say(_("Checking the backup …"))
    manifest = archive.check(path)
    _refuse_other_keys(path, manifest)
    try:
        embedded.hold_data_folder(patience=2.0)
    except embedded.DataFolderInUse as error:
        message = _("The site in %(folder)s is running. Stop it (`manage.py up`) first, then restore.")
        raise BackupError(message % {"folder": settings.DATA_DIR}) from error
    except OSError as error:
        message = _("The data folder %(folder)s can't be written: %(reason)s.")
        raise BackupError(message % {"folder": settings.DATA_DIR, "reason": error.strerror}) from error
    try:
        connection.ensure_connection()
        switch.recover()
        _refuse_versions(path, manifest)
        _refuse_target(replace)
        _refuse_small_disk(manifest)
        _restore(path, say)
    except DatabaseError as error:
        raise BackupError(_explained(error)) from error
    except OSError as error:
        full = disk.full_message() if disk.is_full(error) else ""
        message = _("The files can't be restored: %(where)s: %(reason)s.")
        where = {"where": error.filename or settings.DATA_DIR, "reason": error.strerror or error}
        raise BackupError(full or message % where) from error
    cache.clear()
    caches.clear_all()
    return manifest


def missing_variables(manifest: dict[str, Any]) -> list[str]:
    """Return the environment variables that were set when the backup was made and aren't now.

    A backup has their names only: they are settings of a machine, and may be secrets of other services.
    """
    kept = {"RAGSITE_SECRET_KEY", "DATABASE_URL", "RAGSITE_DATA_DIR", "RAGSITE_DEMO_PASSWORD"}
    return [name for name in manifest["variables"] if name not in kept and not env.given(name)]


def _restore(path: Path, say: Say) -> None:
    """Stage the files, then load the database and switch to both; revert everything if any of it fails."""
    try:
        with archive.reading(path) as (packed, manifest):
            say(_("Unpacking %(count)d files …") % {"count": len(manifest["files"])})
            _stage(path, packed, manifest)
            say(_("Loading %(count)d tables …") % {"count": len(manifest["database"]["tables"])})

            def table(name: str) -> Iterator[bytes]:
                return archive.pieces(path, packed, manifest, f"database/{name}")

            with transaction.atomic():
                database.load(manifest["database"], table)
                # The backup's own run, which was in progress.
                BackupRun.objects.filter(state=BackupRun.State.RUNNING).delete()
                switch.swap()
    finally:
        switch.recover()


def _stage(path: Path, packed: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    folder = switch.begin()
    (folder / "media").mkdir(mode=0o700)
    files = {f"media/{name}": member for name, member in manifest["files"].items()} | manifest["others"]
    for name, member in files.items():
        parts = PurePosixPath(name).parts
        if PurePosixPath(name).is_absolute() or ".." in parts:
            raise BackupError(_("%(path)s is damaged: it has a file outside of the data folder.") % {"path": path})
        target = folder.joinpath(*parts)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.touch(mode=0o600, exist_ok=False)
        with target.open("wb") as file:
            for piece in archive.pieces(path, packed, manifest, member):
                file.write(piece)
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)  # `mkdir` applies its mode to the last folder only


# --- Refusals -----------------------------------------------------------------------------------------


def _refuse_other_keys(path: Path, manifest: dict[str, Any]) -> None:
    """Refuse if the environment has another key: stored keys of endpoints couldn't be decrypted with it."""
    if not env.given("RAGSITE_SECRET_KEY"):
        return
    with archive.reading(path) as (packed, _manifest):
        kept = b"".join(archive.pieces(path, packed, manifest, manifest["others"]["secret-key"]))
    if not secrets.compare_digest(kept.strip(), settings.SECRET_KEY.encode()):
        raise BackupError(
            _(
                "RAGSITE_SECRET_KEY is not the key of the backed-up site, so that stored passwords of other services "
                "couldn't be decrypted. Unset the variable; the backup contains the key. Nothing was changed."
            )
        )


def _refuse_versions(path: Path, manifest: dict[str, Any]) -> None:
    if database.newer_migrations(manifest["database"]):
        message = _(
            "%(path)s was made by a newer version of Ragsite (%(theirs)s; this is %(ours)s). Update Ragsite first, "
            "then restore. Nothing was changed."
        )
        raise BackupError(message % {"path": path, "theirs": manifest["version"], "ours": creation.version()})


def _refuse_target(replace: bool) -> None:
    count = database.other_connections()
    if count:
        message = _(
            "The database is in use (other connections: %(count)d). Stop all processes of the site (`manage.py "
            "web`, `manage.py worker` and other commands), then restore. Nothing was changed."
        )
        raise BackupError(message % {"count": count})
    has_files = any(path.is_file() for path in (Path(settings.MEDIA_ROOT) / "documents").rglob("*"))
    if not replace and (has_files or not database.is_empty()):
        message = _(
            "There already is a site in %(folder)s or its database. Restore to an empty data folder and database, or "
            "use --replace to delete that site and its documents. Nothing was changed."
        )
        raise BackupError(message % {"folder": settings.DATA_DIR})


def _refuse_small_disk(manifest: dict[str, Any]) -> None:
    files = {*manifest["files"].values(), *manifest["others"].values()}
    # With indexes and the write-ahead log, tables take about three times their size.
    factor = 3 if settings.EMBEDDED_DATABASE else 0
    size = sum(size if name in files else factor * size for name, (size, _digest) in manifest["members"].items())
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < size:
        message = _("%(folder)s has %(free)s free; restoring needs about %(size)s. Nothing was changed.")
        sizes = {"free": filesizeformat(free), "size": filesizeformat(size)}
        raise BackupError(message % {"folder": settings.DATA_DIR, **sizes})


def _explained(error: DatabaseError) -> str:
    if disk.is_full(error):
        return disk.full_message()
    reason = str(error).strip().splitlines() or [type(error).__name__]
    return _("The database can't be restored: %(reason)s. Nothing was changed.") % {"reason": reason[0].rstrip(".")}
