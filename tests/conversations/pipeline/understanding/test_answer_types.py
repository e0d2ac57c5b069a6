"""What documents call the thing that a question asks for."""

import pytest

from conversations.pipeline.understanding.answer_types import as_called, said_alike
from retrieval.engine.analysis import terms


@pytest.mark.parametrize(
    ("question", "searched", "alike"),
    [
        ("How much does the LS-2448 cost?", "LS-2448 price 价格", "fee"),
        ("How much do I pay for a fan?", "fan price 价格", "pay"),
        ("交换机多少钱？", "交换机 price 价格", "钱"),
        ("How heavy is it?", "weight 重量", "heavi"),
        ("风扇有多重？", "风扇 weight 重量", "重"),
        ("How fast is the fan?", "fan speed 速度", "fast"),
    ],
)
def test_documents_call_what_is_asked_for_by_other_words(question: str, searched: str, alike: str) -> None:
    assert as_called(question) == searched
    assert {alike, *terms(" ".join(searched.split()[-2:]))} <= said_alike(question)


@pytest.mark.parametrize("question", ["How many VLANs are there?", "Why is it heavy?", "什么是端口隔离？"])
def test_other_questions_are_searched_in_their_own_words(question: str) -> None:
    assert not as_called(question) and not said_alike(question)
