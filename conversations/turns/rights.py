"""Ends answers whose person has lost the right to what they are written from, while they are being written.

Receivers of signals, so that it doesn't matter which page, program or command took the right away. What is to end is
looked up once the change is committed; answers end as if their person had stopped them.
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
    """End the answers of someone who was deactivated."""
    if not created and not instance.is_active:
        transaction.on_commit(partial(turn_store.stop_answers_of, [instance.pk]))


def share_deleted(sender: Any, instance: Membership, **kwargs: Any) -> None:
    """End the answers of those with whom a knowledge base is shared no more."""
    transaction.on_commit(partial(_end, instance.knowledge_base_id))


def base_saved(sender: Any, instance: KnowledgeBase, created: bool, **kwargs: Any) -> None:
    """End the answers of those who may read a knowledge base no more that was open to the site."""
    if not created and instance.visibility == KnowledgeBase.Visibility.PRIVATE:
        transaction.on_commit(partial(_end, instance.pk))


def groups_changed(
    sender: Any, instance: User | Group, action: str, pk_set: Collection[int] | None, **kwargs: Any
) -> None:
    """End the answers of those who left a group with which knowledge bases are shared."""
    if action not in ("post_remove", "post_clear"):
        return
    shared = Membership.objects.filter(group__isnull=False)
    if pk_set is not None:
        groups = [instance.pk] if isinstance(instance, Group) else pk_set
        shared = shared.filter(group_id__in=groups)
    for base_id in shared.values_list("knowledge_base_id", flat=True).distinct():
        transaction.on_commit(partial(_end, base_id))


def _end(base_id: int) -> None:
    """End the running answers of those who may not read a knowledge base, where they may rest on it."""
    running = Message.objects.filter(status=Message.Status.STREAMING)
    owners = User.objects.filter(pk__in=running.values("turn__session__owner_id"))
    lost = [user.pk for user in owners if not access.readable(user).filter(pk=base_id).exists()]
    if lost:
        turn_store.stop_answers_of(lost, base_id)
