"""Storing versions of prompt templates: they are added and activated, never changed."""

from typing import Any

from django.db import connection, transaction
from django.db.models import Max

from conversations.models import PromptTemplate
from conversations.prompts.defaults import DEFAULTS


@transaction.atomic
def save_version(purpose: str, language: str, system: str, user: str) -> PromptTemplate:
    """Store a prompt as the newest version of its purpose and language, activate it, and return it."""
    _lock()
    return _add(PromptTemplate(purpose=purpose, language=language, system=system, user=user))


@transaction.atomic
def keep_defaults(**_kwargs: Any) -> None:
    """Store the default prompts of this release that are not in the database yet, each as a new version.

    A new default is activated if the previous default is active. If the site uses a prompt of its own or an older
    version, that stays active, and the admin points out the new one.
    """
    _lock()
    last = {(row.purpose, row.language): row for row in PromptTemplate.objects.filter(shipped=True).order_by("version")}
    in_use = {(row.purpose, row.language): row for row in PromptTemplate.objects.filter(active=True)}
    for family, (system, user) in DEFAULTS.items():
        before = last.get(family)
        if before is None or (before.system, before.user) != (system, user):
            added = PromptTemplate(purpose=family[0], language=family[1], system=system, user=user, shipped=True)
            added.active = in_use.get(family) in (None, before)
            _add(added)


def _add(template: PromptTemplate) -> PromptTemplate:
    """Store a prompt as the newest version of its purpose and language, deactivating the others if it is active."""
    family = PromptTemplate.objects.filter(purpose=template.purpose, language=template.language)
    template.version = (family.aggregate(newest=Max("version"))["newest"] or 0) + 1
    if template.active:
        family.filter(active=True).update(active=False)
    template.save(force_insert=True)
    return template


@transaction.atomic
def activate(template: PromptTemplate) -> PromptTemplate:
    """Make a version the active one of its purpose and language."""
    _lock()
    family = PromptTemplate.objects.filter(purpose=template.purpose, language=template.language)
    family.filter(active=True).exclude(pk=template.pk).update(active=False)
    template.active = True
    template.save(update_fields=["active"])
    return template


def _lock() -> None:
    """Lock prompt versions until the end of the transaction, so that simultaneous saves run one after the other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [0x70726F6D])
