"""What kind of thing a question asks for, and which texts hold one."""

import pytest

from conversations.pipeline.understanding.answer_types import Thing, as_called, asked_for, holds_thing, said_alike
from retrieval.engine.analysis import terms


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("How much does the LS-2448 cost?", Thing.MONEY),
        ("这台交换机多少钱？", Thing.MONEY),
        ("How long does a firmware update take?", Thing.DURATION),
        ("病假最多可以请多少天？", Thing.DURATION),
        ("When was firmware 4.2 released?", Thing.TIME),
        ("图书馆几点关门？", Thing.TIME),
        ("How many VLANs are there?", Thing.NUMBER),
        ("额定功率是多少瓦？", Thing.NUMBER),
        ("Who is the CEO of Larkspur?", Thing.PERSON),
        ("公司的创始人是谁？", Thing.PERSON),
        ("How do I restore the factory settings?", None),
        ("Where is the reset button?", None),
        ("什么是端口隔离？", None),
    ],
)
def test_what_a_question_asks_for(question: str, thing: Thing | None) -> None:
    assert asked_for(question) is thing


@pytest.mark.parametrize(
    ("thing", "text", "held"),
    [
        (Thing.MONEY, "The kit costs 40 EUR.", True),
        (Thing.MONEY, "Delivery is free of charge within the city.", True),
        (Thing.MONEY, "The port carries 1 Gbit/s.", False),
        (Thing.DURATION, "An update takes about four minutes.", True),
        (Thing.DURATION, "保修期为三年。", True),
        (Thing.DURATION, "The switch has nine ports.", False),
        (Thing.TIME, "Released on 12 March 2026.", True),
        (Thing.TIME, "Hold the button.", False),
        (Thing.NUMBER, "The switch has nine ports.", True),
        (Thing.NUMBER, "The switch has ports.", False),
        (Thing.PERSON, "The works were founded by Ada Larkin.", True),
        (Thing.PERSON, "经理王建国批准报销。", True),
        (Thing.PERSON, "the board approves it.", False),
    ],
)
def test_which_texts_hold_one(thing: Thing, text: str, held: bool) -> None:
    assert holds_thing(thing, text) is held


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
