"""Tests of removing expired data by command and task, and of keeping trees, pinned chats and running answers."""

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone
from django_q.models import Schedule

from conversations import access, queries, retention, schedules, services, tasks
from conversations.management.commands.backfill_parent_turns import link_turns
from conversations.models import ChatSession, Citation, ContextEntry, Message, ShareLink, TraceStep, Turn
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(owner: User) -> ChatSession:
    return make_session(owner, "Old talk")


def ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def aged(session: ChatSession, days: float, question: str = "Old?", **fields: Any) -> Turn:
    """Store a turn that is this many days old."""
    turn = make_turn(session, question, **fields).turn
    Turn.objects.filter(pk=turn.pk).update(created_at=ago(days))
    TraceStep.objects.filter(turn=turn).update(started_at=ago(days))
    ContextEntry.objects.create(session=session, turn=turn, type="chat", role="user", content=question)
    return turn


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("cleanup_conversations", *arguments, stdout=out)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_old_turns_are_removed_and_their_children_become_roots(session: ChatSession) -> None:
    root = aged(session, 40, "Root")
    left, right = aged(session, 35, "Left", parent=root), aged(session, 34, "Right", parent=root)
    young = [aged(session, 5, "Below left", parent=left), aged(session, 4, "Below right", parent=right)]
    last = aged(session, 1, "Last", parent=young[1])
    assert run("--days", "30")[:2] == ["Removed:", "3 old turns"]
    assert list(session.turns.order_by("id")) == [*young, last]
    assert list(session.turns.order_by("id").values_list("parent_turn_id", flat=True)) == [None, None, young[1].pk]
    assert [view.turn for view in queries.transcript(session)] == [young[1], last]
    assert queries.tree(session).siblings(young[0].pk) == [young[0].pk, young[1].pk]
    for model in (Message, Citation, TraceStep, ContextEntry):
        assert model._default_manager.count() == 3 * (2 if model is Message else 1)


def test_a_dry_run_counts_the_same_and_removes_nothing(session: ChatSession, owner: User) -> None:
    other = make_session(owner, "Emptied")
    for chat in (session, other):
        aged(chat, 40)
    aged(session, 1)
    gone = make_session(owner)
    services.delete_session(gone)
    ChatSession.objects.filter(pk=gone.pk).update(deleted_at=ago(31))
    ChatSession.objects.filter(pk=other.pk).update(created_at=ago(50), last_activity_at=ago(40))
    Message.objects.filter(role="assistant").update(heartbeat_at=ago(2))
    Session.objects.create(session_key="ran-out", session_data="", expire_date=ago(1))
    Session.objects.create(session_key="holds", session_data="", expire_date=ago(-1))
    before = (Turn.objects.count(), ChatSession.objects.count())
    would = run("--days", "30", "--dry-run")
    assert (Turn.objects.count(), ChatSession.objects.count()) == before
    assert would == [
        "Would be removed:", "2 old turns", "1 chats left without turns", "1 chats deleted long ago",
        "0 steps of old traces", "3 event logs of ended answers",
        "1 expired sign-ins",
    ]  # fmt: skip
    assert run("--days", "30") == ["Removed:", *would[1:-2], "1 event logs of ended answers", would[-1]]
    assert [row.session_key for row in Session.objects.all()] == ["holds"]
    assert not ChatSession.objects.filter(pk__in=[other.pk, gone.pk]).exists()
    assert run("--days", "30")[1:] == [f"0 {line.partition(' ')[2]}" for line in would[1:]]


def test_nothing_expires_unless_it_is_set(session: ChatSession, settings: Any) -> None:
    aged(session, 4000)
    assert retention.clean_up().turns == 0
    settings.CONVERSATION_EXPIRE_DAYS = 30
    assert retention.clean_up().turns == 1


def test_pinned_chats_keep_their_turns(session: ChatSession) -> None:
    services.set_pinned(session, True)
    aged(session, 400)
    assert retention.clean_up(30).turns == 0


def test_running_answer_is_kept(session: ChatSession) -> None:
    turn = aged(session, 400)
    Message.objects.filter(turn=turn, role="assistant").update(status="streaming", heartbeat_at=timezone.now())
    assert retention.clean_up(30).turns == 0
    Message.objects.filter(turn=turn, role="assistant").update(heartbeat_at=ago(400))
    assert retention.clean_up(30).turns == 1  # its process died long ago


def test_share_link_is_deleted_with_its_last_turn(session: ChatSession) -> None:
    old, young = aged(session, 40), aged(session, 1)
    links = [ShareLink.objects.create(session=session, last_turn=turn) for turn in (old, young)]
    retention.clean_up(30)
    assert list(ShareLink.objects.all()) == links[1:]


def test_emptied_chats_are_removed_and_new_ones_kept(session: ChatSession, owner: User) -> None:
    aged(session, 40)
    ChatSession.objects.filter(pk=session.pk).update(created_at=ago(41), last_activity_at=ago(40))
    fresh = make_session(owner)
    assert retention.clean_up(30).sessions == 1
    assert list(access.sessions(owner)) == [fresh]


@pytest.mark.parametrize(("days", "left"), [(29, 1), (31, 0)])
def test_deleted_chats_are_purged_with_their_related_rows(session: ChatSession, days: int, left: int) -> None:
    make_turn(session)
    services.delete_session(session)
    ChatSession.objects.filter(pk=session.pk).update(deleted_at=ago(days))
    assert retention.clean_up().purged == 1 - left
    assert Turn.objects.count() == left and Message.objects.count() == 2 * left


def test_traces_expire_separately(session: ChatSession, settings: Any) -> None:
    aged(session, 10), aged(session, 1)
    settings.TRACE_EXPIRE_DAYS = 7
    assert retention.clean_up().traces == 1
    assert Turn.objects.count() == 2 and TraceStep.objects.count() == 1


def test_logs_of_ended_answers_are_emptied(session: ChatSession) -> None:
    old, young = aged(session, 3), aged(session, 3)
    Message.objects.filter(turn=old).update(heartbeat_at=ago(1.1))
    Message.objects.filter(turn=young).update(heartbeat_at=ago(0.9))
    retention.clean_up()
    logs = {message.turn_id: message for message in Message.objects.filter(role="assistant")}
    assert logs[old.pk].stream_log == [] and logs[old.pk].content
    assert logs[young.pk].stream_log != []


def test_removal_takes_several_batches(session: ChatSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    parent: Turn | None = None
    for _ in range(5):
        parent = aged(session, 40, parent=parent)
    assert retention.clean_up(30).turns == 5 and not Turn.objects.exists()


@pytest.mark.parametrize("days", ["0", "-3", "36501", "99999999999"])
def test_invalid_days_are_refused(session: ChatSession, days: str) -> None:
    aged(session, 1)
    with pytest.raises(CommandError, match="from 1 to 36500"):
        run("--days", days)
    assert Turn.objects.exists()


def test_clean_up_is_scheduled_every_night(session: ChatSession, settings: Any) -> None:
    Schedule.objects.all().delete()
    for _ in range(2):
        schedules.register()
    schedule = Schedule.objects.get(name=schedules.CLEAN_UP)
    assert schedule.schedule_type == Schedule.DAILY and schedule.func == "conversations.tasks.clean_up"
    assert schedule.next_run is not None and timezone.now() < schedule.next_run < timezone.now() + timedelta(days=2)
    settings.CONVERSATION_EXPIRE_DAYS = 30
    aged(session, 40)
    assert tasks.clean_up()["turns"] == 1


# --- turns that were stored without parents ----------------------------------------------------------


def parents(session: ChatSession) -> list[int | None]:
    return list(session.turns.order_by("created_at", "id").values_list("parent_turn_id", flat=True))


def link(*arguments: str) -> str:
    out = StringIO()
    call_command("backfill_parent_turns", *arguments, stdout=out)
    return out.getvalue()


def test_turns_without_parents_are_linked_in_order_of_time(session: ChatSession) -> None:
    late, early, middle = aged(session, 1, "C"), aged(session, 9, "A"), aged(session, 5, "B")
    assert "2 turns in 1 chats would be linked" in link("--dry-run")
    assert parents(session) == [None, None, None]
    assert "2 turns in 1 chats linked" in link()
    assert parents(session) == [None, early.pk, middle.pk]
    assert [view.turn for view in queries.transcript(session)] == [early, middle, late]
    assert "0 turns in 0 chats linked" in link()


def test_repeated_question_becomes_a_version(session: ChatSession) -> None:
    first, again = aged(session, 9, "A"), aged(session, 8, "A")
    second, once_more = aged(session, 7, "B"), aged(session, 6, "B")
    last = aged(session, 5, "C")
    link()
    assert parents(session) == [None, None, again.pk, again.pk, once_more.pk]
    assert queries.tree(session).siblings(first.pk) == [first.pk, again.pk]
    assert [view.turn for view in queries.transcript(session, second.pk)] == [again, second]
    assert queries.transcript(session)[-1].turn == last


def test_existing_branches_are_not_changed(session: ChatSession, owner: User) -> None:
    root = aged(session, 9, "A")
    aged(session, 8, "B", parent=root)
    aged(session, 7, "Another beginning")
    other = make_session(owner)
    aged(other, 9, "A"), aged(other, 8, "B")
    assert link_turns([session.pk]) == {}
    assert parents(session) == [None, root.pk, None]
    assert link_turns() == {other.pk: 1}
