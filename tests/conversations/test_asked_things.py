"""What kind of thing a question asks for, and which texts hold one."""

import pytest

from conversations.pipeline.asked_things import Thing, asked_for, holds


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
    assert holds(thing, text) is held
