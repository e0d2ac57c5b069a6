"""`manage.py bench_stream`: the cost of streams under load, compared with a bare relay, and the delay of tokens."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tests.benchmarks.conversations.streaming import measuring
from tests.benchmarks.retrieval.scratch import NoDatabase


class Command(BaseCommand):
    """Prints a table in Markdown."""

    help = "Measure streams over WebSockets and server-sent events, in a separate database beside the site's."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the ways, the numbers of streams and the duration."""
        parser.add_argument(
            "--streams", default="1,10,50,100,200", help="numbers of simultaneous streams (default: %(default)s)"
        )
        parser.add_argument("--ways", default=",".join(measuring.WAYS), help="ways to stream (default: %(default)s)")
        parser.add_argument("--seconds", type=float, default=6.0, help="duration of each level (default: %(default)s)")
        parser.add_argument(
            "--rate", type=float, default=50.0, help="tokens per second of each stream (default: %(default)s)"
        )

    def handle(self, *args: Any, streams: str, ways: str, seconds: float, rate: float, **options: Any) -> None:
        """Measure. Raises `CommandError` if something can't be measured."""
        try:
            levels = tuple(int(level) for level in streams.split(","))
        except ValueError:
            levels = ()
        chosen = tuple(ways.split(","))
        if not levels or min(levels) < 1 or not set(chosen) <= set(measuring.WAYS) or min(seconds, rate) <= 0:
            raise CommandError(
                "--streams must be at least 1, --ways some of " + ", ".join(measuring.WAYS)
                + ", --seconds and --rate greater than 0."
            )  # fmt: skip
        try:
            measuring.run(measuring.Plan(chosen, levels, seconds, rate), self.stdout.write)
        except (NoDatabase, TimeoutError) as error:
            raise CommandError(str(error)) from error
