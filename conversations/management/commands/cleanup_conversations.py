"""`manage.py cleanup_conversations`: remove expired data, as the workers do every night."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations import retention

_MOST_DAYS = 36_500  # the limit of the setting too; dates before the year 1 are invalid


class Command(BaseCommand):
    """Removes old turns, deleted chats, old traces, event logs and expired sign-ins, and reports how many."""

    help = "Remove old turns, chats deleted long ago, old traces, event logs of ended answers and expired sign-ins."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for the age and for a dry run."""
        parser.add_argument("--days", type=int, help="remove turns older than this; default: CONVERSATION_EXPIRE_DAYS")
        parser.add_argument("--dry-run", action="store_true", help="report what would be removed without removing it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Clean up and report."""
        days = options["days"]
        if days is not None and not 1 <= days <= _MOST_DAYS:
            raise CommandError(f"--days must be a number from 1 to {_MOST_DAYS}.")
        removed = retention.clean_up(days, dry_run=options["dry_run"])
        self.stdout.write("Would be removed:" if options["dry_run"] else "Removed:")
        for count, what in (
            (removed.turns, "old turns"),
            (removed.sessions, "chats left without turns"),
            (removed.purged, "chats deleted long ago"),
            (removed.traces, "steps of old traces"),
            (removed.logs, "event logs of ended answers"),
            (removed.sign_ins, "expired sign-ins"),
        ):
            self.stdout.write(f"  {count:>7} {what}")
