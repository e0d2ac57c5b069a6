"""Facts that a user asked the site to remember, stored and read only for that user."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from conversations.models import MemoryFact, MemorySwitch
from ragsite.exceptions import Refused


class FactRefused(Refused):
    """A fact that is not stored."""


def is_memory_on(user_id: int) -> bool:
    """Return whether the user has switched their memory on."""
    return MemorySwitch.objects.filter(user_id=user_id, enabled=True).exists()


def switch(user_id: int, on: bool) -> None:
    """Switch a user's memory on or off; facts are kept, but not used while it is off."""
    MemorySwitch.objects.update_or_create(user_id=user_id, defaults={"enabled": on})


def facts_of(user: Any) -> QuerySet[MemoryFact]:
    """Return the user's facts, oldest first."""
    return MemoryFact.objects.filter(user_id=user.pk) if user.is_authenticated else MemoryFact.objects.none()


def get_fact(user: Any, pk: int) -> MemoryFact:
    """Return one of the user's facts; raises `Http404`."""
    fact = facts_of(user).filter(pk=pk).first()
    if fact is None:
        raise Http404(_("There is no such fact."))
    return fact


def known(user_id: int) -> list[str]:
    """Return the facts that models get about the user, oldest first; none while their memory is off. One query."""
    facts = MemoryFact.objects.filter(user_id=user_id, user__memory_switch__enabled=True)
    return list(facts.values_list("content", flat=True))


@transaction.atomic
def remember(user_id: int, text: str) -> MemoryFact:
    """Store a fact, or return an existing one with the same text; raises `FactRefused` if a limit is reached."""
    content = validated_fact(text)
    # Lock the user's row, so that two requests can't exceed the limit together.
    MemorySwitch.objects.select_for_update().get_or_create(user_id=user_id)
    existing = MemoryFact.objects.filter(user_id=user_id, content=content).first()
    if existing is not None:
        return existing
    if MemoryFact.objects.filter(user_id=user_id).count() >= settings.MEMORY_MAX_FACTS:
        raise FactRefused(
            "memory_full",
            _("Your memory is full: it can contain %(limit)d facts. Delete one in your account first.")
            % {"limit": settings.MEMORY_MAX_FACTS},
        )
    return MemoryFact.objects.create(user_id=user_id, content=content)


@transaction.atomic
def change(fact: MemoryFact, text: str) -> MemoryFact:
    """Change a fact's text; raises `FactRefused` if it can't be stored or another fact has the same text."""
    content = validated_fact(text)
    if MemoryFact.objects.filter(user_id=fact.user_id, content=content).exclude(pk=fact.pk).exists():
        raise FactRefused("fact_known", _("This fact is already remembered."))
    fact.content = content
    fact.save(update_fields=["content", "updated_at"])
    return fact


def delete_fact(user: Any, pk: int) -> None:
    """Delete one of the user's facts; raises `Http404`."""
    get_fact(user, pk).delete()


def delete_all_facts(user: Any) -> int:
    """Delete all of the user's facts; return how many."""
    return facts_of(user).delete()[0]


def validated_fact(text: str) -> str:
    """Return a fact's text as it is stored; raises `FactRefused`."""
    content = " ".join(text.replace("\x00", "").split())
    if not content:
        raise FactRefused("empty_fact", _("Enter a fact to remember."))
    if len(content) > settings.MEMORY_FACT_CHARACTERS:
        raise FactRefused(
            "fact_too_long",
            _("A fact can have at most %(limit)d characters; this one has %(length)d.")
            % {"limit": settings.MEMORY_FACT_CHARACTERS, "length": len(content)},
        )
    return content
