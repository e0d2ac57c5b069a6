"""Back up the site to one file, or check a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from ragsite.backup import archive, runs
from ragsite.backup.archive import BackupError
from ragsite.runtime import startup


class Command(BaseCommand):
    """`manage.py backup [FILE]`, also while the site runs; `manage.py backup --check FILE`."""

    help = (
        "Back up the site (database, documents, pictures, keys) to one file, also while it runs. Keep the file safe: "
        "it contains all documents, chats, password hashes and keys."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, and whether to check it instead."""
        startup.add_data_folder(parser)
        parser.add_argument(
            "file", nargs="?", metavar="FILE", help="the new file, or a folder for it (default: RAGSITE_BACKUP_DIR)"
        )
        parser.add_argument("--check", action="store_true", help="check that FILE is complete and unchanged")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the backup's path and contents; raises `CommandError` if it can't be made or isn't complete."""
        given = Path(options["file"]).expanduser().absolute() if options["file"] else None
        try:
            if options["check"]:
                if given is None:
                    raise CommandError(_("Name the backup to check."))
                path, manifest = given, archive.check(given)
                self.stdout.write(_("The backup is complete and unchanged: %(path)s") % {"path": path})
            else:
                path = given or runs.new_path()
                if path.is_dir():
                    path /= runs.new_path().name
                manifest = runs.make(path)
                self.stdout.write(_("The backup is complete: %(path)s") % {"path": path})
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            _("Ragsite %(version)s, %(made_at)s: %(rows)d rows in %(tables)d tables, %(files)d files, %(size)s.")
            % (archive.summary(manifest) | {"size": filesizeformat(path.stat().st_size)})
        )
        if manifest["lost"]:
            lost = _("%(count)d files were missing on the site before the backup, such as %(name)s.")
            self.stderr.write(lost % {"count": len(manifest["lost"]), "name": manifest["lost"][0]})
