"""Make a backup of the running site.

Documents are never changed in place, so they are copied first, before the snapshot of the database. Those added
meanwhile follow; if one of them is deleted before it is copied, another snapshot is taken. So the backup has every file
that its database refers to, and the snapshot is only as old as the copying of the tables takes.
"""

import socket
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext as _

from ragsite import env, options
from ragsite.backup import archive, database, switch
from ragsite.backup.archive import BackupError, Writer

_SNAPSHOTS = 10  # attempts, if tables are changed meanwhile
_TRIES_FOR_LOST = 2  # snapshots after which a missing file was missing before
Stamp = tuple[int, int, int]  # what changes if another file takes a file's place


@cache
def version() -> str:
    """Return Ragsite's version."""
    with (options.BASE_DIR / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def create(path: Path, report: Callable[[int], None] = lambda size: None) -> dict[str, Any]:
    """Write a backup of the site to `path` and return its manifest; `report` is called with numbers of bytes.

    The site may run meanwhile. The backup has been read back when this returns. Raises `BackupError`, and leaves no
    file then.
    """
    try:
        with archive.writing(path, report) as writer:
            manifest = _write(writer)
            writer.finish(manifest)
        return manifest | {"members": writer.members}
    except DatabaseError as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise BackupError(_("The database can't be read: %(reason)s") % {"reason": reason[0]}) from error


def _write(writer: Writer) -> dict[str, Any]:
    files = _Files(writer)
    with database.snapshot() as cursor:
        wanted = database.referenced_files(cursor)
    files.add(wanted)
    for attempt in range(_SNAPSHOTS):
        try:
            with database.snapshot() as cursor:
                made_at = timezone.now().isoformat(timespec="seconds")
                wanted = database.referenced_files(cursor)
                lost = files.add(wanted)
                if lost and attempt < _TRIES_FOR_LOST:
                    continue  # deleted after this snapshot, and so not in the next one
                described = database.dump(cursor, writer)
                break
        except database.Changed:
            continue
    else:
        raise BackupError(_("The database's tables are being changed. Try again in a few minutes."))
    return {
        "version": version(),
        "made_at": made_at,
        "host": socket.gethostname(),
        "database": described,
        "files": {name: files.members[name] for name in sorted(wanted) if name in files.members},
        "lost": sorted(lost),
        "others": _add_others(writer),
        "variables": sorted(env.given(*env.options)),
    }


class _Files:
    """The documents and pictures in a backup."""

    def __init__(self, writer: Writer) -> None:
        self.members: dict[str, str] = {}  # member by path
        self._stamps: dict[str, Stamp] = {}
        self._writer = writer

    def add(self, wanted: set[str]) -> set[str]:
        """Write the files that aren't in the backup yet, or were replaced since; return those that don't exist."""
        lost = set()
        for name in sorted(wanted):
            path = Path(settings.MEDIA_ROOT) / name
            try:
                stamp = _stamp(path)
                if self._stamps.get(name) != stamp:
                    member = f"media/{name}" if name not in self._stamps else f"media-{len(self._stamps)}/{name}"
                    self._writer.add_file(member, path)
                    self.members[name], self._stamps[name] = member, stamp
            except FileNotFoundError:
                lost.add(name)
        return lost


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _add_others(writer: Writer) -> dict[str, str]:
    """Write the key and the other files of the data folder that a restored site needs; return members by path."""
    writer.add("others/secret-key", [settings.SECRET_KEY.encode()])
    found = {"secret-key": "others/secret-key"}
    for item in switch.ITEMS:
        top = Path(settings.DATA_DIR) / item
        if item in ("media", "secret-key"):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and not path.is_symlink():
                name = path.relative_to(settings.DATA_DIR).as_posix()
                writer.add_file(f"others/{name}", path)
                found[name] = f"others/{name}"
    return found
