"""`manage.py bench_admin`: the times and queries of the admin's lists on a site with many messages."""

from typing import Any

from django.contrib import admin
from django.core.management.base import BaseCommand, CommandError, CommandParser

from tests.benchmarks.conversations.administration import measuring
from tests.benchmarks.retrieval.scratch import NoDatabase


class Command(BaseCommand):
    """Prints tables in Markdown."""

    help = "Measure every list of the admin, in a separate database beside the site's."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the amount of data and the lists to measure."""
        parser.add_argument(
            "--messages", type=int, default=100_000, help="messages in the database (default: %(default)s)"
        )
        parser.add_argument("--lists", default="", metavar="APP.MODEL,…", help="lists to measure (default: all)")
        parser.add_argument(
            "--rounds",
            type=int,
            default=3,
            help="openings of each page, of which the best counts (default: %(default)s)",
        )
        parser.add_argument("--every", action="store_true", help="print every page, not only slow ones")
        parser.add_argument("--keep", action="store_true", help="keep the database for the next run")

    def handle(self, *args: Any, messages: int, lists: str, rounds: int, every: bool, keep: bool, **rest: Any) -> None:
        """Measure. Raises `CommandError` if something can't be measured."""
        chosen = tuple(name for name in lists.lower().split(",") if name)
        known = {model._meta.label_lower for model in admin.site._registry}
        if unknown := set(chosen) - known:
            raise CommandError(f"There is no list {sorted(unknown)[0]}; choose from: {', '.join(sorted(known))}.")
        if min(messages, rounds) < 1:
            raise CommandError("--messages and --rounds must be at least 1.")
        try:
            measuring.run(measuring.Plan(messages, chosen, rounds, every, keep), self.stdout.write)
        except NoDatabase as error:
            raise CommandError(str(error)) from error
