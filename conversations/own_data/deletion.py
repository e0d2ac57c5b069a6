"""Deletion of an account, and the data that is lost with it."""

from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from conversations import turn_store
from conversations.models import ChatSession, MemoryFact
from knowledge import services
from knowledge.models import Document, KnowledgeBase
from ragsite.accounts.roles import is_last_administrator


class LastAdministrator(Exception):
    """The site would be left without an administrator."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The data that is deleted with an account."""

    chats: int
    documents: int
    facts: int
    tokens: int
    bases: list[KnowledgeBase] = field(default_factory=list)

    @property
    def shared(self) -> list[KnowledgeBase]:
        """The knowledge bases that other users lose."""
        everyone = KnowledgeBase.Visibility.SITE
        return [base for base in self.bases if base.visibility == everyone or base.shares]  # type: ignore[attr-defined]


def losses(user: User) -> Losses:
    """Return the data that is deleted with a user's account."""
    bases = user.knowledge_bases.annotate(shares=Count("memberships", filter=~Q(memberships__user=user)))
    return Losses(
        chats=user.chat_sessions.filter(status=ChatSession.Status.ACTIVE).count(),
        documents=Document.objects.filter(knowledge_base__owner=user).count(),
        facts=MemoryFact.objects.filter(user=user).count(),
        tokens=user.api_tokens.count(),
        bases=list(bases.order_by("name")),
    )


def delete_account(user: User) -> None:
    """Delete a user with all of their data, including files; raises `LastAdministrator`.

    Running answers are stopped. Sign-ins, sockets, streams and tokens are ended by the signals of the deletion.
    Documents that the user added to knowledge bases of others are kept.
    """
    with transaction.atomic():
        # Lock all administrators, so that two of them deleting their accounts do so one after the other.
        list(User.objects.select_for_update().filter(is_superuser=True, is_active=True).values_list("pk", flat=True))
        if is_last_administrator(user):
            raise LastAdministrator
        turn_store.stop_answers_of([user.pk])
        for base in list(user.knowledge_bases.select_related("owner")):
            services.delete_knowledge_base(base)
        User.objects.get(pk=user.pk).delete()
