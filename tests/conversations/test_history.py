"""What a model is given of the past."""

import pytest
from django.contrib.auth.models import User

from conversations import services
from conversations.history import recent_turns, strip_thinking
from conversations.models import Message
from tests.conversations.test_services import make_turn

pytestmark = pytest.mark.django_db


def test_the_last_turns_of_the_branch_oldest_first(owner: User) -> None:
    session = services.create_session(owner)
    turns = [make_turn(session, question="q0")]
    for number in range(1, 8):
        turns.append(make_turn(session, turns[-1], f"q{number}", f"a{number}"))
    aside = make_turn(session, turns[2], "aside")
    assert [turn.question for turn in recent_turns(session.pk, turns[-1].pk, 5)] == ["q3", "q4", "q5", "q6", "q7"]
    assert [turn.question for turn in recent_turns(session.pk, aside.pk, 5)] == ["q0", "q1", "q2", "aside"]


@pytest.mark.parametrize("status", ["failed", "interrupted", "streaming"])
def test_incomplete_turns_are_dropped(owner: User, status: str) -> None:
    session = services.create_session(owner)
    first = make_turn(session, question="whole")
    broken = make_turn(session, first, "broken")
    Message.objects.filter(turn=broken, role="assistant").update(status=status)
    assert [turn.question for turn in recent_turns(session.pk, broken.pk, 5)] == ["whole"]


def test_thinking_never_comes_back(owner: User) -> None:
    session = services.create_session(owner)
    turn = make_turn(session, answer="<think>secret plan</think>The answer.")
    assert recent_turns(session.pk, turn.pk, 5)[0].answer == "The answer."
    assert strip_thinking("a <think>never ends") == "a"


def test_history_is_cached_by_branch_and_a_new_turn_is_seen(owner: User, django_assert_num_queries: object) -> None:
    session = services.create_session(owner)
    first = make_turn(session)
    recent_turns(session.pk, first.pk, 5)
    with django_assert_num_queries(0):  # type: ignore[operator]
        recent_turns(session.pk, first.pk, 5)
    second = make_turn(session, first, "new")
    assert [turn.question for turn in recent_turns(session.pk, second.pk, 5)] == ["q", "new"]


def test_without_a_parent_there_is_no_history(owner: User) -> None:
    session = services.create_session(owner)
    make_turn(session)
    assert recent_turns(session.pk, None, 5) == []
