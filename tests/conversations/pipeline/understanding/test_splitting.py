"""Texts that ask several things are split by rules, and others are left whole."""

import pytest

from conversations.pipeline.understanding.splitting import MOST_PARTS, split, usable_parts


@pytest.mark.parametrize(
    ("question", "kind", "parts"),
    [
        ("How do I reset it and how long does that take?", "questions",
         ("How do I reset it", "how long does that take")),
        ("TOAST: largest value, compression and cost.", "aspects",
         ("TOAST largest value", "TOAST compression", "TOAST cost")),
        ("如何插入脚注，以及怎么更改页码？", "questions", ("如何插入脚注", "怎么更改页码")),
        ("主控文档：打印出来有什么、怎么导出。", "aspects", ("主控文档打印出来有什么", "主控文档怎么导出")),
    ],
)  # fmt: skip
def test_a_question_for_several_things_is_split(question: str, kind: str, parts: tuple[str, ...]) -> None:
    found = split(question)
    assert (found.kind, found.parts) == (kind, parts)


@pytest.mark.parametrize(
    "question",
    [
        "How do I create and drop a table?",
        "What are the pros and cons of replication?",
        "How many ports has the TL-SE2109?",
        "What happens to white space and duplicate keys?",
        "泰语算不算复杂文字版式？",
        "名称里可以有句号和空格吗？",
        "如何插入脚注？",
        "What does error 08P01 mean: protocol violation?",
        "What is the difference between a hub and a switch in speed?",
        "What is the default of the setting that limits silent sessions?",
        "脚注和尾注有什么区别？",
        "",
        "???",
    ],
)
def test_a_question_for_one_thing_is_left_whole(question: str) -> None:
    assert split(question).parts == ()


def test_a_part_that_refers_to_the_one_before_depends_on_it() -> None:
    found = split("Passwords are stored in some catalog. May anybody read it?")
    assert found.parts == ("Passwords are stored in some catalog", "May anybody read it") and found.dependent == (1,)
    assert split("How many columns can a table have? How many arguments can a function take?").dependent == ()


def test_the_number_of_parts_is_limited() -> None:
    names = [f"name_{number}" for number in range(9)]
    assert len(split(f"Defaults: {', '.join(names)}").parts) == MOST_PARTS
    assert len(split(" ".join(f"What is {name}?" for name in names)).parts) == MOST_PARTS


def test_a_models_parts_are_kept_once_if_they_name_something() -> None:
    given = [
        "ports of the hub",
        "the ports of the hub?",
        "what is it",
        "x " * 400,
        "colour of the fan",
        "a b",
        "c d",
        "e",
    ]
    assert usable_parts(given, "Which ports and colours?")[:2] == ("ports of the hub", "colour of the fan")
    assert len(usable_parts(given, "Which ports and colours?")) <= MOST_PARTS
