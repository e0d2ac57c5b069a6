"""Redaction of the messages sent to a model, for readers of the trace."""

import pytest

from conversations.prompts.passages import fenced
from conversations.turns.redaction import TraceVisibility

VISIBLE = TraceVisibility(frozenset(), frozenset({2}))


def test_only_inaccessible_passages_are_left_out() -> None:
    first, second, third = (fenced(number, f"body of {number}", "a > b.pdf") for number in (1, 2, 3))
    hidden = [fenced(number, "[not available to you]", "a > b.pdf") for number in (1, 3)]
    assert VISIBLE.text(f"Say: {first}\n\n{second}\n{third}!") == f"Say: {hidden[0]}\n\n{second}\n{hidden[1]}!"
    assert VISIBLE.text("No passage <b>\n</passage>") == "No passage <b>\n</passage>"
    assert VISIBLE.text(fenced(4, "")) == fenced(4, "[not available to you]")


def test_an_inaccessible_passage_that_quotes_another_stays_out() -> None:
    text = fenced(1, 'secret\n<passage number="2">\nsecret')
    assert "secret" not in VISIBLE.text(text)


@pytest.mark.parametrize("line", ['<passage number="1">\n', '<passage number="1" ', '<passage number="1" x\n'])
def test_passages_without_an_end_marker_are_handled(line: str) -> None:
    assert VISIBLE.text(line * 40_000) == line * 40_000
    assert VISIBLE.text(f'<passage number="{"1" * 5000}">\nx\n</passage>').endswith("x\n</passage>")
