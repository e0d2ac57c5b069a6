"""What earlier versions stored is kept."""

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
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")  # the apps' first rows, in new tables


def _migrate_to_the_newest() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.nightly
def test_words_of_earlier_versions_are_kept(base: KnowledgeBase) -> None:
    untold, told, newer = (factories.make_document(base) for _ in range(3))
    Document.objects.filter(pk=newer.pk).update(
        error={"key": "timeout", "seconds": 9}, notices=[{"key": "left_out.row"}]
    )
    old = _migrate(BEFORE).objects
    assert old.values_list("error_message", "notice").get(pk=untold.pk) == ("", "")
    assert old.values_list("error_message", "notice").get(pk=newer.pk) == ("timeout", "left_out.row")
    words = {"error_message": 'Unlock it, 100% "sure".', "notice": "Left out one.\nAnd another."}
    old.filter(pk=told.pk).update(**words)
    _migrate_to_the_newest()
    for document in (untold, told):
        document.refresh_from_db()
    assert (untold.error, untold.notices, untold.error_message, untold.notice) == ({}, [], "", "")
    assert {"error_message": told.error_message, "notice": told.notice} == words
    assert _migrate(BEFORE).objects.filter(pk=told.pk, **words).exists()
