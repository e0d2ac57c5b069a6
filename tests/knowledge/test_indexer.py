"""The indexer named by the settings, and the system check for it."""

from typing import Any

import pytest

from knowledge.checks import indexer_is_there
from knowledge.indexer import Indexer, indexer


def test_the_site_has_an_indexer() -> None:
    assert isinstance(indexer(), Indexer)
    assert indexer_is_there(None) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("retrieval.indexer.Nobody", "can't be created"),
        ("nowhere.Indexer", "can't be created"),
        ("", "can't be created"),
        ("builtins.dict", "lacks methods"),
    ],
)
def test_a_wrong_path_is_a_system_check_error(path: str, said: str, settings: Any) -> None:
    settings.INDEXER = path
    (problem,) = indexer_is_there(None)
    assert problem.id == "knowledge.E001" and said in problem.msg and "INDEXER" in str(problem.hint)
