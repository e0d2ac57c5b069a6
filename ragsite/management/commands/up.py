"""Run the whole site with one command."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ragsite.runtime import startup
from ragsite.runtime.supervisor import Options, Supervisor


class Command(BaseCommand):
    """`manage.py up`: database, background tasks and web server until Ctrl-C."""

    help = "Run the whole site: database, background tasks and web server. Stop it with Ctrl-C."
    requires_system_checks = []  # the web server's process runs them while the database starts

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add where to listen, where the data are, and whether a first start makes the demo account."""
        startup.add_address(parser)
        startup.add_data_folder(parser)
        parser.add_argument("--no-demo", action="store_true", help="make no demo account and no sample documents")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until stopped; a reason not to start is one line and exit code 1."""
        wanted = Options(options["host"], options["port"], not options["no_demo"])
        try:
            Supervisor(wanted, self.stdout).run()
        except startup.CannotStart as error:
            raise CommandError(str(error)) from error
