"""`manage.py backfill_parent_turns`: link turns that were stored without parents in order of time."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import Count

from conversations.models import ChatSession, Message, Turn


class Command(BaseCommand):
    """Links the turns of chats in which no turn has a parent, such as chats imported from another system."""

    help = (
        "Link the turns of chats in which no turn has a parent, each to the one before it. A repeated question becomes "
        "another version of the turn before it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for the chats and for a dry run."""
        parser.add_argument("--session", type=int, action="append", help="link only this chat; may be repeated")
        parser.add_argument("--dry-run", action="store_true", help="report what would be linked without changing it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Link and report."""
        linked = link_turns(options["session"], dry_run=options["dry_run"])
        for session_id, count in linked.items():
            self.stdout.write(f"  chat {session_id}: {count} turns")
        words = "would be linked" if options["dry_run"] else "linked"
        self.stdout.write(f"{sum(linked.values())} turns in {len(linked)} chats {words}.")


def link_turns(session_ids: Iterable[int] | None = None, *, dry_run: bool = False) -> dict[int, int]:
    """Link each turn of the sessions to the one before it; return how many were linked, by session.

    Sessions in which any turn has a parent are skipped, because their other turns are roots that a user created. A
    question that repeats the one before it becomes a sibling of that turn.
    """
    sessions = ChatSession.objects.alias(parents=Count("turns__parent_turn"), count=Count("turns"))
    sessions = sessions.filter(parents=0, count__gt=1)
    if session_ids is not None:
        sessions = sessions.filter(pk__in=list(session_ids))
    linked = {}
    for pk in sessions.order_by("id").values_list("pk", flat=True):
        turns = _line(pk)
        if turns:
            linked[pk] = len(turns)
        if not dry_run:
            with transaction.atomic():
                Turn.objects.bulk_update(turns, ["parent_turn"])
    return linked


def _line(session_id: int) -> list[Turn]:
    """Return the turns that get a parent, with the parent set but not saved."""
    asked = Message.objects.filter(turn__session_id=session_id, role=Message.Role.USER)
    questions = dict(asked.values_list("turn_id", "content"))
    turns = list(Turn.objects.filter(session_id=session_id).order_by("created_at", "id").only("id", "parent_turn"))
    for before, turn in pairwise(turns):
        question = questions.get(turn.pk)
        repeats = question is not None and question == questions.get(before.pk)
        turn.parent_turn_id = before.parent_turn_id if repeats else before.pk
    return [turn for turn in turns if turn.parent_turn_id is not None]
