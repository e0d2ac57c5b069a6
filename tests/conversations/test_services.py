"""Tests of sessions and feedback: titles, scope, deletion and restoring."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone, translation

from conversations import access, queries, services
from conversations.models import ChatSession, Feedback, Message, Turn
from tests import factories

pytestmark = pytest.mark.django_db


def make_turn(session: ChatSession, parent: Turn | None = None, question: str = "q", answer: str = "a") -> Turn:
    turn = Turn.objects.create(session=session, parent_turn=parent)
    Message.objects.create(turn=turn, role="user", content=question)
    Message.objects.create(turn=turn, role="assistant", content=answer)
    return turn


def test_new_sessions_get_different_titles(owner: User) -> None:
    sessions = [services.create_session(owner) for _ in range(2)]
    with translation.override("zh-hans"):
        sessions.append(services.create_session(owner))
        assert [str(each) for each in sessions] == ["新会话", "新会话1", "新会话2"]
    assert [each.name for each in sessions] == ["New chat", "New chat 1", "New chat 2"]
    services.rename_session(sessions[2], "New chat 1")
    sessions[1].delete()
    assert services.create_session(owner).name == "New chat 2"


def test_automatic_titles_are_shown_and_found_in_the_readers_language(owner: User) -> None:
    stored = ["New chat", "New chat 12", "新会话3"]  # the last one from an earlier release
    untitled = [ChatSession.objects.create(owner=owner, title=each, last_activity_at=timezone.now()) for each in stored]
    named = services.create_session(owner, "Chatty 新会话 12")

    def found(words: str) -> list[str]:
        return sorted(each.name for each in queries.search_sessions(owner, words))

    assert [each.name for each in untitled] == ["New chat", "New chat 12", "New chat 3"]
    assert found("CHAT") == ["Chatty 新会话 12", "New chat", "New chat 12", "New chat 3"]
    assert found("新会话") == [named.name] and found("12") == ["Chatty 新会话 12", "New chat 12"]
    with translation.override("zh-hans"):
        assert [each.name for each in untitled] == ["新会话", "新会话12", "新会话3"]
        assert found("新会话") == [named.name, "新会话", "新会话12", "新会话3"]
        assert found("新会话12") == ["新会话12"] and found("new") == []


def test_titles_are_unique_per_user_only(owner: User, stranger: User) -> None:
    assert services.create_session(owner).title == services.create_session(stranger).title


def test_given_title_is_kept(owner: User) -> None:
    session = services.create_session(owner, "  Switches ")
    services.note_answer(session.pk, "What is a port")
    session.refresh_from_db()
    assert (session.title, session.title_is_automatic) == ("Switches", False)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is a port?", "What is a port"),
        ("怎么恢复出厂设置？", "怎么恢复出厂设置"),
        ("How do I restore the factory settings of the nine port switch in the basement?",
         "How do I restore the factory settings of the…"),
    ],
)  # fmt: skip
def test_automatic_title_comes_from_the_first_question(owner: User, question: str, title: str) -> None:
    session = services.create_session(owner)
    services.note_answer(session.pk, services.title_from_question(question))
    services.note_answer(session.pk, "another question")
    session.refresh_from_db()
    assert session.title == title


def test_only_readable_bases_can_be_chosen(owner: User, stranger: User, colleague: User) -> None:
    mine, theirs, shared = (factories.make_knowledge_base(user) for user in (owner, stranger, colleague))
    factories.share(shared, owner)
    session = services.create_session(owner, knowledge_base_ids=[mine.pk, theirs.pk, shared.pk])
    assert set(session.knowledge_bases.all()) == {mine, shared}


def test_deleting_the_last_session_creates_a_new_one(owner: User) -> None:
    first, second = services.create_session(owner), services.create_session(owner)
    assert services.delete_session(second) is None
    fresh = services.delete_session(first)
    assert fresh is not None and list(access.sessions(owner)) == [fresh]


def test_only_the_owner_can_restore_a_session(owner: User, stranger: User) -> None:
    session = services.create_session(owner)
    services.delete_session(session)
    assert services.restore_session(stranger, session.pk) is None
    assert services.restore_session(owner, session.pk) == session
    assert session in access.sessions(owner)


def test_sessions_are_listed_by_newest_activity_and_pinned_first(owner: User) -> None:
    first, second, third = (services.create_session(owner) for _ in range(3))
    services.set_pinned(first, True)
    assert list(queries.session_list(owner)) == [first, third, second]


def test_sessions_are_found_by_words_of_any_message(owner: User) -> None:
    session = services.create_session(owner, "Hardware")
    make_turn(session, question="How many ports?", answer="There are nine.")
    services.create_session(owner, "Other")
    assert list(queries.search_sessions(owner, "ports nine")) == [session]
    assert list(queries.search_sessions(owner, "hardware")) == [session]
    assert not queries.search_sessions(owner, "ports missing")


def test_feedback_is_one_per_user_and_can_be_removed(owner: User) -> None:
    message = make_turn(services.create_session(owner)).messages.get(role="assistant")
    services.give_feedback(owner, message, 1)
    services.give_feedback(owner, message, -1, reason="wrong")
    assert list(Feedback.objects.values_list("value", "reason")) == [(-1, "wrong")]
    services.remove_feedback(owner, message)
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("value", [0, 2])
def test_invalid_feedback_value_is_refused(owner: User, value: int) -> None:
    message = make_turn(services.create_session(owner)).messages.get(role="assistant")
    with pytest.raises(ValueError, match="1"):
        services.give_feedback(owner, message, value)


def test_a_long_transcript_takes_few_queries(owner: User, django_assert_max_num_queries: object) -> None:
    session = services.create_session(owner)
    parent = None
    for number in range(60):
        parent = make_turn(session, parent, f"q{number}")
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        views = queries.transcript(session)
    assert [view.question.content for view in views] == [f"q{number}" for number in range(60)]


def test_branch_leads_through_a_turn_to_its_newest_descendant(owner: User) -> None:
    session = services.create_session(owner)
    root = make_turn(session)
    left = make_turn(session, root)
    right = make_turn(session, root)
    below_left = make_turn(session, left)
    assert [view.turn for view in queries.transcript(session, left.pk)] == [root, left, below_left]
    view = queries.turn_view(session, right.pk)
    assert view is not None
    assert (view.siblings, view.position, view.previous_sibling, view.next_sibling) == (
        [left.pk, right.pk], 2, left.pk, None
    )  # fmt: skip
