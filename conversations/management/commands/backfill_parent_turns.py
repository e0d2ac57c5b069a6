"""`manage.py backfill_parent_turns`: link turns that were stored without parents into a line by time."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from conversations import backfill


class Command(BaseCommand):
    """Links the turns of chats in which no turn has a parent, as those taken over from elsewhere."""

    help = (
        "Link the turns of chats in which no turn has a parent into a line by time. A question asked again stays "
        "beside the turn before it, as another version."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the sessions, and whether to count only."""
        parser.add_argument("--session", type=int, action="append", help="only this chat; may be repeated")
        parser.add_argument("--dry-run", action="store_true", help="tell what would be linked, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Link and report."""
        linked = backfill.link_turns(options["session"], dry_run=options["dry_run"])
        for session_id, count in linked.items():
            self.stdout.write(f"  chat {session_id}: {count} turns")
        words = "would be linked" if options["dry_run"] else "linked"
        self.stdout.write(f"{sum(linked.values())} turns in {len(linked)} chats {words}.")
