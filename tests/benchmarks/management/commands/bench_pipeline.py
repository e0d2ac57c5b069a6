"""`manage.py bench_pipeline`: the overhead of the pipeline, in time and in queries, node by node."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tests.benchmarks.conversations import overhead
from tests.benchmarks.retrieval.scratch import NoDatabase


class Command(BaseCommand):
    """Prints tables in Markdown."""

    help = "Measure whole turns with a model that answers at once, in a separate database beside the site's."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the number of conversations and turns."""
        parser.add_argument("--sessions", type=int, default=8, help="number of conversations (default: %(default)s)")
        parser.add_argument("--turns", type=int, default=12, help="turns in each (default: %(default)s)")

    def handle(self, *args: Any, sessions: int, turns: int, **options: Any) -> None:
        """Measure. Raises `CommandError` if a database isn't available."""
        if min(sessions, turns) < 1:
            raise CommandError("--sessions and --turns must be at least 1.")
        try:
            overhead.run(sessions, turns, self.stdout.write)
        except NoDatabase as error:
            raise CommandError(str(error)) from error
