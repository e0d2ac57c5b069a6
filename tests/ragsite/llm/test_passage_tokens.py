"""Counting tokens of passages, and truncation."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.passage_tokens import count_tokens, truncate_to_tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("  \n", 0), ("Hello world.", 3), ("检索增强", 4), ("BM25 检索", 4), ("tokenization", 3)],
)
def test_counts(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_a_text_above_the_models_own_limit_is_counted_whole() -> None:
    assert count_tokens("word " * 5000) == 5000


@pytest.mark.parametrize("text", ["a" * 10_000, "aGVsbG8gd29ybGQ" * 700, "ภาษาไทย" * 1000, "😀" * 1000])
def test_no_text_weighs_nothing(text: str) -> None:
    assert count_tokens(text) >= len(text) / 8


def test_a_chinese_character_counts_one_in_words_of_the_vocabulary_too() -> None:
    assert count_tokens("知识库检索") == 5
    assert truncate_to_tokens("知识库检索", 4) == "知识库检"


def test_truncation_keeps_the_beginning() -> None:
    assert truncate_to_tokens("one two three four", 2) == "one two"
    assert truncate_to_tokens("one two", 2) == "one two"
    assert truncate_to_tokens("检索增强生成", 3) == "检索增"
    assert truncate_to_tokens("one", 0) == ""


@given(st.text(max_size=200), st.integers(0, 60))
def test_truncation_fits_and_is_a_beginning(text: str, limit: int) -> None:
    cut = truncate_to_tokens(text, limit)
    assert text.startswith(cut)
    assert count_tokens(cut) <= limit
    assert cut == text or count_tokens(text) > limit


def test_threads_count_alike() -> None:
    texts = [f"Text number {number} 检索" * (number % 7 + 1) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(count_tokens, texts)) == [count_tokens(text) for text in texts]
