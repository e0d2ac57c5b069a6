"""The file of a backup: complete or not there, checked byte by byte, and private."""

import errno
import fcntl
import json
import os
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragsite.backup import archive
from ragsite.backup.archive import MANIFEST, PARTIAL, BackupError

CONTENTS = {"database/one": b"1\tone\n" * 3000, "media/notes": os.urandom(5000), "database/empty": b""}
ABOUT = {"version": "0.1.0", "made_at": "2026-01-01", "database": {"tables": {}}, "files": {}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "site.zip"


def _write(path: Path, contents: dict[str, bytes] = CONTENTS) -> None:
    with archive.writing(path) as writer:
        for name, content in contents.items():
            writer.add(name, [content[:100], content[100:]])
        writer.finish(ABOUT)


def _refusal(path: Path) -> str:
    with pytest.raises(BackupError) as caught:
        archive.check(path)
    return str(caught.value)


def test_a_backup_is_complete_and_private(path: Path) -> None:
    _write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    manifest = archive.check(path)
    assert manifest["version"] == "0.1.0"
    assert {name: size for name, (size, _digest) in manifest["members"].items()} == {
        name: len(content) for name, content in CONTENTS.items()
    }
    with archive.reading(path) as (packed, manifest):
        for name, content in CONTENTS.items():
            assert b"".join(archive.pieces(path, packed, manifest, name)) == content
    assert list(path.parent.iterdir()) == [path]


def test_a_backup_has_another_name_until_it_is_complete(path: Path) -> None:
    with archive.writing(path) as writer:
        partial = path.with_name(path.name + PARTIAL)
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        assert not path.exists()
        with pytest.raises(BackupError, match="in progress"), archive.writing(path):
            pass
        assert partial.exists()
        writer.finish(ABOUT)
    assert path.exists()


def test_nothing_is_overwritten(path: Path) -> None:
    path.write_text("something else")
    with pytest.raises(BackupError, match=r"already exists\. Choose another name"):
        _write(path)
    assert path.read_text() == "something else"


@pytest.mark.parametrize("part", [0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_backup_is_refused(part: float, path: Path) -> None:
    _write(path)
    os.truncate(path, int(path.stat().st_size * part))
    cut_off_in = "“manifest.json” in it is not what was written" if part > 0.99 else "was cut off"
    assert cut_off_in in _refusal(path)


@pytest.mark.parametrize("name", ["database/one", "media/notes", MANIFEST])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_an_altered_byte_is_found(name: str, part: float, path: Path) -> None:
    _write(path)
    with zipfile.ZipFile(path) as packed:
        info = packed.getinfo(name)
    header = 30 + len(name) + 20  # with the sizes of more than 4 GB
    content = bytearray(path.read_bytes())
    content[info.header_offset + header + int(part * (info.compress_size - 20))] ^= 0x55
    path.write_bytes(content)
    assert f"“{name}” in it is not what was written" in _refusal(path)


def _rewritten(path: Path, changed: dict[str, bytes], dropped: str = "") -> None:
    """Write the archive again, as another program would, with correct sums of its own."""
    with zipfile.ZipFile(path) as packed:
        contents = {name: packed.read(name) for name in packed.namelist() if name != dropped}
        comment = packed.comment
    with zipfile.ZipFile(path, "w") as packed:
        packed.comment = comment
        for name, content in (contents | changed).items():
            packed.writestr(name, content)


def test_changes_with_other_programs_are_found(path: Path) -> None:
    _write(path)
    original = path.read_bytes()
    _rewritten(path, {"media/notes": b"forged"})
    assert "“media/notes”" in _refusal(path)
    for changed, dropped in ({"media/added": b""}, ""), ({}, "database/empty"), ({MANIFEST: b'{"format": 1}'}, ""):
        path.write_bytes(original)
        _rewritten(path, changed, dropped)
        assert MANIFEST in _refusal(path)


def test_other_files_are_refused(path: Path) -> None:
    assert "No such file" in _refusal(path)
    path.write_text("hello")
    assert "is another kind of file" in _refusal(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("notes.txt", "hello")
    assert "is not a backup of a Ragsite" in _refusal(path)


def test_a_newer_format_is_refused(path: Path) -> None:
    _write(path)
    _rewritten(path, {MANIFEST: json.dumps({"format": archive.FORMAT + 1, "version": "9.8"}).encode()})
    assert "made by a newer version of Ragsite (9.8). Update Ragsite first." in _refusal(path)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    usage = SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    yield


def test_the_reserve_of_the_disk_is_left_alone(path: Path, full_disk: None) -> None:
    with pytest.raises(BackupError, match=r"is full \(1000\sbytes free"):
        _write(path)
    assert list(path.parent.iterdir()) == []


def test_the_reserve_is_watched_while_a_backup_grows(
    path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(archive, "_LOOK_AT_DISK", 1000)
    with pytest.raises(BackupError, match="is full"), archive.writing(path) as writer:
        writer.add("media/small", [b"1" * 900])
        request.getfixturevalue("full_disk")
        writer.add("media/large", [b"1" * 900])
    assert list(path.parent.iterdir()) == []


def test_a_full_disk_leaves_no_file(path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"some"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(BackupError, match=r"The disk of .* is full\. Free some space"), archive.writing(path) as writer:
        writer.add("media/large", pieces())
    assert list(path.parent.iterdir()) == []


def test_what_was_written_is_read_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        os.pwrite(descriptor, b"a bad block", 200)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(BackupError, match="is damaged"):
        _write(path)
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(path: Path) -> None:
    with pytest.raises(BackupError, match=r"can't be made: .*nowhere.*: No such file or directory"):
        _write(path.parent / "nowhere" / "site.zip")


def test_only_the_remains_of_killed_backups_are_swept(path: Path) -> None:
    killed, running, other = (path.with_name(name) for name in (f"a.zip{PARTIAL}", f"b.zip{PARTIAL}", "c.zip.part"))
    for each in (killed, running, other):
        each.touch()
    with running.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _write(path)
    assert sorted(path.parent.iterdir()) == sorted([running, other, path])


def test_files_that_are_compressed_already_are_stored_as_they_are(path: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"text " * 50_000)
    (tmp_path / "empty").touch()
    (tmp_path / "packed").write_bytes(b"<< /Filter /FlateDecode >>" * 50 + os.urandom(100_000) + b"trailer" * 50)
    with archive.writing(path) as writer:
        for name in ("text", "empty", "packed"):
            writer.add_file(name, tmp_path / name)
        writer.finish(ABOUT)
    archive.check(path)
    with zipfile.ZipFile(path) as packed:
        sizes = {name: packed.getinfo(name).compress_size for name in ("text", "empty", "packed")}
    assert sizes["packed"] == (tmp_path / "packed").stat().st_size
    assert sizes["text"] < 10_000
