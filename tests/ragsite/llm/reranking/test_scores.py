"""Scores in the replies of language models."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.errors import BadReply
from ragsite.llm.reranking.scores import parse_scores


@pytest.mark.parametrize(
    "text",
    [
        '[{"index": 1, "score": 7}, {"index": 2, "score": 0}, {"index": 3, "score": 10}]',
        '```json\n[{"index": 3, "score": 10}, {"index": 1, "score": 7}, {"index": 2, "score": 0}]\n```\nEnd [1]',
        'Scores: {"scores": [{"index": 1, "score": 7}, {"index": 2, "score": 0}, {"index": 3, "score": 10}]}',
        '{"1": 7, "2": 0, "3": 10}',
        '{"scores": {"1": 7, "2": 0, "3": 10}}',
        "[7, 0, 10]",
        '[{"index": "1", "score": "7/10"}, {"index": 2, "score": "0"}, {"index": 3, "score": 10.0}]',
        '{"index": 1, "score": 7}\n{"index": 2, "score": 0}\n{"index": 3, "score": 10}',
        '[{"passage": 1, "relevance": 7}, {"passage": 2, "relevance": 0}, {"passage": 3, "relevance": 10}]',
        '[{"index": 0, "score": 7}, {"index": 1, "score": 0}, {"index": 2, "score": 10}]',
        '[{"index": 1, "score": 0.7}, {"index": 2, "score": 0}, {"index": 3, "score": 1}]',
        '[{"index": 1, "score": 70}, {"index": 2, "score": 0}, {"index": 3, "score": 100}]',
        '[{"index": 1, "score": 7}, {"index": 2, "score": -4}, {"index": 3, "score": 10}, {"index": 4, "score": 9}]',
        '[{"index": 1, "score": 7}, {"index": 2, "score": 0}, {"index": 3, "score": 10}, {"index": 1, "score": 2}]',
    ],
)
def test_forms(text: str) -> None:
    assert parse_scores(text, 3) == [0.7, 0.0, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}]',
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}, {"index": 2, "sc',
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}, {"index": 2, "score": "high"}]',
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}, {"index": 2, "score": NaN}]',
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}, {"index": 2.5, "score": 3}, null, [], true]',
        '[{"index": 1, "score": 7}, {"index": 3, "score": 10}, {"index": 2, "score": 1' + "0" * 400 + "}]",
    ],
)
def test_what_is_missing_is_left_open(text: str) -> None:
    assert parse_scores(text, 3) == [0.7, None, 1.0]


@pytest.mark.parametrize(
    "text", ["", "I can't do that.", "[]", "{}", "[1, 2]", "[" * 50_000, '{"index": 9, "score": 9}']
)
def test_nothing_to_read(text: str) -> None:
    with pytest.raises(BadReply, match="No scores"):
        parse_scores(text, 3)


@given(st.text(max_size=80) | st.recursive(st.integers() | st.floats() | st.text(max_size=4), st.lists).map(json.dumps))
def test_any_text_gives_scores_or_words(text: str) -> None:
    try:
        scores = parse_scores(text, 2)
    except BadReply:
        return
    assert len(scores) == 2 and all(score is None or 0 <= score <= 1 for score in scores)
