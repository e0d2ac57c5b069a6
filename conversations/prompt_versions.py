"""Writing prompt templates: versions are added and activated, never changed."""

from django.db import connection, transaction
from django.db.models import Max

from conversations.models import PromptTemplate


@transaction.atomic
def save_version(purpose: str, language: str, system: str, user: str) -> PromptTemplate:
    """Store a prompt as the newest version of its purpose and language, make it the active one, and return it."""
    _lock()
    family = PromptTemplate.objects.filter(purpose=purpose, language=language)
    newest = family.aggregate(newest=Max("version"))["newest"] or 0
    family.filter(active=True).update(active=False)
    return PromptTemplate.objects.create(
        purpose=purpose, language=language, version=newest + 1, system=system, user=user, active=True
    )


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
    """Let two administrators who save together have their versions one after the other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [0x70726F6D])
