"""A site with documents in the test's database, and an empty database and data folder to restore it to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from knowledge.models import Document
from ragsite.runtime import embedded
from tests import factories

NAME = "restored"


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """A data folder for the files; the database's server stays that of the test run."""
    _use(settings, tmp_path / "data")
    yield
    embedded.let_go_after_fork()


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The path of a backup that isn't made yet."""
    return tmp_path / "site.zip"


@pytest.fixture
def document(transactional_db: None, owner: User) -> Document:
    """An indexed document of a base, with its file stored."""
    document = factories.make_document(factories.make_knowledge_base(owner), content=b"The gate opens at nine.")
    factories.make_chunks(document, ["The gate opens at nine.", "Das Tor \\N öffnet\tum neun.", "大门九点开。"])
    factories.index_document(document.pk)
    return document


@pytest.fixture
def elsewhere(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator["Elsewhere"]:
    """What switches to an empty database and data folder."""
    found = Elsewhere(settings, tmp_path)
    yield found
    found.back()


class Elsewhere:
    """Switches between the test's site and one at another place."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        """Note the present place."""
        self._settings, self._folder, self._name = settings, folder, connection.settings_dict["NAME"]

    def go(self) -> None:
        """Use the other place; its database is created on the first connection."""
        embedded.let_go_after_fork()
        connection.close()
        connection.settings_dict["NAME"] = NAME
        _use(self._settings, self._folder / "other")

    def back(self) -> None:
        """Use the test's own database again and drop the other one."""
        connection.close()
        connection.settings_dict["NAME"] = self._name
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")


def _use(settings: Settings, data_dir: Path) -> None:
    data_dir.mkdir(exist_ok=True)
    settings.DATA_DIR, settings.MEDIA_ROOT, settings.BACKUP_DIR = data_dir, data_dir / "media", data_dir / "backups"
