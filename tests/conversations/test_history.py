"""Tests of the history that is sent to models."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from conversations import services
from conversations.history import CACHE_SECONDS, branch_of, recent_turns, strip_markers
from conversations.models import ChatSession, ContextEntry, Message, Turn
from tests.conversations.test_services import make_turn

pytestmark = pytest.mark.django_db

Queries = Callable[[int], AbstractContextManager[None]]


@pytest.fixture(autouse=True)
def _no_cache() -> None:
    cache.clear()


def line(session: ChatSession, count: int) -> list[Turn]:
    """Store consecutive turns: q0/a0, q1/a1, …"""
    turns: list[Turn] = []
    for number in range(count):
        turns.append(make_turn(session, turns[-1] if turns else None, f"q{number}", f"a{number}"))
    return turns


def recent(session: ChatSession, leaf: Turn | None, limit: int = 5) -> list[str]:
    branch = branch_of(session.pk, leaf.pk if leaf else None)
    return [turn.question for turn in recent_turns(session.pk, branch, limit)]


def test_last_turns_of_the_branch_are_oldest_first(owner: User) -> None:
    session = services.create_session(owner)
    turns = line(session, 8)
    aside = make_turn(session, turns[2], "aside")
    assert recent(session, turns[-1]) == ["q3", "q4", "q5", "q6", "q7"]
    assert recent(session, aside) == ["q0", "q1", "q2", "aside"]
    assert branch_of(session.pk, aside.pk) == [turn.pk for turn in (*turns[:3], aside)]


def test_branch_of_another_session_is_empty(owner: User) -> None:
    first, second = services.create_session(owner), services.create_session(owner)
    turn = make_turn(first)
    assert branch_of(second.pk, turn.pk) == []


def test_at_most_twenty_messages_are_read(owner: User) -> None:
    session = services.create_session(owner)
    turns = line(session, 12)
    Message.objects.filter(turn__in=turns[4:], role="assistant").update(status="failed")
    assert recent(session, turns[-1]) == ["q2", "q3"]
    assert recent(session, turns[3], limit=100) == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("status", ["failed", "interrupted", "streaming"])
def test_incomplete_turns_are_dropped(owner: User, status: str) -> None:
    session = services.create_session(owner)
    whole, broken = line(session, 2)
    Message.objects.filter(turn=broken, role="assistant").update(status=status)
    assert recent(session, broken) == ["q0"]
    assert whole.pk


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_turns_without_a_question_or_an_answer_are_dropped(owner: User, role: str) -> None:
    session = services.create_session(owner)
    _whole, half = line(session, 2)
    Message.objects.filter(turn=half, role=role).update(content="<think>only thought</think> ")
    assert recent(session, half) == ["q0"]
    Message.objects.filter(turn=half, role=role).delete()
    assert recent(session, half) == ["q0"]


def test_thinking_is_removed(owner: User) -> None:
    session = services.create_session(owner)
    for tag in ("think", "thinking", "thought"):
        turn = make_turn(session, answer=f"<{tag}>secret plan</{tag}>The answer.")
        assert recent_turns(session.pk, [turn.pk], 5)[0].answer == "The answer."


def test_markers_of_earlier_answers_are_removed() -> None:
    assert strip_markers(
        "Nine ports [1][2]. 默认关闭【3】。\nUse `a[1]`:\n```py\nb[2]\n```\nand [x](y) ![3](/p/1) [12]"
    ) == ("Nine ports. 默认关闭。\nUse `a[1]`:\n```py\nb[2]\n```\nand [x](y) ![3](/p/1)")


def test_models_get_the_context_entries_instead_of_the_messages(owner: User) -> None:
    session = services.create_session(owner)
    turns = line(session, 2)
    for role, text in (("user", "asked"), ("assistant", "Model | Ports\n--- | ---\nTL-SE2109 | 9 [1]")):
        ContextEntry.objects.create(session=session, turn=turns[0], type="chat", role=role, content=text)
    ContextEntry.objects.create(session=session, turn=turns[1], type="summary", role="system", content="a summary")
    past = recent_turns(session.pk, [turn.pk for turn in turns], 5)
    assert [(turn.question, turn.answer) for turn in past] == [
        ("asked", "Model | Ports\n--- | ---\nTL-SE2109 | 9"),
        ("q1", "a1"),
    ]


class TestCache:
    """The cache: five minutes, one entry per session, invalidated by changes."""

    def test_texts_are_read_once(self, owner: User, django_assert_num_queries: Queries) -> None:
        session = services.create_session(owner)
        turns = line(session, 3)
        branch = branch_of(session.pk, turns[-1].pk)
        first = recent_turns(session.pk, branch, 5)
        with django_assert_num_queries(1):  # ids and states, to check that nothing has changed
            assert recent_turns(session.pk, branch, 5) == first

    def test_cache_expires_after_five_minutes(self, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
        kept: list[float] = []
        monkeypatch.setattr(cache, "set", lambda key, value, seconds: kept.append(seconds))
        session = services.create_session(owner)
        recent(session, make_turn(session))
        assert kept == [CACHE_SECONDS] == [300]

    def test_new_turn_invalidates_the_cache(self, owner: User) -> None:
        session = services.create_session(owner)
        (first,) = line(session, 1)
        assert recent(session, first) == ["q0"]
        second = make_turn(session, first, "new")
        assert recent(session, second) == ["q0", "new"]
        assert recent(session, first) == ["q0"]

    def test_siblings_are_not_mixed(self, owner: User) -> None:
        session = services.create_session(owner)
        (root,) = line(session, 1)
        left, right = make_turn(session, root, "left"), make_turn(session, root, "right")
        assert recent(session, left) == ["q0", "left"]
        assert recent(session, right) == ["q0", "right"]
        assert recent(session, left) == ["q0", "left"]

    def test_changed_answer_invalidates_the_cache(self, owner: User) -> None:
        session = services.create_session(owner)
        (turn,) = line(session, 1)
        answer = Message.objects.filter(turn=turn, role="assistant")
        answer.update(status="interrupted", last_seq=4)
        assert recent(session, turn) == []
        answer.update(status="completed", last_seq=9, content="whole")
        assert recent(session, turn) == ["q0"]

    def test_turns_removed_by_retention_are_not_cached(self, owner: User) -> None:
        session = services.create_session(owner)
        turns = line(session, 3)
        assert recent(session, turns[-1]) == ["q0", "q1", "q2"]
        turns[0].delete()
        assert recent(session, turns[-1]) == ["q1", "q2"]

    def test_removed_turn_is_left_out_of_a_branch_read_before(self, owner: User) -> None:
        session = services.create_session(owner)
        turns = line(session, 2)
        branch = branch_of(session.pk, turns[-1].pk)
        recent_turns(session.pk, branch, 5)
        turns[0].delete()
        assert [turn.question for turn in recent_turns(session.pk, branch, 5)] == ["q1"]


def test_without_a_parent_there_is_no_history(owner: User) -> None:
    session = services.create_session(owner)
    make_turn(session)
    assert recent(session, None) == []


def test_whitespace_is_processed_quickly() -> None:
    assert strip_markers("a" + " \t" * 100_000 + "[1]b") == "ab"
