"""Grouping unanswered questions that ask the same, evaluated on held-out pairs."""

import pytest

from tests.conversations.admin.questions_alike import joined


@pytest.mark.parametrize("of", ["first", "second"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_questions_that_ask_the_same_are_grouped(of: str, language: str) -> None:
    found = joined(of, language)
    assert found.precision >= 0.55 and found.recall >= 0.35, found
