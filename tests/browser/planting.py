"""Puts injections into every text field of every row of a running site: `python -m tests.browser.planting CANARY`.

Runs as a separate process on the data folder `RAGSITE_DATA_DIR`, since the site has its own database.
"""

import os
import sys
from collections.abc import Iterator
from itertools import count, cycle, islice
from typing import Any

import django

from tests.browser.injections import injections

_APPS = ("knowledge", "conversations", "retrieval", "ragsite", "auth")
# Fields with internal identifiers, or written only by the program.
_KEPT = {
    "codename", "password", "username", "sha256", "digest", "media_type", "encrypted_key", "file", "key", "role",
    "language", "external_id", "error_code", "base_url", "stage", "status",
}  # fmt: skip
# Rows per list, so that every injection has room in its shortest field.
_ROWS = 40


def plant(canary: str) -> None:
    """Fill the existing rows, and add rows to lists."""
    from django.apps import apps
    from django.contrib.auth.models import User
    from django.db.models import CharField, TextField

    all_injections = injections(canary)
    user = User.objects.get(username="demo")
    _add_rows(user)
    for model in [model for app in _APPS for model in apps.get_app_config(app).get_models()]:
        named = {constraint_field for c in model._meta.total_unique_constraints for constraint_field in c.fields}
        texts = [
            field
            for field in model._meta.concrete_fields
            if isinstance(field, CharField | TextField)
            and not (field.choices or field.unique or field.primary_key or field.name in _KEPT)
            and model._meta.label not in ("retrieval.EmbeddingSpace", "auth.Permission")
        ]
        rows: list[Any] = list(model.objects.order_by("-pk")[:200]) if texts else []
        for field in texts:
            supply = cycle(all_injections)
            for number, row in enumerate(rows):
                tail = f" {number}" if field.name in named or field.name in ("name", "content") else ""
                setattr(row, field.name, _fitting(supply, (field.max_length or 2000) - len(tail)) + tail)
        if rows:
            model.objects.bulk_update(rows, [field.name for field in texts])


def _fitting(supply: Iterator[str], limit: int) -> str:
    """Return as many injections as fit, and at least part of one."""
    text = next(supply)[:limit]
    while limit > 250 and len(text) < limit - 120:
        text += "\n" + next(supply)
    return text


def _add_rows(user: Any) -> None:
    from django.utils import timezone

    from conversations.memory.models import MemoryFact
    from conversations.models import ChatSession
    from knowledge.models import Document, KnowledgeBase
    from retrieval.evaluation.models import EvaluationSet

    numbers = count()
    for number in islice(numbers, _ROWS):
        base = KnowledgeBase.objects.create(owner=user, name=f"base {number}")
        ChatSession.objects.create(
            owner=user, title=str(number), title_is_automatic=False, last_activity_at=timezone.now()
        )
        MemoryFact.objects.create(user=user, content=f"fact {number}")
        EvaluationSet.objects.create(owner=user, knowledge_base=base, name=str(number))
        base = KnowledgeBase.objects.filter(owner=user, documents__isnull=False).order_by("pk")[0]
        Document.objects.create(
            knowledge_base=base, uploaded_by=user, original_filename=str(number), media_type="text/plain",
            sha256=f"{number:064x}", size=1, status=Document.Status.FAILED, error_code="internal",
        )  # fmt: skip


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "ragsite.settings"
    django.setup()
    plant(sys.argv[1])
