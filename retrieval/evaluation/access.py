"""Access to question sets and their runs, for both the pages and the API.

A set can be viewed, run and exported by its owner, as long as they may read its knowledge base, and by the owner and
editors of the base, whose search it measures. It can be changed by its own owner and the base's owner. Other readers of
the base don't see it, since its questions may come from private conversations. Users can create sets on any base that
they may read.
"""

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from knowledge import access
from knowledge.access import Actor
from retrieval.evaluation.models import EvaluationRun, EvaluationSet


def visible_sets(user: Actor) -> QuerySet[EvaluationSet]:
    """Return the sets that the user may view, run and export."""
    own = Q(owner_id=access.key(user), knowledge_base__in=access.readable(user))
    return EvaluationSet.objects.filter(own | Q(knowledge_base__in=access.editable(user)))


def alterable_sets(user: Actor) -> QuerySet[EvaluationSet]:
    """Return the sets that the user may rename, edit and delete, with their runs."""
    own = Q(owner_id=access.key(user), knowledge_base__in=access.readable(user))
    return EvaluationSet.objects.filter(own | Q(knowledge_base__in=access.owned(user)))


def visible_runs(user: Actor) -> QuerySet[EvaluationRun]:
    """Return the runs of the sets that the user may see."""
    return EvaluationRun.objects.filter(evaluation_set__in=visible_sets(user))


def get_set(user: Actor, pk: int) -> EvaluationSet:
    """Return a set that the user may see, with its base and owner, or raise `Http404`."""
    found = visible_sets(user).select_related("knowledge_base", "owner").filter(pk=pk).first()
    if found is None:
        raise _nothing()
    return found


def get_alterable_set(user: Actor, pk: int) -> EvaluationSet:
    """Return a set that the user may change; raises `Http404`, or `PermissionDenied` if they may only see it."""
    found = get_set(user, pk)
    if not alterable_sets(user).filter(pk=pk).exists():
        raise _not_yours()
    return found


def get_run(user: Actor, pk: int) -> EvaluationRun:
    """Return a run that the user may see, with its set and base, or raise `Http404`."""
    found = visible_runs(user).select_related("evaluation_set__knowledge_base").filter(pk=pk).first()
    if found is None:
        raise _nothing()
    return found


def get_alterable_run(user: Actor, pk: int) -> EvaluationRun:
    """Return a run that the user may delete; raises `Http404`, or `PermissionDenied` if they may only see it."""
    found = get_run(user, pk)
    if not alterable_sets(user).filter(pk=found.evaluation_set_id).exists():
        raise _not_yours()
    return found


def _nothing() -> Http404:
    return Http404(_("Not found, or not shared with you."))


def _not_yours() -> PermissionDenied:
    return PermissionDenied(_("Only the owner of the question set or of its knowledge base can do this."))
