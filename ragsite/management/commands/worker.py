"""Do the site's background work: read documents, compute vectors, clean up."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ragsite.runtime import startup


class Command(BaseCommand):
    """`manage.py worker`: run by `up`, or directly on a site with several machines."""

    help = "Do the site's background work, until SIGTERM or Ctrl-C. `up` runs it for you."
    requires_system_checks = []  # they run below, also in a child of `up`
    stealth_options = ("database_is_ready",)  # passed by `up`

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the data folder."""
        startup.add_data_folder(parser)

    def handle(self, *args: Any, database_is_ready: bool = False, **options: Any) -> None:
        """Work until stopped; if it can't start, print the reason and exit with code 1."""
        from ragsite.runtime import cluster

        try:
            if not database_is_ready:
                startup.check_settings()
                self.stdout.write(
                    "\n".join(
                        [*startup.notices(), *startup.expect_database(), "Ragsite's background worker is running."]
                    )
                )
                self.stdout.flush()
        except startup.CannotStart as error:
            raise CommandError(str(error)) from error
        cluster.run()
