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
        """Add the address, the data folder, and whether to create the demo account on the first start."""
        startup.add_address(parser)
        startup.add_data_folder(parser)
        parser.add_argument(
            "--no-demo", action="store_true", help="don't create the demo account and the sample documents"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until stopped; if the site can't start, print the reason in one line and exit with code 1."""
        supervisor = Supervisor(Options(options["host"], options["port"], not options["no_demo"]), self.stdout)
        try:
            supervisor.run()
        except startup.CannotStart as error:
            raise CommandError(str(error)) from error
