"""The file of a backup: a ZIP file with a manifest as its last member, readable only by its owner.

The manifest lists each member's size and SHA-256; the file's comment is the SHA-256 of the manifest. The file is
written under another name, and gets its own name once it is complete and has been read back.
"""

import fcntl
import hashlib
import json
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from ragsite.limits import disk

FORMAT = 1
MANIFEST = "manifest.json"
PARTIAL = ".ragsite-part"
PIECE = 1024 * 1024
_LOOK_AT_DISK = 64 * PIECE  # bytes written between two looks at the free space
_DEFLATE_LEVEL = 1  # takes half the time of the default; the files are hardly larger
_SAMPLE = 64 * 1024  # bytes, from the middle of a file, that show whether compressing it saves anything
# What reading a damaged ZIP file may raise.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError, struct.error,
)  # fmt: skip


class BackupError(Exception):
    """A backup can't be made, read or restored; the message says why, and what to do."""


class Writer:
    """The members of a backup that is being written."""

    def __init__(self, archive: zipfile.ZipFile, folder: Path, report: Callable[[int], None]) -> None:
        """Write to an open archive in `folder`; `report` is called with the size of each piece, in bytes."""
        self.members: dict[str, tuple[int, str]] = {}  # size and SHA-256 by name
        self._archive, self._folder, self._report = archive, folder, report
        self._unseen = 0  # bytes written since the last look at the disk

    def add(self, name: str, pieces: Iterable[bytes | memoryview], *, compress: bool = True) -> None:
        """Write a member. Raises `OSError`, and `BackupError` if the disk's reserve is reached."""
        self._archive.compression = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        size, digest = 0, hashlib.sha256()
        with self._archive.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                size += len(piece)
                self._unseen += len(piece)
                self._report(len(piece))
                if self._unseen > _LOOK_AT_DISK:
                    self._unseen = 0
                    check_room(self._folder)
        self.members[name] = (size, digest.hexdigest())

    def add_file(self, name: str, path: Path) -> None:
        """Write a file as a member, compressed if that saves anything, unlike for most documents. Raises as `add`."""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _SAMPLE) // 2)
            sample = file.read(_SAMPLE)
            compress = len(zlib.compress(sample, _DEFLATE_LEVEL)) < 0.9 * len(sample)
            file.seek(0)
            self.add(name, iter(lambda: file.read(PIECE), b""), compress=compress)

    def finish(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, to which the format and the members are added."""
        text = json.dumps({"format": FORMAT, **manifest, "members": self.members}, indent=1).encode()
        self._archive.compression = zipfile.ZIP_DEFLATED
        self._archive.writestr(MANIFEST, text)
        self._archive.comment = hashlib.sha256(text).hexdigest().encode()


@contextmanager
def writing(path: Path, report: Callable[[int], None] = lambda size: None) -> Iterator[Writer]:
    """Context manager that writes a backup, which exists at `path` only after the block and a check of all its bytes.

    Raises `BackupError` if `path` exists or can't be written, and if the disk is full; no file is left then.
    """
    if path.exists():
        raise BackupError(_("%(path)s already exists. Choose another name, or delete it first.") % {"path": path})
    sweep(path.parent)
    partial = path.with_name(path.name + PARTIAL)
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BackupError(_("Another backup to %(path)s is in progress.") % {"path": path}) from None
    except OSError as error:
        raise _cannot_write(path, error) from error
    with os.fdopen(descriptor, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            check_room(path.parent)
            with zipfile.ZipFile(file, "w", compresslevel=_DEFLATE_LEVEL) as archive:
                yield Writer(archive, path.parent, report)
            os.fsync(file.fileno())
            check(partial, report)
            partial.rename(path)
            _flush_folder(path.parent)
        except OSError as error:
            raise _cannot_write(path, error) from error
        finally:
            partial.unlink(missing_ok=True)


def sweep(folder: Path) -> int:
    """Delete what killed backups left in a folder, and return how many files."""
    count = 0
    for partial in folder.glob(f"*{PARTIAL}"):
        with suppress(OSError), partial.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its backup runs
            partial.unlink()
            count += 1
    return count


def check(path: Path, report: Callable[[int], None] = lambda size: None) -> dict[str, Any]:
    """Read the whole backup and return its manifest; `report` is called with the size of each piece, in bytes.

    Raises `BackupError` if it isn't a backup, is incomplete or was changed, or has a format of a newer version.
    """
    with reading(path) as (archive, manifest):
        for name in manifest["members"]:
            for piece in pieces(path, archive, manifest, name):
                report(len(piece))
    return manifest


@contextmanager
def reading(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """Context manager with an open backup and its manifest; raises `BackupError` as `check`, but reads no members."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        message = _("%(path)s can't be read: %(reason)s.")
        raise BackupError(message % {"path": path, "reason": error.strerror or error}) from error
    except _UNREADABLE as error:
        raise BackupError(
            _("%(path)s is not a complete backup: it was cut off, or is another kind of file. Use another copy of it.")
            % {"path": path}
        ) from error
    with archive:
        yield archive, _manifest(path, archive)


def pieces(path: Path, archive: zipfile.ZipFile, manifest: dict[str, Any], name: str) -> Iterator[bytes]:
    """Yield the bytes of a member; raises `BackupError` at the end if they aren't those that were written."""
    size, digest = 0, hashlib.sha256()
    try:
        with archive.open(name) as member:
            while piece := member.read(PIECE):
                size += len(piece)
                digest.update(piece)
                yield piece
    except _UNREADABLE as error:
        raise _damaged(path, name) from error
    if [size, digest.hexdigest()] != manifest["members"][name]:
        raise _damaged(path, name)


def summary(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a backup that messages show."""
    tables = manifest["database"]["tables"]
    return {
        "version": manifest["version"],
        "made_at": manifest["made_at"],
        "rows": sum(table["rows"] for table in tables.values()),
        "tables": len(tables),
        "files": len(manifest["files"]),
    }


def check_room(folder: Path) -> None:
    """Raise `BackupError` if the disk of a folder has less than the reserve left, which the site needs itself."""
    free = shutil.disk_usage(folder).free
    if free < settings.DISK_RESERVE_MB * 1024**2:
        message = _(
            "The disk of %(folder)s is full (%(free)s free, of which %(reserve)s MB are reserved for the site). "
            "Free some space, or back up to another disk."
        )
        raise BackupError(
            message % {"folder": folder, "free": filesizeformat(free), "reserve": settings.DISK_RESERVE_MB}
        )


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        text = archive.read(MANIFEST)
        found: dict[str, Any] = json.loads(text)
        written_by = found["format"]
    except KeyError as error:
        raise BackupError(_("%(path)s is not a backup of a Ragsite.") % {"path": path}) from error
    except _UNREADABLE as error:
        raise _damaged(path, MANIFEST) from error
    if written_by > FORMAT:
        raise BackupError(
            _("%(path)s was made by a newer version of Ragsite (%(version)s). Update Ragsite first.")
            % {"path": path, "version": found.get("version", "?")}
        )
    same = sorted(archive.namelist()) == sorted([*found.get("members", ()), MANIFEST])
    if archive.comment != hashlib.sha256(text).hexdigest().encode() or not same:
        raise _damaged(path, MANIFEST)
    return found


def _damaged(path: Path, name: str) -> BackupError:
    message = _("%(path)s is damaged: “%(name)s” in it is not what was written. Use another backup.")
    return BackupError(message % {"path": path, "name": name})


def _cannot_write(path: Path, error: OSError) -> BackupError:
    if disk.is_full(error):
        message = _("The disk of %(folder)s is full. Free some space, or back up to another disk.")
        return BackupError(message % {"folder": path.parent})
    where = error.filename or path
    return BackupError(
        _("The backup can't be made: %(where)s: %(reason)s.") % {"where": where, "reason": error.strerror or error}
    )


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not all file systems can
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
