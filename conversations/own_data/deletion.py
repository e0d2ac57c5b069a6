"""The end of an account: what goes with it, and its going."""

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
    """What goes with an account."""

    chats: int
    documents: int
    facts: int
    tokens: int
    bases: list[KnowledgeBase] = field(default_factory=list)

    @property
    def shared(self) -> list[KnowledgeBase]:
        """The knowledge bases that others lose."""
        everyone = KnowledgeBase.Visibility.SITE
        return [base for base in self.bases if base.visibility == everyone or base.shares]  # type: ignore[attr-defined]


def losses(user: User) -> Losses:
    """Return what goes with a person's account."""
    bases = user.knowledge_bases.annotate(shares=Count("memberships", filter=~Q(memberships__user=user)))
    return Losses(
        chats=user.chat_sessions.filter(status=ChatSession.Status.ACTIVE).count(),
        documents=Document.objects.filter(knowledge_base__owner=user).count(),
        facts=MemoryFact.objects.filter(user=user).count(),
        tokens=user.api_tokens.count(),
        bases=list(bases.order_by("name")),
    )


def delete_account(user: User) -> None:
    """Remove a person with all that is theirs, files and all; raises `LastAdministrator`.

    Their answers that are being written end. Sessions, sockets, streams and tokens end as the account does, by its
    signals. Documents that they added to bases of others stay.
    """
    with transaction.atomic():
        # Two administrators who go at the same time do so one after the other.
        list(User.objects.select_for_update().filter(is_superuser=True, is_active=True).values_list("pk", flat=True))
        if is_last_administrator(user):
            raise LastAdministrator
        turn_store.stop_answers_of([user.pk])
        for base in list(user.knowledge_bases.select_related("owner")):
            services.delete_knowledge_base(base)
        User.objects.get(pk=user.pk).delete()
