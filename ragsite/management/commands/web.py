"""Serve the site's pages, API and WebSockets with one web process."""

import gc
import socket
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ragsite.runtime import startup


class Command(BaseCommand):
    """`manage.py web`: run by `up`, or directly on a site with several web processes."""

    help = "Serve the site as one web process, until SIGTERM or Ctrl-C. `up` runs it for you."
    requires_system_checks = []  # they run below, also in a child of `up`
    # Passed by `up`: its socket, and a function that waits until the database is ready.
    stealth_options = ("listener", "wait_for_database")

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the address and the data folder."""
        startup.add_address(parser)
        startup.add_data_folder(parser)

    def handle(
        self,
        *args: Any,
        host: str,
        port: int,
        listener: socket.socket | None = None,
        wait_for_database: Callable[[], object] | None = None,
        **options: Any,
    ) -> None:
        """Serve until stopped; if it can't start, print the reason and exit with code 1."""
        from ragsite.runtime import http_server, static_files

        gc.disable()  # as `manage.py` does while it loads; `serve` enables it
        try:
            startup.check_settings()
            if not settings.DEBUG:
                static_files.prepare()
            with listener or startup.listen(host, port) as ours:
                url = startup.address(host, ours)
                http_server.serve(ours, wait_for_database or (lambda: self._get_ready(url, ours)))
        except startup.CannotStart as error:
            raise CommandError(str(error)) from error

    def _get_ready(self, url: str, listener: socket.socket) -> None:
        warnings = [*startup.notices(listener), *startup.expect_database()]
        self.stdout.write("\n".join([*warnings, f"Ragsite's web process is listening at {url}"]))
        self.stdout.flush()
