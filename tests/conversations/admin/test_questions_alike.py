"""Questions without an answer are joined where they ask the same, on pairs that nothing was picked on."""

import pytest

from tests.conversations.admin.questions_alike import joined


@pytest.mark.parametrize("of", ["first", "second"])
def test_questions_that_ask_the_same_are_joined(of: str) -> None:
    found = joined(of, "en")
    assert found.precision >= 0.75 and found.recall >= 0.65, found


@pytest.mark.parametrize("of", ["first", "second"])
def test_a_model_that_does_not_know_the_language_joins_nothing(of: str) -> None:
    assert joined(of, "zh").wrong == 0
