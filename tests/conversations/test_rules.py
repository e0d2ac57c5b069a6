"""Understanding without a model."""

import pytest

from conversations.pipeline.rules import understand
from conversations.pipeline.state import PastTurn

HISTORY = [PastTurn(1, "How do I reset the TL-SE2109 switch?", "Hold the button for ten seconds.")]


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "good morning",
        "thanks a lot",
        "Thank you very much!",
        "你好",
        "您好！",
        "谢谢你",
        "who are you?",
        "你能做什么？",
    ],
)
def test_greetings_are_chat(text: str) -> None:
    assert understand(text, []).action == "answer_chat"


@pytest.mark.parametrize(
    "text",
    [
        "hi-fi amplifiers compared",
        "Thanks to which law is it legal?",
        "你好酒店的退房时间是几点？",
        "help desk phone number",
        "OK button does nothing",
    ],
)
def test_questions_that_begin_like_greetings_are_searched(text: str) -> None:
    assert understand(text, []).action == "retrieve_vector"


@pytest.mark.parametrize("text", ["???", "…", "and", "的"])
def test_nothing_to_search_for_is_asked_back(text: str) -> None:
    assert understand(text, []).action == "clarify"


@pytest.mark.parametrize(
    "question",
    ["What is the warranty period of the rack mounting kit?", "如何录制宏？", "What is vacuuming?", "端口隔离是什么？"],
)
def test_a_stand_alone_question_is_searched_as_it_stands(question: str) -> None:
    assert understand(question, HISTORY).queries == ((question, 1.0),)


@pytest.mark.parametrize(
    "text", ["How long does it take?", "它支持多少个端口？", "and the power supply?", "warranty?", "那价格呢"]
)
def test_a_question_that_leans_on_history_is_also_searched_with_it(text: str) -> None:
    result = understand(text, HISTORY)
    assert result.queries[0] == (text, 1.0)
    joined, weight = result.queries[1]
    assert "TL-SE2109" in joined and joined.endswith(text)
    assert 0 < weight < 1
    assert result.focus == joined  # one turn of history: all of it is the one before


def test_passages_are_judged_by_the_question_and_the_one_before_it() -> None:
    older = PastTurn(0, "Which fans are there?", "Two.")
    assert (
        understand("How long does it take?", [older, *HISTORY]).focus
        == f"{HISTORY[0].question}\nHow long does it take?"
    )


def test_without_history_nothing_is_joined() -> None:
    assert understand("How long does it take?", []).queries == (("How long does it take?", 1.0),)
