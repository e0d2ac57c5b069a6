"""`manage.py bench_start`: the time until a site responds, and its idle memory."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tests.benchmarks.ragsite import starting
from tests.site import ROOT


class Command(BaseCommand):
    """Prints a table in Markdown."""

    help = "Measure the start of a site on an empty folder and again, and its memory, on folders of its own."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the number of runs, and another checkout to alternate with."""
        parser.add_argument("--runs", type=int, default=5, help="whose medians are shown (%(default)s)")
        parser.add_argument("--rest", type=float, default=10.0, help="seconds until memory is read (%(default)s)")
        parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout of the site's code")

    def handle(self, *args: Any, runs: int, rest: float, against: Path | None, **options: Any) -> None:
        """Measure. Raises `CommandError` if something can't be measured."""
        if runs < 1 or rest < 0:
            raise CommandError("--runs takes a whole number from 1, --rest a number from 0.")
        if against and not (against / "manage.py").is_file():
            raise CommandError(f"There is no manage.py in {against}.")
        starting.run([ROOT, *([against.resolve()] if against else [])], runs, rest, self.stdout.write)
