"""Messages that need no documents."""

import pytest

from ragsite.language.small_talk import asks_for_topics, is_small_talk


@pytest.mark.parametrize(
    "message",
    [
        "What can I ask you?", "what questions can you answer", "What do you know?", "What documents do you have?",
        "你能回答什么？", "你能回答什么问题", "我可以问你什么问题？", "可以问你些什么呢",
        "你知道什么", "你能回答什麼？",
    ],
)  # fmt: skip
def test_questions_for_what_can_be_asked_are_small_talk(message: str) -> None:
    assert asks_for_topics(message) and is_small_talk(message)


@pytest.mark.parametrize(
    "message",
    [
        "What documents do I need for a visa?", "What can I ask the landlord to repair?",
        "What do you know about taxes?",
        "你能回答退货要几天吗？", "我可以问房东要什么？", "你知道年假有多少天吗？", "Hello!",
    ],
)  # fmt: skip
def test_questions_for_a_fact_are_not(message: str) -> None:
    assert not asks_for_topics(message)
