"""Counting tokens of prompts, and shortening texts."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm import prompt_tokens
from ragsite.llm.prompt_tokens import count_prompt_tokens, shorten


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("Hello world.", 3), ("检索增强生成", 3), ("BM25 检索", 4), (" " * 64, 1), ("0123456789", 4)],
)
def test_counts_are_those_of_the_vocabulary(text: str, count: int) -> None:
    assert count_prompt_tokens(text) == count


def test_control_tokens_in_a_text_weigh_what_they_spell() -> None:
    assert count_prompt_tokens("<｜User｜>") > 3


@pytest.mark.parametrize("text", ["a" * 10_000, "aGVsbG8gd29ybGQ" * 700, "ภาษาไทย" * 1000, "😀" * 1000, "\x00" * 500])
def test_no_text_weighs_nothing(text: str) -> None:
    assert count_prompt_tokens(text) >= len(text) / 10


def test_a_text_is_shortened_at_the_end_of_a_sentence() -> None:
    text = "The switch has nine ports. The warranty lasts three years. It is sold in boxes of ten pieces each."
    assert shorten(text, 18) == "The switch has nine ports. The warranty lasts three years. …"
    assert shorten("交换机有九个端口。保修期为三年。每箱装有十台设备，可以叠放。", 14).endswith("保修期为三年。 …")


def test_what_fits_stays_and_where_nothing_fits_nothing_is_left() -> None:
    assert shorten("one two three", 3) == "one two three"
    assert shorten("one two three", 1) == shorten("one two three", 0) == ""


def test_a_long_text_is_read_whole_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    beginning = prompt_tokens._beginning

    def noted(text: str, tokens: int) -> str:
        read.append(len(text))
        return beginning(text, tokens)

    monkeypatch.setattr(prompt_tokens, "_beginning", noted)
    assert shorten(" " * 20_000 + "x", 50) == ""
    assert shorten("¿" * 20_000, 50).startswith("¿¿")
    assert read.count(20_001) == read.count(20_000) == 1


@given(st.text(max_size=120) | st.text("检索，。 abc\n", max_size=200), st.integers(0, 60))
def test_what_is_shortened_fits_and_is_a_beginning(text: str, limit: int) -> None:
    cut = shorten(text, limit)
    assert count_prompt_tokens(cut) <= limit
    assert cut == text or not cut or (cut.endswith(" …") and text.startswith(cut.removesuffix(" …")))


def test_threads_count_alike() -> None:
    texts = [f"Text number {number} 检索" * (number % 7 + 1) for number in range(200)]
    alone = [count_prompt_tokens(text) for text in texts]
    count_prompt_tokens.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(count_prompt_tokens, texts)) == alone
