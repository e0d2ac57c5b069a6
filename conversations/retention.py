"""Removal of expired data: old turns, deleted chats, traces, event logs, sign-ins and audit entries.

The oldest turns of a chat are removed first, so the rest stays intact: the children of removed turns become its roots.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations import turn_store
from conversations.models import ChatSession, Message, TraceStep, Turn
from ragsite.audit import log
from ragsite.site_settings.config import config, refresh

# Turns or chats removed in one transaction.
BATCH = 200
# How long the events of an ended answer are kept for clients that reconnect in the middle of it.
LOG_KEPT = timedelta(days=1)


@dataclass(slots=True)
class Removed:
    """Counts of removed rows. `sessions` are chats left without turns, `purged` chats that a user had deleted."""

    turns: int = 0
    sessions: int = 0
    purged: int = 0
    traces: int = 0
    logs: int = 0
    sign_ins: int = 0
    audit: int = 0


def clean_up(days: int | None = None, *, dry_run: bool = False) -> Removed:
    """Remove expired data; `days` overrides `CONVERSATION_EXPIRE_DAYS`.

    Pinned chats keep their turns, and turns whose answer is still being written are kept. A `dry_run` only counts.
    """
    now = timezone.now()
    removed = Removed()
    refresh()
    turn_store.interrupt_stale()
    expire_days = config.CONVERSATION_EXPIRE_DAYS if days is None else days
    if expire_days is not None:
        before = now - timedelta(days=expire_days)
        running = Message.objects.filter(status=Message.Status.STREAMING).values("turn_id")
        turns = Turn.objects.filter(created_at__lt=before, session__pinned=False).exclude(pk__in=running)
        # Deleted chats can be restored until they are purged; others are removed with their last turn.
        emptied = ChatSession.objects.filter(
            pinned=False, status=ChatSession.Status.ACTIVE, last_activity_at__lt=before, created_at__lt=before
        )
        if dry_run:
            removed.turns = turns.count()
            left = Turn.objects.exclude(pk__in=turns).values("session_id")
            removed.sessions = emptied.exclude(pk__in=left).count()
        else:
            removed.turns = sum(_in_batches(turns))
            removed.sessions = sum(_in_batches(emptied.filter(turns=None)))
    purged = ChatSession.objects.filter(
        status=ChatSession.Status.DELETED, deleted_at__lt=now - timedelta(days=config.PURGE_AFTER_DAYS)
    )
    removed.purged = purged.count() if dry_run else sum(_in_batches(purged))
    if config.TRACE_EXPIRE_DAYS is not None:
        before = now - timedelta(days=config.TRACE_EXPIRE_DAYS)
        traces = TraceStep.objects.filter(started_at__lt=before)
        removed.traces = traces.count() if dry_run else traces.delete()[0]
    logs = Message.objects.filter(Q(heartbeat_at__lt=now - LOG_KEPT), ~Q(status=Message.Status.STREAMING))
    removed.logs = logs.count() if dry_run else logs.update(stream_log=[], heartbeat_at=None)
    sign_ins = Session.objects.filter(expire_date__lt=now)
    removed.sign_ins = sign_ins.count() if dry_run else sign_ins.delete()[0]
    entries = log.expired()
    removed.audit = entries.count() if dry_run else entries.delete()[0]
    return removed


def _in_batches(rows: QuerySet[Turn] | QuerySet[ChatSession]) -> Iterator[int]:
    """Delete rows and their related rows in batches; yield the size of each batch."""
    while True:
        batch = list(rows.order_by("id").values_list("pk", flat=True)[:BATCH])
        if not batch:
            return
        rows.model._default_manager.filter(pk__in=batch).delete()
        yield len(batch)
