"""Access to question sets and runs."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from knowledge.models import KnowledgeBase
from retrieval.evaluation import access, sets
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def theirs(base: KnowledgeBase, colleague: User) -> EvaluationSet:
    """A set owned by the colleague, who may read the owner's base."""
    factories.share(base, colleague)
    return sets.create_set(colleague, base, "Theirs")


def sees(user: User | AnonymousUser, evaluation_set: EvaluationSet) -> bool:
    run = EvaluationRun.objects.create(evaluation_set=evaluation_set)
    seen = access.visible_sets(user).filter(pk=evaluation_set.pk).exists()
    assert access.visible_runs(user).filter(pk=run.pk).exists() == seen
    for get, pk in ((access.get_set, evaluation_set.pk), (access.get_run, run.pk)):
        try:
            assert get(user, pk).pk == pk and seen
        except Http404:
            assert not seen
    return seen


def alters(user: User | AnonymousUser, evaluation_set: EvaluationSet) -> bool:
    run = EvaluationRun.objects.create(evaluation_set=evaluation_set)
    may = access.alterable_sets(user).filter(pk=evaluation_set.pk).exists()
    for get, pk in ((access.get_alterable_set, evaluation_set.pk), (access.get_alterable_run, run.pk)):
        try:
            assert get(user, pk).pk == pk and may
        except (Http404, PermissionDenied):
            assert not may
    return may


def test_both_owners_may_view_and_change_a_set(theirs: EvaluationSet, owner: User, colleague: User) -> None:
    for user in (owner, colleague):
        assert sees(user, theirs) and alters(user, theirs)


def test_an_editor_of_the_base_may_view_a_set(theirs: EvaluationSet, base: KnowledgeBase, stranger: User) -> None:
    factories.share(base, stranger, "editor")
    assert sees(stranger, theirs) and not alters(stranger, theirs)
    with pytest.raises(PermissionDenied):
        access.get_alterable_set(stranger, theirs.pk)


def test_another_reader_of_the_base_may_not(theirs: EvaluationSet, base: KnowledgeBase, stranger: User) -> None:
    factories.share(base, stranger)
    assert not sees(stranger, theirs) and not alters(stranger, theirs)
    KnowledgeBase.objects.update(visibility="site")
    assert not sees(stranger, theirs)


def test_strangers_and_anonymous_users_see_nothing(theirs: EvaluationSet, stranger: User) -> None:
    for user in (stranger, AnonymousUser()):
        assert not sees(user, theirs) and not alters(user, theirs)


def test_losing_access_to_the_base_loses_the_set(theirs: EvaluationSet, base: KnowledgeBase, colleague: User) -> None:
    base.memberships.all().delete()
    assert not sees(colleague, theirs) and not alters(colleague, theirs)
