"""The indexer that the settings name: looked up, and checked when the site starts."""

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
        ("retrieval.indexer.Nobody", "can't be made"),
        ("nowhere.Indexer", "can't be made"),
        ("", "can't be made"),
        ("builtins.dict", "lacks methods"),
    ],
)
def test_a_wrong_path_is_told_at_the_start(path: str, said: str, settings: Any) -> None:
    settings.INDEXER = path
    (problem,) = indexer_is_there(None)
    assert problem.id == "knowledge.E001" and said in problem.msg and "INDEXER" in str(problem.hint)
