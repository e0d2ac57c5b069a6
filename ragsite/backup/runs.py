"""Recorded backups, of which one runs at a time: started by schedule, administrators or the command; and old ones."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.tasks import async_task

from ragsite.backup import archive, creation
from ragsite.backup.archive import BackupError
from ragsite.backup.models import BackupRun
from ragsite.runtime import secret_files
from ragsite.site_settings.config import config, refresh

TASK = "ragsite.backup.tasks.make"
# Backups in the folder that are counted, and deleted when there are too many; others are left alone.
PATTERN = "ragsite-????-??-??-??????.zip"
TIME_LIMIT = 24 * 3600  # seconds
RETRY_AFTER = timedelta(hours=1)  # after a scheduled backup failed
# Without a sign of life for so long, the process of a backup is gone, or no worker has taken it.
STALE_AFTER, UNTAKEN_AFTER = timedelta(minutes=5), timedelta(hours=1)
_BEAT_SECONDS = 5.0
State = BackupRun.State

logger = logging.getLogger(__name__)


def folder() -> Path:
    """Return the folder for backups, created if it doesn't exist. Raises `BackupError`."""
    found = Path(settings.BACKUP_DIR)
    try:
        if not found.exists():
            secret_files.private_folder(found)
    except OSError as error:
        message = _("The folder for backups, %(folder)s, can't be created: %(reason)s.")
        raise BackupError(message % {"folder": found, "reason": error.strerror}) from error
    return found


def new_path() -> Path:
    """Return the path of a new backup in the folder. Raises `BackupError`."""
    return folder() / f"ragsite-{timezone.localtime():%Y-%m-%d-%H%M%S}.zip"


def kept() -> list[Path]:
    """Return the backups in the folder, newest first."""
    return sorted(Path(settings.BACKUP_DIR).glob(PATTERN), reverse=True)


def start(username: str = "") -> BackupRun:
    """Record that a backup begins. Raises `BackupError` if one is running."""
    fail_stalled()
    try:
        with transaction.atomic():
            return BackupRun.objects.create(started_by=username)
    except IntegrityError:
        raise BackupError(_("A backup is already running. Wait until it has finished.")) from None


def queue(username: str = "") -> BackupRun:
    """Record that a backup begins, and have a worker make it. Raises `BackupError` if one is running."""
    with transaction.atomic():
        run = start(username)
        async_task(TASK, run.pk, timeout=TIME_LIMIT)
    return run


def make_queued(run_id: int) -> bool:
    """Make a queued backup, unless another process has begun it; return whether it succeeded."""
    refresh()
    try:
        path = new_path()
    except BackupError as error:
        _end(BackupRun.objects.filter(pk=run_id, state=State.RUNNING, file=""), error=str(error))
        return False
    untaken = BackupRun.objects.filter(pk=run_id, state=State.RUNNING, file="")
    if not untaken.update(file=str(path), heartbeat_at=timezone.now()):
        return False
    with suppress(BackupError):  # recorded
        make(path, BackupRun.objects.get(pk=run_id))
        return True
    return False


def make(path: Path, run: BackupRun | None = None, report: Callable[[int], None] = lambda size: None) -> dict[str, Any]:
    """Make a backup and return its manifest; record the outcome in `run`, or else in a new one.

    Then delete the backups of the folder that are too many. Raises `BackupError`.
    """
    # A site that isn't migrated yet, and is backed up first, may not have the table.
    if run is None and BackupRun._meta.db_table in connection.introspection.table_names():
        run = start()
    mine = BackupRun.objects.filter(pk=run.pk if run else 0, state=State.RUNNING)
    if run is not None:
        mine.update(file=str(path))
    next_beat = 0.0

    def beat(size: int) -> None:
        nonlocal next_beat
        report(size)
        if run is not None and time.monotonic() >= next_beat:
            next_beat = time.monotonic() + _BEAT_SECONDS
            with suppress(DatabaseError):
                mine.update(heartbeat_at=timezone.now())

    try:
        manifest = creation.create(path, beat)
    except BaseException as error:
        message = str(error) if isinstance(error, BackupError) else _("Unexpected error: %s") % type(error).__name__
        logger.warning("The backup to %s failed: %s", path, message, exc_info=not isinstance(error, BackupError))
        if run is not None:
            _end(mine, error=message)
        raise
    if run is not None:
        _end(mine, state=State.DONE, size=path.stat().st_size)
        prune()
    return manifest


def prune() -> int:
    """Delete the oldest backups of the folder beyond `BACKUP_KEEP`, and return how many."""
    refresh()
    gone = kept()[config.BACKUP_KEEP :]
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def start_if_due() -> bool:
    """Queue a backup if the schedule says so; return whether it was queued. Also cleans up after killed ones."""
    fail_stalled()
    with suppress(OSError):
        archive.sweep(Path(settings.BACKUP_DIR))
    refresh()
    if not config.BACKUP_EVERY_HOURS:
        return False
    now, every = timezone.now(), timedelta(hours=config.BACKUP_EVERY_HOURS)
    recent = BackupRun.objects.filter(started_at__gt=now - every)
    if recent.filter(state__in=(State.DONE, State.RUNNING)).exists():
        return False
    if BackupRun.objects.filter(started_at__gt=now - min(every, RETRY_AFTER)).exists():
        return False
    with suppress(BackupError):  # another process was first
        queue()
        return True
    return False


def fail_stalled() -> int:
    """Fail the backups whose process is gone, or that no worker has taken; return their number."""
    now = timezone.now()
    running = BackupRun.objects.filter(state=State.RUNNING)
    stopped = running.exclude(file="").filter(heartbeat_at__lt=now - STALE_AFTER)
    untaken = running.filter(file="", heartbeat_at__lt=now - UNTAKEN_AFTER)
    return _end(stopped, error=_("The process was stopped before the backup was complete.")) + _end(
        untaken, error=_("No worker has begun it. Is `manage.py worker` running?")
    )


def problem() -> str:
    """Return what administrators should know about backups: that the last one failed or that scheduled ones stopped."""
    ended = BackupRun.objects.exclude(state=State.RUNNING)
    last = ended.first()
    if last is None:
        return ""
    if last.state == State.FAILED:
        return _("The last backup failed: %(error)s") % {"error": last.error}
    refresh()
    every = config.BACKUP_EVERY_HOURS
    if every and last.started_at < timezone.now() - 2 * timedelta(hours=every):
        return _("The last backup is older than the schedule allows. Is `manage.py worker` running?")
    return ""


def _end(runs: Any, *, state: str = State.FAILED, **fields: Any) -> int:
    try:
        return int(runs.update(state=state, finished_at=timezone.now(), **fields))
    except DatabaseError:  # without a heartbeat, `fail_stalled` ends it
        logger.exception("The end of a backup could not be stored")
        return 0
