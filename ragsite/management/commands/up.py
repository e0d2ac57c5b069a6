"""Run the whole site with one command."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ragsite.supervisor import CannotStart, Options, Supervisor


class Command(BaseCommand):
    """`manage.py up`: database, background tasks and web server until Ctrl-C."""

    help = "Run the whole site: database, background tasks and web server. Stop it with Ctrl-C."
    requires_system_checks = []  # the web server's process runs them while the database starts

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add where to listen, where the data are, and whether a first start makes the demo account."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on, 0 for any free one")
        parser.add_argument("--no-demo", action="store_true", help="make no demo account and no sample documents")
        parser.add_argument("--data-dir", metavar="DIR", help="where all data are kept; read by manage.py itself")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until stopped; a reason not to start is one line and exit code 1."""
        wanted = Options(options["host"], options["port"], not options["no_demo"])
        try:
            Supervisor(wanted, self.stdout).run()
        except CannotStart as error:
            raise CommandError(str(error)) from error
