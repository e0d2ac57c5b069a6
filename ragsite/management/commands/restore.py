"""Restore a site from a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from ragsite.backup import archive, restoring
from ragsite.backup.archive import BackupError
from ragsite.runtime import startup


class Command(BaseCommand):
    """`manage.py restore FILE [--replace]`, while the site is stopped."""

    help = (
        "Restore a backup to an empty data folder and database, embedded or that of DATABASE_URL. It is checked before "
        "anything changes, and migrated to this version. The site must be stopped."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, and whether an existing site may be replaced."""
        startup.add_data_folder(parser)
        parser.add_argument("file", metavar="FILE", help="a file made by `manage.py backup`")
        parser.add_argument("--replace", action="store_true", help="delete the site that is there now")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was restored; raises `CommandError`, with nothing changed, if it can't be."""
        path = Path(options["file"]).expanduser().absolute()
        try:
            manifest = restoring.restore(path, replace=options["replace"], say=self._say)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self._say(
            _("Restored the site of %(made_at)s: %(rows)d rows in %(tables)d tables, %(files)d files.")
            % archive.summary(manifest)
        )
        if missing := restoring.missing_variables(manifest):
            message = _("The site was run with these variables, which aren't set here: %(names)s.")
            self._say(message % {"names": ", ".join(missing)})
        self._say(_("Start it with `manage.py up`, and sign in as before."))

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
