"""Linking turns that were stored without parents."""

from collections.abc import Iterable
from itertools import pairwise

from django.db import transaction
from django.db.models import Count

from conversations.models import ChatSession, Message, Turn


def link_turns(session_ids: Iterable[int] | None = None, *, dry_run: bool = False) -> dict[int, int]:
    """Link the turns of each session into a line by time; return how many were linked, by session.

    Only sessions are touched in which no turn has a parent: where one has, turns without are branches that someone
    opened. A question that repeats the one before it is another version of that turn, and stays beside it.
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
    """Return the turns that get a parent, with it set."""
    asked = Message.objects.filter(turn__session_id=session_id, role=Message.Role.USER)
    questions = dict(asked.values_list("turn_id", "content"))
    turns = list(Turn.objects.filter(session_id=session_id).order_by("created_at", "id").only("id", "parent_turn"))
    for before, turn in pairwise(turns):
        question = questions.get(turn.pk)
        repeats = question is not None and question == questions.get(before.pk)
        turn.parent_turn_id = before.parent_turn_id if repeats else before.pk
    return [turn for turn in turns if turn.parent_turn_id is not None]
