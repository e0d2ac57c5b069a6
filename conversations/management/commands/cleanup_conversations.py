"""`manage.py cleanup_conversations`: remove what has outlived its time, as the workers do every night."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations import retention

_MOST_DAYS = 36_500  # as of the setting; a date before the year 1 can't be told


class Command(BaseCommand):
    """Removes old turns, deleted chats, old traces and the logs of ended answers, and tells how many."""

    help = "Remove old turns, chats deleted long ago, old traces and the event logs of ended answers."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the age in days, and whether to count only."""
        parser.add_argument("--days", type=int, help="age of turns to remove; the default is CONVERSATION_EXPIRE_DAYS")
        parser.add_argument("--dry-run", action="store_true", help="tell what would be removed, and remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Clean up and report."""
        days = options["days"]
        if days is not None and not 1 <= days <= _MOST_DAYS:
            raise CommandError(f"--days is a number of days from 1 to {_MOST_DAYS}.")
        removed = retention.clean_up(days, dry_run=options["dry_run"])
        self.stdout.write("Would be removed:" if options["dry_run"] else "Removed:")
        for count, what in (
            (removed.turns, "old turns"),
            (removed.sessions, "chats that are left without a turn"),
            (removed.purged, "chats deleted long ago"),
            (removed.traces, "steps of old traces"),
            (removed.logs, "event logs of ended answers"),
            (removed.sign_ins, "sign-ins that ran out"),
        ):
            self.stdout.write(f"  {count:>7} {what}")
