"""`manage.py bench_start`: the time until a site responds, and its idle memory."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tests.benchmarks.ragsite import starting
from tests.site import ROOT


class Command(BaseCommand):
    """Prints a table in Markdown."""

    help = "Measure how long a site takes to start on an empty folder and again, and its memory, in separate folders."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the number of runs, and another checkout to alternate with."""
        parser.add_argument(
            "--runs", type=int, default=5, help="number of runs; medians are shown (default: %(default)s)"
        )
        parser.add_argument(
            "--rest", type=float, default=10.0, help="seconds until memory is measured (default: %(default)s)"
        )
        parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, to start alternately")

    def handle(self, *args: Any, runs: int, rest: float, against: Path | None, **options: Any) -> None:
        """Measure. Raises `CommandError` if something can't be measured."""
        if runs < 1 or rest < 0:
            raise CommandError("--runs must be at least 1, --rest at least 0.")
        if against and not (against / "manage.py").is_file():
            raise CommandError(f"There is no manage.py in {against}.")
        starting.run([ROOT, *([against.resolve()] if against else [])], runs, rest, self.stdout.write)
