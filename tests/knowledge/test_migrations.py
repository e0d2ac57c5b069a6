"""Migrations keep the data of earlier versions."""

from collections.abc import Iterator

import pytest
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from knowledge.models import Document, KnowledgeBase
from tests import factories

BEFORE = "0004_document_notice_and_is_slow"

pytestmark = pytest.mark.django_db(transaction=True)


def _migrate(name: str) -> type[Document]:
    executor = MigrationExecutor(connection)
    executor.migrate([("knowledge", name)])
    model: type[Document] = executor.loader.project_state([("knowledge", name)]).apps.get_model("knowledge", "Document")
    return model


@pytest.fixture(autouse=True)
def _the_newest_at_the_end(transactional_db: None) -> Iterator[None]:
    yield
    _migrate_to_the_newest()
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")  # recreates the apps' initial rows


def _migrate_to_the_newest() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.nightly
def test_messages_of_earlier_versions_are_kept(base: KnowledgeBase) -> None:
    without, with_messages, newer = (factories.make_document(base) for _ in range(3))
    Document.objects.filter(pk=newer.pk).update(
        error={"key": "timeout", "seconds": 9}, notices=[{"key": "left_out.row"}]
    )
    old = _migrate(BEFORE).objects
    assert old.values_list("error_message", "notice").get(pk=without.pk) == ("", "")
    assert old.values_list("error_message", "notice").get(pk=newer.pk) == ("timeout", "left_out.row")
    words = {"error_message": 'Unlock it, 100% "sure".', "notice": "Left out one.\nAnd another."}
    old.filter(pk=with_messages.pk).update(**words)
    _migrate_to_the_newest()
    for document in (without, with_messages):
        document.refresh_from_db()
    assert (without.error, without.notices, without.error_message, without.notice) == ({}, [], "", "")
    assert {"error_message": with_messages.error_message, "notice": with_messages.notice} == words
    assert _migrate(BEFORE).objects.filter(pk=with_messages.pk, **words).exists()
