"""Separation of thinking from the answer, wherever the text is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.stream.think import ThinkSplitter, split_thinking, strip_thinking
from ragsite.llm.types import TextPiece, ThinkPiece

CASES = [
    ("<think>why</think>\n\nBecause.", "why", "Because."),
    ("\n<think>\nwhy\n</think>Because.", "why\n", "Because."),
    ("No thought.", "", "No thought."),
    ("<think>never closed", "never closed", ""),
    ("<think></think>Empty.", "", "Empty."),
    ("a <think>x</think> b <think>y</think> c", "xy", "a  b  c"),
    ("<THINKING>loud</Thinking>quiet", "loud", "quiet"),
    ("stray</think> end", "", "stray end"),
    ("if a < b and b <thin", "", "if a < b and b <thin"),
    ("<<think>x</think>", "x", "<"),
    ("write `<think>` to think", "", "write `<think>` to think"),
    ("<think>a `</think>` b</think>c", "a `</think>` b", "c"),
    ("<thinker>no</thinker>", "", "<thinker>no</thinker>"),
    ("<think>想</think>答案是 <b>4</b>", "想", "答案是 <b>4</b>"),
    ("", "", ""),
    ("<thought>why</thought>Because.", "why", "Because."),
    ("<reasoning >why</reasoning\n>Because.", "why", "Because."),
    ("<seed:think>why</seed:think>Because.", "why", "Because."),
    ("[THINK]why[/THINK]Because [think] [1].", "why", "Because [think] [1]."),
    ("◁think▷why◁/think▷Because.", "why", "Because."),
    ("<think   >no", "", "<think   >no"),
    ("[[THINK]x[/THINK]", "x", "["),
]


def split(*parts: str) -> tuple[str, str]:
    splitter = ThinkSplitter()
    pieces = [piece for part in parts for piece in splitter.feed(part)] + splitter.close()
    assert all(piece.text for piece in pieces)
    return (
        "".join(piece.text for piece in pieces if isinstance(piece, ThinkPiece)),
        "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)),
    )


@pytest.mark.parametrize(("text", "thinking", "answer"), CASES)
def test_cut_anywhere(text: str, thinking: str, answer: str) -> None:
    assert split(text) == (thinking, answer)
    assert split(*text) == (thinking, answer)
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            assert split(text[:first], text[first:second], text[second:]) == (thinking, answer)


@given(
    st.lists(
        st.sampled_from(["<", "/", "think", "ing", ">", "`", "[THINK]", "◁", " ", "\n", "a", "<think>", "</think>"]),
        max_size=25,
    )
)
def test_any_text_is_split_alike_however_cut(parts: list[str]) -> None:
    text = "".join(parts)
    assert split(*parts) == split(text) == split(*text)


def test_nothing_is_held_back_that_can_be_no_tag() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("Hello <b") == [TextPiece("Hello <b")]
    assert splitter.feed(" <") == [TextPiece(" ")]
    assert splitter.feed("/thi") == []
    assert splitter.feed("s>") == [TextPiece("</this>")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thought</think>answer", ("thought", "answer")),
        ("<think>thought</think>answer", ("thought", "answer")),
        ("answer", ("", "answer")),
        ("say `</think>` aloud", ("", "say `</think>` aloud")),
    ],
)
def test_whole_replies(text: str, expected: tuple[str, str]) -> None:
    assert split_thinking(text) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<thinking>x</thinking> b", "b"),
        ("a <think>never ends", "a"),
        ("What does `<think>` stand for, and `</think>`?", "What does `<think>` stand for, and `</think>`?"),
        ("What is </think> for?", "What is  for?"),
    ],
)
def test_what_is_said_about_thinking_is_no_thought(text: str, kept: str) -> None:
    assert strip_thinking(text) == kept
