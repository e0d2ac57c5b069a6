"""Tests of stopping answers whose user loses access to their sources."""

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from conversations.models import ChatSession, Message
from knowledge import services
from knowledge.models import KnowledgeBase, Membership
from ragsite.accounts.roles import Role, assign
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


def writing(session: ChatSession) -> Message:
    return make_turn(session, status="streaming", heartbeat_at=timezone.now())


def is_running(message: Message) -> bool:
    return Message.objects.get(pk=message.pk).status == "streaming"


def test_unsharing_stops_answers(owner: User, colleague: User, stranger: User) -> None:
    base, other = factories.make_knowledge_base(owner), factories.make_knowledge_base(colleague)
    for person in (colleague, stranger):
        factories.share(base, person)
    asks_all, asks_other = make_session(colleague), make_session(colleague)
    asks_other.knowledge_bases.add(other)
    ended, elsewhere = writing(asks_all), writing(asks_other)
    owners, strangers = writing(make_session(owner)), writing(make_session(stranger))
    services.remove_member(base, colleague.pk)
    assert not is_running(ended)
    assert is_running(elsewhere) and is_running(owners) and is_running(strangers)


def test_leaving_a_group_or_making_a_base_private_stops_answers(owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner, visibility="site")
    group = Group.objects.create(name="Pilots")
    Membership.objects.create(knowledge_base=base, group=group)
    colleague.groups.add(group)
    session = make_session(colleague)
    session.knowledge_bases.add(base)
    answer = writing(session)
    services.update_knowledge_base(base, visibility=KnowledgeBase.Visibility.PRIVATE)
    assert is_running(answer), "they have it by the group still"
    colleague.groups.remove(group)
    assert not is_running(answer)
    again = writing(session)
    services.update_knowledge_base(base, visibility=KnowledgeBase.Visibility.PRIVATE)
    assert not is_running(again)


def test_curators_keep_their_answers(owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner)
    factories.share(base, colleague)
    assign(colleague, Role.CURATOR)
    answer = writing(make_session(colleague))
    services.remove_member(base, colleague.pk)
    assert is_running(answer)


def test_deactivation_stops_answers(owner: User, colleague: User) -> None:
    ended, others = writing(make_session(owner)), writing(make_session(colleague))
    owner.is_active = False
    owner.save()
    assert not is_running(ended) and is_running(others)
