"""Facts that a person told the site to remember: written and read here, and only for that person."""

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
    """Whether the person has switched their memory on."""
    return MemorySwitch.objects.filter(user_id=user_id, enabled=True).exists()


def switch(user_id: int, on: bool) -> None:
    """Switch a person's memory on or off; what is remembered stays, unused while it is off."""
    MemorySwitch.objects.update_or_create(user_id=user_id, defaults={"enabled": on})


def facts_of(user: Any) -> QuerySet[MemoryFact]:
    """Return the person's facts, oldest first."""
    return MemoryFact.objects.filter(user_id=user.pk) if user.is_authenticated else MemoryFact.objects.none()


def get_fact(user: Any, pk: int) -> MemoryFact:
    """Return one of the person's facts; raises `Http404`."""
    fact = facts_of(user).filter(pk=pk).first()
    if fact is None:
        raise Http404(_("There is no such fact."))
    return fact


def known(user_id: int) -> list[str]:
    """Return what a model is told of the person, oldest first: nothing while their memory is off. One query."""
    facts = MemoryFact.objects.filter(user_id=user_id, user__memory_switch__enabled=True)
    return list(facts.values_list("content", flat=True))


@transaction.atomic
def remember(user_id: int, text: str) -> MemoryFact:
    """Store a fact, or return the one that says the same; raises `FactRefused` over a limit."""
    content = validated_fact(text)
    # The person's row is held, so that two requests can't pass the limit together.
    MemorySwitch.objects.select_for_update().get_or_create(user_id=user_id)
    existing = MemoryFact.objects.filter(user_id=user_id, content=content).first()
    if existing is not None:
        return existing
    if MemoryFact.objects.filter(user_id=user_id).count() >= settings.MEMORY_MAX_FACTS:
        raise FactRefused(
            "memory_full",
            _("At most %(limit)d facts can be remembered. Delete one in your account first.")
            % {"limit": settings.MEMORY_MAX_FACTS},
        )
    return MemoryFact.objects.create(user_id=user_id, content=content)


@transaction.atomic
def change(fact: MemoryFact, text: str) -> MemoryFact:
    """Replace a fact's words; raises `FactRefused` for words that can't be stored, or that another fact has."""
    content = validated_fact(text)
    if MemoryFact.objects.filter(user_id=fact.user_id, content=content).exclude(pk=fact.pk).exists():
        raise FactRefused("fact_known", _("This is remembered already."))
    fact.content = content
    fact.save(update_fields=["content", "updated_at"])
    return fact


def delete_fact(user: Any, pk: int) -> None:
    """Delete one of the person's facts; raises `Http404`."""
    get_fact(user, pk).delete()


def delete_all_facts(user: Any) -> int:
    """Delete all of the person's facts; return how many."""
    return facts_of(user).delete()[0]


def validated_fact(text: str) -> str:
    """Return a fact's words as they are stored; raises `FactRefused`."""
    content = " ".join(text.replace("\x00", "").split())
    if not content:
        raise FactRefused("empty_fact", _("Please write what is to be remembered."))
    if len(content) > settings.MEMORY_FACT_CHARACTERS:
        raise FactRefused(
            "fact_too_long",
            _("A fact has at most %(limit)d characters; this one has %(length)d.")
            % {"limit": settings.MEMORY_FACT_CHARACTERS, "length": len(content)},
        )
    return content
