"""A full disk: nothing is half stored, and it is said everywhere where it matters."""

import errno
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from knowledge import services, tasks
from knowledge.ingestion import ingestion, worker
from knowledge.models import KnowledgeBase
from knowledge.parsing.elements import Element, Paragraph
from ragsite.limits import ballast, disk
from tests import factories

pytestmark = pytest.mark.django_db

Usage = namedtuple("Usage", "total used free")
MB = 1024**2


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the free megabytes of a disk of 10,000 MB."""

    def set_free(megabytes: int) -> None:
        usage = Usage(10_000 * MB, (10_000 - megabytes) * MB, megabytes * MB)
        monkeypatch.setattr(disk.shutil, "disk_usage", lambda folder: usage)

    set_free(5_000)
    return set_free


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner, "Tea")


def test_uploads_leave_the_reserve(base: KnowledgeBase, as_owner: Client, free: Callable[[int], None]) -> None:
    free(300)
    upload = reverse("knowledge-base-upload", args=[base.pk])
    answer = as_owner.post(upload, {"file": ContentFile(b"Tea.", "tea.txt")}, headers={"HX-Request": "true"})
    assert answer.status_code == 507 and "disk is full" in answer.content.decode()
    answer = as_owner.post(reverse("api-documents", args=[base.pk]), {"file": ContentFile(b"Tea.", "tea.txt")})
    assert answer.status_code == 507 and answer.json()["code"] == "disk_full"
    assert not base.documents.exists()
    free(301)
    assert as_owner.post(upload, {"file": ContentFile(b"Tea.", "tea.txt")}).status_code == 302
    assert base.documents.count() == 1


def test_reading_waits_for_space(base: KnowledgeBase, owner: User, free: Callable[[int], None]) -> None:
    document = services.add_document(base, owner, "tea.txt", ContentFile(b"Green tea.", "tea.txt")).document
    free(299)
    assert worker.work() == 0
    document.refresh_from_db()
    assert document.status == "queued"
    services.delete_documents([document])
    assert not base.documents.exists()


def test_a_document_during_whose_reading_the_disk_fills_waits(
    base: KnowledgeBase, owner: User, free: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> Iterator[Element]:
        yield Paragraph(text="Green tea.")
        free(10)
        raise OSError(errno.ENOSPC, "No space left on device")

    document = services.add_document(base, owner, "tea.txt", ContentFile(b"Green tea.", "tea.txt")).document
    monkeypatch.setattr(ingestion, "parse_file", full)
    assert not ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.status, document.attempt, document.error_code) == ("queued", 0, "")


def test_errors_of_a_full_disk_are_507(as_owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise OperationalError("could not extend file") from psycopg.errors.DiskFull("could not extend file")

    monkeypatch.setattr("conversations.services.empty_session", fails)
    as_owner.raise_request_exception = False
    answer = as_owner.post("/c/new/")
    assert answer.status_code == 507 and "disk is full" in answer.content.decode()


def test_the_probe_and_the_dashboard_say_so(client: Client, as_staff: Client, free: Callable[[int], None]) -> None:
    assert client.get("/readyz").content == b"ok"
    assert "nearly full" not in as_staff.get("/admin/").content.decode()
    free(1_000)
    assert client.get("/readyz").content == b"ok"
    assert "The disk is nearly full." in as_staff.get("/admin/").content.decode()
    free(200)
    assert (client.get("/readyz").status_code, client.get("/readyz").content) == (200, b"degraded: disk")


def test_only_errors_of_a_full_disk_are_taken_for_such() -> None:
    assert disk.is_full(OSError(errno.ENOSPC, "full")) and disk.is_full(OSError(errno.EDQUOT, "quota"))
    assert not disk.is_full(OSError(errno.EACCES, "denied")) and not disk.is_full(None)
    try:
        try:
            raise OSError(errno.ENOSPC, "full")
        except OSError as error:
            raise ValueError("while writing") from error
    except ValueError as error:
        assert disk.is_full(error)


@pytest.fixture
def data_folder(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def test_space_is_set_aside_while_there_is_room(
    data_folder: Path, free: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ballast, "SIZE", 1 * MB)
    free(300)
    ballast.keep()
    assert not list(data_folder.iterdir())
    free(301)
    tasks.requeue_stalled()
    (file,) = data_folder.iterdir()
    assert file.stat().st_size == MB and file.stat().st_blocks * 512 >= MB
    assert not ballast.release() and file.exists()


def test_space_is_released_for_changes_on_a_full_disk(
    data_folder: Path,
    base: KnowledgeBase,
    owner: User,
    as_owner: Client,
    free: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = services.add_document(base, owner, "tea.txt", ContentFile(b"Green tea.", "tea.txt")).document
    monkeypatch.setattr(ballast, "SIZE", 1 * MB)
    ballast.keep()
    file = data_folder / "ballast"
    free(0)
    as_owner.get(reverse("chat"))
    assert file.exists()
    assert as_owner.delete(reverse("api-document", args=[document.pk])).status_code == 204
    assert not file.exists() and not base.documents.exists()
    assert not ballast.release()  # nothing is left to release
    tasks.requeue_stalled()
    assert not file.exists()
    free(5_000)
    tasks.requeue_stalled()
    assert file.exists()


def test_no_space_is_set_aside_if_the_disk_fills_meanwhile(
    data_folder: Path, free: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ballast.os, "posix_fallocate", fail)
    ballast.keep()
    assert not list(data_folder.iterdir())
