"""Splitting text into sentences, cutting long ones, and joining sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.language.sentences import cut_long, join_sentences, split_sentences

_text = st.text(alphabet=st.sampled_from("ab .,!?。，；“”中文1\n:-"), min_size=1, max_size=120)


def test_english_sentences() -> None:
    text = (
        'Dr. Smith uses v1.2.3, e.g. Foo (see Fig. 3). It costs 3.50 USD. See https://a.b/c.html?x=1. Yes! "Done." '
        "He left, etc. J. R. Roe et al. (2020) agree. Read README.md."
    )

    assert [sentence.strip() for sentence in split_sentences(text)] == [
        "Dr. Smith uses v1.2.3, e.g. Foo (see Fig. 3).",
        "It costs 3.50 USD.",
        "See https://a.b/c.html?x=1.",
        "Yes!",
        '"Done."',
        "He left, etc.",
        "J. R. Roe et al. (2020) agree.",
        "Read README.md.",
    ]


def test_chinese_sentences() -> None:
    text = "他说：“你好。我来了！”然后走了。版本 3.2 很好；价格是多少？是！（见第 3 节。注意）好。"

    assert split_sentences(text) == [
        "他说：“你好。我来了！”",
        "然后走了。",
        "版本 3.2 很好；",
        "价格是多少？",
        "是！",
        "（见第 3 节。注意）好。",
    ]


def test_the_full_stop_of_a_list_number_ends_no_sentence() -> None:
    assert split_sentences("1. First step. Then more.") == ["1. First step. ", "Then more."]


@given(_text)
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


def test_a_long_sentence_may_begin_with_text_without_tokens() -> None:
    text = "\u200b " + "word " * 500
    pieces = cut_long(text, 100, lambda piece: len(piece.replace("\u200b", "").split()))
    assert "".join(pieces) == text and max(len(piece.split()) for piece in pieces) <= 101


def test_endless_leaders_are_split_quickly() -> None:
    assert split_sentences("Contents " + "." * 200_000 + "7") == ["Contents " + "." * 200_000 + "7"]


def test_a_paragraph_ends_its_last_sentence_even_before_a_lower_case_letter() -> None:
    text = "This can only be set at server start.\n\nport (integer): The port the server listens on."
    assert split_sentences(text) == [
        "This can only be set at server start.\n\n",
        "port (integer): The port the server listens on.",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("图 9.3. 使用端口转发。下一句。", ["图 9.3. 使用端口转发。", "下一句。"]),
        ("Figure 14.127. Crop tool. It is used.", ["Figure 14.127. Crop tool. ", "It is used."]),
        ("It is in Table 3. The next one.", ["It is in Table 3. ", "The next one."]),
        ("Lease no. L-2209 ends in May. It is extended.", ["Lease no. L-2209 ends in May. ", "It is extended."]),
        ("The fit of Eq. (2) was good. It held.", ["The fit of Eq. (2) was good. ", "It held."]),
        ("chmod [OPTION]... MODE FILE\nThe end.", ["chmod [OPTION]... MODE FILE\n", "The end."]),
    ],
)
def test_captions_equations_and_usages_are_not_cut(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_no_space_follows_a_chinese_full_stop() -> None:
    assert join_sentences("Done.", "", None, "Two were left out.") == "Done. Two were left out."
    assert join_sentences("已删除 2 个文档。", "1 个被跳过。", "Retry!") == "已删除 2 个文档。1 个被跳过。Retry!"
