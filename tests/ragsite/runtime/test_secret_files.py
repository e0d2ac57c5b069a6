"""The site's own secrets are complete, and the same for all processes."""

import secrets
import stat
from pathlib import Path

import pytest

from ragsite.runtime import secret_files
from ragsite.runtime.secret_files import load_or_create


def test_a_secret_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret-key"
    value = load_or_create(path)
    assert len(value) >= 48 and load_or_create(path) == value == path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret-key"]


def test_two_processes_that_start_together_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret-key"
    others: list[str] = []

    def in_the_middle_of_the_other(size: int) -> str:
        monkeypatch.undo()
        others.append(load_or_create(path))
        return "late"

    monkeypatch.setattr(secrets, "token_urlsafe", in_the_middle_of_the_other)
    assert [load_or_create(path)] == others
    assert len(others[0]) >= 48


def test_a_process_that_dies_leaves_no_half_of_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret-key"

    def die(size: int) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(secrets, "token_urlsafe", die)
        load_or_create(path)
    assert len(load_or_create(path)) >= 48


def test_folders_are_private_and_those_of_others_left_alone(tmp_path: Path) -> None:
    new, old, public = tmp_path / "new", tmp_path / "old", tmp_path / "public"
    old.mkdir(mode=0o755)
    public.mkdir()
    public.chmod(0o1777)
    for folder in (new, old, public):
        secret_files.private_folder(folder)
    assert not stat.S_IMODE(new.stat().st_mode) & 0o077
    assert not stat.S_IMODE(old.stat().st_mode) & 0o066
    assert stat.S_IMODE(public.stat().st_mode) == 0o1777
