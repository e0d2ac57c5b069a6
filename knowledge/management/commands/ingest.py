"""`manage.py ingest PATH… --knowledge-base NAME --user USER [--wait]`."""

import os
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.models import Count, Q, Sum
from django.db.models.expressions import RawSQL
from tqdm import tqdm

from knowledge import services
from knowledge.ingestion import claims
from knowledge.ingestion import worker as work
from knowledge.management.lookups import base_to_add_to, find_user
from knowledge.models import Attachment, Document
from knowledge.parsing.registry import extensions

# A worker takes a waiting document within its polling interval of 0.2 s; if none does so within this time, there is no
# worker.
_PATIENCE_SECONDS = 3.0
_POLL_SECONDS = 0.5
# After this time the work done here checks whether it has to end.
_ROUND_SECONDS = 5.0
# The interval between progress lines if there is no terminal for a progress bar.
_REPORT_SECONDS = 30.0
_AGAIN = "The files added so far are queued for a worker; run the same command again to continue."


class Command(BaseCommand):
    """Adds files and folders to a knowledge base."""

    help = "Add files, and all readable files in folders, to a knowledge base."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments: paths, the base and the user."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file or a folder")
        parser.add_argument("--knowledge-base", required=True, metavar="NAME", help="created if it doesn't exist")
        parser.add_argument("--user", required=True, metavar="USER", help="the user who adds them")
        parser.add_argument("--wait", action="store_true", help="return when everything is searchable or has failed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add the files; failures are listed with their reasons, and the exit code is then 1."""
        try:
            self._add(options)
        except KeyboardInterrupt:
            raise CommandError(f"Interrupted. {_AGAIN}") from None
        except DatabaseError as error:
            raise CommandError(f"The database failed: {str(error).strip()}\n{_AGAIN}") from error

    def _add(self, options: dict[str, Any]) -> None:
        user = find_user(options["user"])
        failures: list[str] = []
        files = list(_files(options["paths"], failures))
        if not files:
            nothing = f"No readable files found. Supported: {', '.join(extensions())}."
            raise CommandError("\n".join([*failures, nothing]))
        base = base_to_add_to(user, options["knowledge_base"])
        added: dict[int, Path] = {}  # documents that are new, or newly queued
        here = 0
        for folder, path in tqdm(files, desc="Adding", unit="file", file=sys.stderr, disable=None):
            try:
                if path.exists() and not path.is_file():
                    raise OSError("Not a regular file.")  # a pipe, for example: opening it would wait for a writer
                with path.open("rb") as file:
                    result = services.add_document(base, user, path.name, File(file, name=path.name), folder)
            except (OSError, services.UploadRefused) as error:
                failures.append(f"{path}: {error}")
                continue
            if result.already_here and result.document.status not in Document.UNFINISHED:
                here += 1
            else:
                added[result.document.pk] = path
        unread = _wait(added) if options["wait"] else []
        failures += unread
        for failure in failures:
            self.stderr.write(self.style.ERROR(failure))
        queued = "" if options["wait"] else ", waiting for a worker"
        self.stdout.write(f"{len(added) - len(unread)} added{queued}, {here} already here, {len(failures)} failed.")
        if failures:
            sys.exit(1)


def _files(paths: list[Path], failures: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield the given files, and the files in given folders that a parser can read, except hidden ones.

    Each is a pair of its path within the given folder and the file. Unreadable folders are added to `failures`.
    """

    def unread(error: OSError) -> None:
        failures.append(f"{error.filename}: {error}")

    for path in paths:
        try:
            if not path.exists():
                raise CommandError(f"{path} does not exist.")
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error.strerror}.") from None
        if not path.is_dir():
            yield "", path
            continue
        for folder, folders, names in os.walk(path, onerror=unread):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            inside = (Path(folder) / name for name in sorted(names) if not name.startswith("."))
            place = Path(folder).relative_to(path).as_posix()
            yield from ((place, file) for file in inside if file.suffix.lower().lstrip(".") in extensions())


def _wait(paths: Mapping[int, Path]) -> list[str]:
    """Wait until the documents are done, working here if there is no worker; return messages about failures."""
    with tqdm(total=len(paths) * 100, file=sys.stderr, bar_format=_BAR, disable=None) as bar, _Worker() as worker:
        idle_since = reported = time.monotonic()
        while (looked := time.monotonic()) and (state := _state(paths))["unfinished"]:
            took = time.monotonic() - looked
            ended = state["documents"] - state["unfinished"]
            bar.total = state["documents"] * 100
            bar.n = ended * 100 + state["progress"]
            message = f"{ended} of {state['documents']} documents"
            bar.set_description_str(message)
            if bar.disable and time.monotonic() - reported >= _REPORT_SECONDS:  # no terminal, so no bar
                reported = time.monotonic()
                sys.stderr.write(f"{message}\n")
                sys.stderr.flush()
            # A document is claimed by a live worker.
            if Document.objects.filter(status__in=Document.WORKING, heartbeat_at__gte=claims.stale_before()).exists():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= _PATIENCE_SECONDS:
                worker.work()
            time.sleep(max(_POLL_SECONDS, 10 * took))
        bar.n = bar.total = state["documents"] * 100
        bar.set_description_str(f"{state['documents']} of {state['documents']} documents")
    failed = Document.objects.filter(pk__in=list(paths)).exclude(status=Document.Status.READY).order_by("pk")
    return [f"{paths[document.pk]}: {document.error_message or document.status}" for document in failed]


def _state(ids: Iterable[int]) -> dict[str, int]:
    """Count documents and their attachments: all, the unfinished, and the sum of these ones' progress in percent."""
    known = below = set(ids)
    while below:
        rows = Attachment.objects.filter(mail__in=_array(below), document__isnull=False)
        below = set(rows.values_list("document", flat=True)) - known
        known = known | below
    # Counted in the database: loading thousands of documents would take processor time from the workers.
    unfinished = Q(status__in=Document.UNFINISHED)
    return Document.objects.filter(pk__in=_array(known)).aggregate(
        documents=Count("pk"),
        unfinished=Count("pk", filter=unfinished),
        progress=Sum("progress", filter=unfinished, default=0),
    )


def _array(ids: Iterable[int]) -> RawSQL:
    """Return ids as a single parameter, since compiling a statement with thousands of parameters takes seconds."""
    return RawSQL("SELECT unnest(%s::bigint[])", [list(ids)])


class _Worker:
    """Does the work of a worker in a thread, on request.

    At the end of the `with` block, even after Ctrl-C, it finishes its current work, which the interpreter's exit would
    interrupt.
    """

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def work(self) -> None:
        """Start working, unless it already is."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                work.work(_ROUND_SECONDS)
                self._over.wait(_POLL_SECONDS)
        finally:
            connection.close()


_BAR = "Reading: {percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]"
