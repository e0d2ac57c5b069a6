"""“Backups” in the admin: make one now, see the last ones, download one. For superusers only."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from allauth.account.decorators import reauthentication_required
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.admin_base import Page, add_page, work_page
from ragsite.audit.log import record
from ragsite.backup import runs
from ragsite.backup.archive import PIECE, BackupError
from ragsite.backup.models import BackupRun
from ragsite.models import AuditEntry
from ragsite.site_settings.config import config, refresh

_RUNS_SHOWN = 10


def backups_page(request: HttpRequest) -> HttpResponseBase:
    """Show the backups in the folder and the last runs; POST starts a backup, `?download=` sends one."""
    if not request.user.is_superuser:
        raise PermissionDenied
    if request.method == "POST":
        try:
            runs.queue(request.user.get_username())
            messages.success(request, _("The backup has been started."))
        except BackupError as error:
            messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:ragsite_backups"))
    if name := request.GET.get("download"):
        return _download(request, name)  # type: ignore[no-any-return]
    runs.fail_stalled()
    refresh()
    recent = list(BackupRun.objects.all()[:_RUNS_SHOWN])
    context = {
        **admin.site.each_context(request),
        "title": _("Backups"),
        "runs": recent,
        "files": [_described(path) for path in runs.kept()],
        "folder": settings.BACKUP_DIR,
        "data_dir": settings.DATA_DIR,
        "is_in_data_folder": Path(settings.BACKUP_DIR).is_relative_to(settings.DATA_DIR),
        "every": config.BACKUP_EVERY_HOURS,
        "keep": config.BACKUP_KEEP,
    }
    working = any(run.state == BackupRun.State.RUNNING for run in recent)
    return work_page(request, "admin/ragsite/backups.html", context, working=working)


@reauthentication_required  # type: ignore[untyped-decorator]
def _download(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send a backup of the folder, once the user has entered their password again."""
    path = next((path for path in runs.kept() if path.name == name), None)
    if path is None:
        raise Http404
    record(AuditEntry.Action.EXPORTED, name=name, what="backup")
    file = path.open("rb")
    pieces = _pieces(file) if isinstance(request, ASGIRequest) else iter(lambda: file.read(PIECE), b"")
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response.headers["Content-Length"] = str(path.stat().st_size)
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or ""
    return response


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await sync_to_async(file.read, thread_sensitive=False)(PIECE):
            yield piece


def _described(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {
        "name": path.name,
        "size": found.st_size,
        "made": datetime.fromtimestamp(found.st_mtime, tz=timezone.get_default_timezone()),
    }


add_page(
    Page(
        name="ragsite_backups",
        title=gettext_lazy("Backups"),
        route="ragsite/backups/",
        view=backups_page,
        permission="ragsite.view_backuprun",  # which only superusers have, since it can't be given
        after="",
    )
)
