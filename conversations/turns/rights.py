"""Stops running answers whose user loses access to their sources.

These are signal receivers, so every way of removing access is covered. The affected answers are looked up once the
change is committed, and end as if the user had stopped them.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from conversations import turn_store
from conversations.models import Message
from knowledge import access
from knowledge.models import KnowledgeBase, Membership


def user_saved(sender: Any, instance: User, created: bool, **kwargs: Any) -> None:
    """Stop the answers of a user who was deactivated."""
    if not created and not instance.is_active:
        transaction.on_commit(partial(turn_store.stop_answers_of, [instance.pk]))


def share_deleted(sender: Any, instance: Membership, **kwargs: Any) -> None:
    """Stop the answers of users with whom a knowledge base is no longer shared."""
    transaction.on_commit(partial(_end, instance.knowledge_base_id))


def base_saved(sender: Any, instance: KnowledgeBase, created: bool, **kwargs: Any) -> None:
    """Stop the answers of users who lose access to a knowledge base that becomes private."""
    if not created and instance.visibility == KnowledgeBase.Visibility.PRIVATE:
        transaction.on_commit(partial(_end, instance.pk))


def groups_changed(
    sender: Any, instance: User | Group, action: str, pk_set: Collection[int] | None, **kwargs: Any
) -> None:
    """Stop the answers of users who left a group with shared knowledge bases."""
    if action not in ("post_remove", "post_clear"):
        return
    shared = Membership.objects.filter(group__isnull=False)
    if pk_set is not None:
        groups = [instance.pk] if isinstance(instance, Group) else pk_set
        shared = shared.filter(group_id__in=groups)
    for base_id in shared.values_list("knowledge_base_id", flat=True).distinct():
        transaction.on_commit(partial(_end, base_id))


def _end(base_id: int) -> None:
    """Stop the running answers of users who may not read a knowledge base, if the answers may be based on it."""
    running = Message.objects.filter(status=Message.Status.STREAMING)
    owners = User.objects.filter(pk__in=running.values("turn__session__owner_id"))
    lost = [user.pk for user in owners if not access.readable(user).filter(pk=base_id).exists()]
    if lost:
        turn_store.stop_answers_of(lost, base_id)
