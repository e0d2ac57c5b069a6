"""Lookups of users and knowledge bases by name for commands; an unknown name raises `CommandError`."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import CommandError

from knowledge import access, services
from knowledge.models import KnowledgeBase


def find_user(username: str) -> AbstractBaseUser:
    """Return the user with a name."""
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}.")
    return user


def base_to_add_to(user: AbstractBaseUser, name: str) -> KnowledgeBase:
    """Return the user's base with this name, or else one that they may edit, or else a new one."""
    name, longest = name.strip(), KnowledgeBase._meta.get_field("name").max_length or 0
    if not name or len(name) > longest:
        raise CommandError(f"The name of a knowledge base must have 1 to {longest} characters.")
    own = access.owned(user).filter(name=name).first()
    return own or access.editable(user).filter(name=name).first() or services.create_knowledge_base(user, name)


def base_to_read(name: str, username: str | None) -> KnowledgeBase:
    """Return the base with a name: the user's own, or else one that they may read; without a user it must be unique.

    The error message lists the existing bases, or the owners of those with this name.
    """
    bases = KnowledgeBase.objects.select_related("owner")
    if username is not None:
        user = find_user(username)
        bases = access.readable(user).select_related("owner")
        own = bases.filter(name=name, owner_id=user.pk).first()
        if own is not None:
            return own
    found = list(bases.filter(name=name).order_by("owner__username")[:20])
    if len(found) == 1:
        return found[0]
    if found:
        owners = ", ".join(base.owner.get_username() for base in found)
        raise CommandError(f"Several users have a knowledge base {name!r}: {owners}. Name its owner with --user.")
    there = ", ".join(bases.order_by("name").values_list("name", flat=True)[:20])
    whose = f" that {username} may read" if username is not None else ""
    raise CommandError(
        f"There is no knowledge base {name!r}{whose}. "
        + (f"Existing ones: {there}." if there else "There are none yet.")
    )
