"""Backups by schedule and button: one at a time, old ones deleted only after a new one, failures shown."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from pytest_django import Settings

from ragsite.backup import creation, runs, tasks
from ragsite.backup.archive import PARTIAL, BackupError
from ragsite.models import AuditEntry, BackupRun, SiteSetting
from tests import factories

pytestmark = pytest.mark.django_db
State = BackupRun.State
PAGE = "admin:ragsite_backups"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths of backups, which are empty files."""
    found: list[Path] = []

    def create(path: Path, report: Any) -> dict[str, Any]:
        path.write_bytes(b"backup")
        report(6)
        found.append(path)
        return {}

    monkeypatch.setattr(creation, "create", create)
    return found


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(path: Path, report: Any) -> dict[str, Any]:
        raise BackupError("The disk is full.")

    monkeypatch.setattr(creation, "create", create)


def _schedule(hours: int = 24, keep: int = 7) -> None:
    SiteSetting.objects.create(name="BACKUP_EVERY_HOURS", value=str(hours))
    SiteSetting.objects.create(name="BACKUP_KEEP", value=str(keep))


def _run(state: str, hours_ago: float, **fields: Any) -> BackupRun:
    run = BackupRun.objects.create(state=state, **fields)
    then = timezone.now() - timedelta(hours=hours_ago)
    BackupRun.objects.filter(pk=run.pk).update(started_at=then, heartbeat_at=then)
    return run


def _old_backups(settings: Settings, count: int) -> list[Path]:
    paths = [runs.folder() / f"ragsite-2025-01-0{day}-030000.zip" for day in range(1, count + 1)]
    for path in paths:
        path.touch()
    return paths


def test_the_schedule_is_registered() -> None:
    assert Schedule.objects.get(name="ragsite: backups").func == "ragsite.backup.tasks.start_if_due"


def test_no_backups_are_made_without_a_schedule() -> None:
    assert not tasks.start_if_due()
    assert not BackupRun.objects.exists()


@pytest.mark.parametrize(
    ("before", "is_due"),
    [
        ([], True),
        ([(State.DONE, 23)], False),
        ([(State.DONE, 25)], True),
        ([(State.DONE, 30), (State.FAILED, 0.5)], False),
        ([(State.DONE, 30), (State.FAILED, 1.5)], True),
        ([(State.DONE, 2), (State.FAILED, 1.5)], False),
        ([(State.RUNNING, 0.01)], False),
        ([(State.RUNNING, 25)], True),
    ],
)
def test_a_backup_is_due_after_the_hours_of_the_setting(before: list[tuple[str, float]], is_due: bool) -> None:
    _schedule()
    for state, hours_ago in before:
        _run(state, hours_ago, file="somewhere")
    assert tasks.start_if_due() is is_due
    assert BackupRun.objects.filter(state=State.RUNNING, file="").exists() is is_due
    assert OrmQ.objects.exists() is is_due


def test_a_queued_backup_is_made_once(made: list[Path], settings: Settings) -> None:
    run = runs.queue("admin")
    assert runs.make_queued(run.pk)
    assert not runs.make_queued(run.pk)
    run.refresh_from_db()
    assert (run.state, run.file, run.size, run.started_by) == (State.DONE, str(made[0]), 6, "admin")
    assert len(made) == 1
    assert made[0].parent == settings.BACKUP_DIR
    assert made[0].match(runs.PATTERN)


def test_the_worker_reads_documents_meanwhile(made: list[Path], settings: Settings) -> None:
    settings.LONG_TASKS = f"{__name__}.beside"
    assert tasks.make(runs.queue().pk)
    assert len(made) == 1
    assert besides == [True]


besides: list[bool] = []


def beside(task: Any) -> Any:
    besides.append(True)
    return task()


def test_only_one_runs_at_a_time(made: list[Path]) -> None:
    run = runs.queue()
    with pytest.raises(BackupError, match="already running"):
        runs.queue()
    with pytest.raises(CommandError, match="already running"):
        call_command("backup")
    runs.make_queued(run.pk)
    runs.queue()


def test_old_backups_are_deleted_after_a_new_one(made: list[Path], settings: Settings) -> None:
    _schedule(keep=2)
    old = _old_backups(settings, 4)
    other = runs.folder() / "before-update.zip"
    other.touch()
    runs.make(runs.new_path())
    assert sorted(runs.folder().iterdir()) == sorted([old[-1], made[0], other])


def test_a_failed_backup_deletes_nothing(failing: None, settings: Settings) -> None:
    _schedule(keep=1)
    old = _old_backups(settings, 3)
    assert not runs.make_queued(runs.queue().pk)
    assert sorted(runs.folder().iterdir()) == old
    assert BackupRun.objects.get().error == "The disk is full."
    assert runs.problem() == "The last backup failed: The disk is full."


def test_a_later_success_ends_the_warning(made: list[Path]) -> None:
    _run(State.FAILED, 2, error="The disk is full.")
    runs.make(runs.new_path())
    assert runs.problem() == ""


@pytest.mark.parametrize(("hours", "hours_ago", "warns"), [(24, 47, False), (24, 49, True), (None, 500, False)])
def test_backups_that_stopped_are_reported(hours: int | None, hours_ago: int, warns: bool) -> None:
    if hours:
        _schedule(hours)
    _run(State.DONE, hours_ago)
    assert ("older than the schedule allows" in runs.problem()) is warns


def test_unexpected_errors_are_recorded_and_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(path: Path, report: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(creation, "create", create)
    with pytest.raises(ZeroDivisionError):
        runs.make(runs.new_path())
    assert BackupRun.objects.get().error == "Unexpected error: ZeroDivisionError"


def test_backups_of_killed_processes_fail(settings: Settings) -> None:
    killed = _run(State.RUNNING, 0.2, file="somewhere")
    left = runs.folder() / f"ragsite-2025-01-01-030000.zip{PARTIAL}"
    left.touch()
    tasks.start_if_due()
    killed.refresh_from_db()
    assert (killed.state, killed.error) == (State.FAILED, "The process was stopped before the backup was complete.")
    assert not left.exists()


def test_backups_that_no_worker_takes_fail() -> None:
    waiting = _run(State.RUNNING, 0.5)
    assert not runs.fail_stalled()
    BackupRun.objects.filter(pk=waiting.pk).update(heartbeat_at=timezone.now() - timedelta(hours=2))
    assert runs.fail_stalled() == 1
    assert "No worker has begun it" in runs.problem()


def test_a_folder_that_cannot_be_made_is_reported(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.BACKUP_DIR = tmp_path / "file" / "backups"
    assert not runs.make_queued(runs.queue().pk)
    assert "The folder for backups" in runs.problem()


# --- The page and the command -------------------------------------------------------------------------


def test_only_superusers_see_backups(as_staff: Client, as_owner: Client, client: Client) -> None:
    plain = factories.make_user("plain", is_staff=True)
    client.force_login(plain)
    assert as_staff.get(reverse(PAGE)).status_code == 200
    for other in (client, as_owner):
        assert other.get(reverse(PAGE)).status_code in (302, 403)
        assert other.post(reverse(PAGE)).status_code in (302, 403)
    assert client.get(reverse(PAGE)).status_code == 403
    assert not BackupRun.objects.exists()
    assert b"/admin/ragsite/backups/" in as_staff.get(reverse("admin:index")).content
    assert b"/admin/ragsite/backups/" not in client.get(reverse("admin:index")).content


def test_the_button_starts_a_backup(as_staff: Client, staff: User) -> None:
    response = as_staff.post(reverse(PAGE), follow=True)
    assert "The backup has been started." in response.text
    assert BackupRun.objects.get().started_by == staff.username
    assert 'hx-trigger="every 2s"' in response.text
    assert "already running" in as_staff.post(reverse(PAGE), follow=True).text


def test_the_page_lists_backups_and_failures(as_staff: Client, settings: Settings) -> None:
    _old_backups(settings, 2)
    _run(State.FAILED, 1, error="The disk is full.")
    page = as_staff.get(reverse(PAGE)).text
    assert re.search(r"2025-01-02.*2025-01-01", page, re.DOTALL)
    assert "The disk is full." in page
    assert "No backups are scheduled." in page
    assert "if the disk fails, the backups are lost too" in page
    assert "manage.py restore" in page


def test_the_first_page_warns_superusers_of_failures(as_staff: Client, client: Client) -> None:
    _run(State.FAILED, 1, error="The disk is full.")
    assert "The last backup failed: The disk is full." in as_staff.get(reverse("admin:index")).text
    client.force_login(factories.make_user("plain", is_staff=True))
    assert "The last backup failed" not in client.get(reverse("admin:index")).text


def test_a_download_needs_the_password_again(as_staff: Client, settings: Settings) -> None:
    path = _old_backups(settings, 1)[0]
    path.write_bytes(b"secrets")
    url = f"{reverse(PAGE)}?download={path.name}"
    assert as_staff.get(url).status_code == 302
    as_staff.post(reverse("account_reauthenticate"), {"password": "password"})
    response = as_staff.get(url)
    assert response.status_code == 200
    assert response.headers["Content-Disposition"] == f'attachment; filename="{path.name}"'
    assert b"".join(response) == b"secrets"
    assert AuditEntry.objects.get(action=AuditEntry.Action.EXPORTED).object_name == path.name
    (runs.folder() / "other.zip").touch()
    for name in ("other.zip", "../secret-key", "ragsite-2025-01-09-030000.zip"):
        assert as_staff.get(f"{reverse(PAGE)}?download={name}").status_code == 404


def test_the_command_checks_a_backup(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Name the backup to check"):
        call_command("backup", "--check")
    (tmp_path / "no.zip").write_text("no")
    with pytest.raises(CommandError, match="is not a complete backup"):
        call_command("backup", "--check", str(tmp_path / "no.zip"))
