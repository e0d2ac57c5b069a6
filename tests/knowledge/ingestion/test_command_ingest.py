"""`manage.py ingest`."""

import os
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from knowledge.management.commands import ingest
from knowledge.models import Document, KnowledgeBase
from tests import factories
from tests.knowledge.parsing.test_mail import make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("indexer")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.txt").write_text("The first file.")
    (tmp_path / "deep" / "b.md").write_text("# Second\n\nThe second file.")
    (tmp_path / "c.bin").write_bytes(b"\x00")
    (tmp_path / ".git" / "hidden.txt").write_text("Not for reading.")
    return tmp_path


def run(*paths: Path, wait: bool = True, name: str = "Files") -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    try:
        call_command("ingest", *map(str, paths), knowledge_base=name, user="owner", wait=wait, stdout=out, stderr=err)
    except SystemExit as end:
        assert end.code == 1
        out.write("exit 1")
    return out.getvalue(), err.getvalue()


def test_a_folder_is_walked_and_queued(owner: User, folder: Path) -> None:
    out, _err = run(folder, wait=False)
    base = KnowledgeBase.objects.get(name="Files", owner=owner)
    assert sorted(base.documents.values_list("folder", "original_filename", "status")) == [
        ("", "a.txt", "queued"),
        ("deep", "b.md", "queued"),
    ]
    assert "2 added, waiting for a worker, 0 already here, 0 failed." in out


@pytest.mark.django_db(transaction=True)
def test_without_a_worker_waiting_reads_the_files(
    owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "2 added, 0 already here, 0 failed." in run(folder)[0]
    assert set(Document.objects.values_list("status", flat=True)) == {"ready"}
    assert "| 2 of 2 documents [" in capsys.readouterr().err
    assert "0 added, 2 already here, 0 failed." in run(folder)[0]


@pytest.mark.django_db(transaction=True)
def test_without_a_terminal_progress_is_printed_in_lines(
    owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(ingest, "_REPORT_SECONDS", 0.0)
    run(folder)
    assert "0 of 2 documents\n" in capsys.readouterr().err


@pytest.mark.django_db(transaction=True)
def test_failures_are_reported_with_their_reasons(owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.1)
    (tmp_path / "good.txt").write_text("Good.")
    (tmp_path / "empty.txt").write_text("")
    out, err = run(tmp_path / "good.txt", tmp_path / "empty.txt")
    assert "1 added, 0 already here, 1 failed." in out
    assert "exit 1" in out
    assert "empty.txt: The file is empty" in err


def test_a_base_that_may_be_edited_is_used(owner: User, colleague: User, folder: Path) -> None:
    shared = factories.make_knowledge_base(colleague, "Files")
    factories.share(shared, owner, "editor")
    run(folder, wait=False)
    assert shared.documents.count() == 2
    assert not KnowledgeBase.objects.filter(owner=owner).exists()


def test_missing_things_are_reported(owner: User, tmp_path: Path) -> None:
    for paths, user, words in (
        ([tmp_path / "none"], "owner", "does not exist"),
        ([tmp_path], "owner", "No readable files"),
        ([tmp_path], "ghost", "no user 'ghost'"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("ingest", *map(str, paths), knowledge_base="x", user=user)


@pytest.mark.django_db(transaction=True)
def test_unreadable_formats_are_reported_and_not_stored(
    owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.1)
    out, err = run(folder / "a.txt", folder / "c.bin")
    assert "1 added, 0 already here, 1 failed." in out and "exit 1" in out
    assert "c.bin: “c.bin”: .bin files can't be read. Supported: pdf, docx" in err
    assert Document.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_attachments_are_waited_for(owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.1)
    message = make()
    message.add_attachment(b"Buy oil.", "text", "plain", filename="plan.txt")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    assert "1 added, 0 already here, 0 failed." in run(tmp_path / "a.eml")[0]
    assert sorted(Document.objects.values_list("original_filename", "status")) == [
        ("a.eml", "ready"),
        ("plan.txt", "ready"),
    ]


@pytest.mark.parametrize(("name", "words"), [("  ", "1 to 120"), ("n" * 121, "1 to 120")])
def test_an_invalid_name_of_a_base_is_reported(owner: User, folder: Path, name: str, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        run(folder, name=name, wait=False)
    assert not KnowledgeBase.objects.exists()


def test_no_base_is_created_without_files(owner: User, tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "none", "does not exist"),
        (tmp_path / ("n" * 300), "can't be read: File name too long"),
        (tmp_path, "No readable files found"),
    ):
        with pytest.raises(CommandError, match=words):
            run(path)
    assert not KnowledgeBase.objects.exists()


def test_an_unreadable_folder_is_reported(owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refusing(path: Path) -> Any:
        if Path(path).name == "deep":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    out, err = run(folder, wait=False)
    assert "1 added, waiting for a worker, 0 already here, 1 failed." in out and "exit 1" in out
    assert f"{folder / 'deep'}: [Errno 13] Permission denied" in err


def test_a_pipe_is_not_waited_for(owner: User, folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    os.mkfifo(folder / "other")
    out, err = run(folder, folder / "other", wait=False)
    assert "2 added, waiting for a worker, 0 already here, 2 failed." in out
    assert f"{folder / 'pipe.txt'}: Not a regular file." in err and f"{folder / 'other'}: Not a regular file." in err


@pytest.mark.django_db(transaction=True)
def test_an_interruption_finishes_the_current_work(owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(ingest, "_POLL_SECONDS", 0.01)
    begun, over = threading.Event(), threading.Event()

    def work(seconds: float) -> None:
        assert seconds <= 5
        begun.set()
        time.sleep(0.5)  # the current work
        over.set()

    def interrupt(paths: object) -> Any:
        if begun.is_set():
            raise KeyboardInterrupt
        return {"unfinished": 1, "documents": 1, "progress": 0}

    monkeypatch.setattr(ingest.work, "work", work)
    monkeypatch.setattr(ingest, "_state", interrupt)
    with pytest.raises(CommandError, match="The files added so far are queued for a worker"):
        run(folder)
    assert over.is_set()


def test_a_lost_database_connection_is_reported(owner: User, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object) -> None:
        raise OperationalError("server closed the connection\n")

    monkeypatch.setattr(ingest.services, "add_document", stopped)
    with pytest.raises(CommandError, match="The database failed: server closed the connection\nThe files added"):
        run(folder)


def test_thousands_of_documents_are_counted_with_few_parameters(owner: User) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner), status="queued", progress=7)
    parameters: list[int] = []

    def note(execute: Callable[..., Any], sql: str, given: tuple[object, ...], many: bool, context: Any) -> Any:
        parameters.append(len(given))
        return execute(sql, given, many, context)

    with connection.execute_wrapper(note):
        state = ingest._state([document.pk, *range(10**6, 10**6 + 1000)])
    assert state == {"documents": 1, "unfinished": 1, "progress": 7}
    assert len(parameters) == 2 and max(parameters) < 20
