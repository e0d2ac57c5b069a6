"""The words of a conversation that a question is searched with."""

from collections.abc import Sequence

import pytest

from conversations.pipeline.understanding import keywords
from conversations.pipeline.understanding.carry_over import Known
from conversations.pipeline.understanding.coreference import pair, resolve, with_carried_words
from conversations.pipeline.understanding.rules import context_probe_query
from ragsite.language.content_words import content_terms, words
from retrieval.engine.fulltext import Frequencies


def frequencies(**held: int) -> Frequencies:
    return Frequencies(1000, {term: count for word, count in held.items() for term in content_terms(word)})


def salient(question: str, earlier: Sequence[str], known: Frequencies, count: int = 4) -> tuple[str, ...]:
    return keywords.rarest_lacking(question, earlier, known, count)


def test_rare_words_come_before_common_ones() -> None:
    known = frequencies(firmware=20, switch=200, router=5)
    assert salient("Where?", ["router switch firmware"], known) == ("router", "firmware", "switch")


def test_words_of_older_turns_weigh_less() -> None:
    known = frequencies(firmware=20, router=20)
    assert salient("Where?", ["firmware", "router"], known) == ("router", "firmware")
    assert salient("Where?", ["router", "nothing", "firmware"], known)[0] == "firmware"
    assert salient("Where?", ["router", "firmware"], frequencies(firmware=30, router=20))[0] == "firmware"


TOPIC = "Does the clinic keep a hamster after surgery?"


@pytest.mark.parametrize(
    ("topic", "follow_ups"),
    [
        (TOPIC, ["Who pays?", "May I visit?", "What should I bring?"]),
        ("借书证在哪里办理？", ["多少钱？", "谁来批？", "丢了怎么补"]),
        ("押金什么时候退", ["多少钱？", "谁来批？", "需要什么材料？"]),  # the first question, though a fragment itself
    ],
)
def test_the_topic_outlasts_the_questions_that_follow_it_up(topic: str, follow_ups: list[str]) -> None:
    known = frequencies(**dict.fromkeys(words(" ".join([topic, *follow_ups])), 20))
    carried = salient("And then?", [topic, *follow_ups], known, 12)
    old = [carried.index(word) for word in words(topic) if word in carried]
    between = [carried.index(word) for text in follow_ups[:-1] for word in words(text) if word in carried]
    assert old and between and max(old) < min(between)


@pytest.mark.parametrize(
    ("before", "topic"),
    [("Which bike locks are approved?", TOPIC), ("快递柜场地费收了多少", "除湿机屏幕上跳出的代码是什么意思？")],
)
def test_what_was_said_before_the_topic_weighs_less_than_all_after_it(before: str, topic: str) -> None:
    known = frequencies(**dict.fromkeys(words(f"{before} {topic} pays"), 20))
    carried = salient("And then?", [before, topic, "Who pays?"], known, 12)
    old = [carried.index(word) for word in words(before) if word in carried]
    new = [carried.index(word) for word in words(topic) if word in carried]
    assert old and new and min(old) > max(new)
    weights = {word.text: word.age for word in keywords.lacking("And then?", [before, topic, "Who pays?"], known)}
    assert weights[carried[-1]] == 1 + 1 + keywords.BEFORE_TOPIC[True]


def test_a_question_that_may_be_a_follow_up_ends_the_topic_less() -> None:
    known = frequencies(**dict.fromkeys(words("hamster soap"), 20))
    found = keywords.lacking("And then?", [TOPIC, "Is soap allowed?", "Who pays?"], known)
    assert {word.text: word.age for word in found}["hamster"] == 1 + 1 + keywords.BEFORE_TOPIC[False]


@pytest.mark.parametrize(
    ("before", "topic", "unknown"),
    [
        ("How high is Everest?", "How do I update the quux?", "quux"),
        ("珠穆朗玛峰有多高？", "怎么升级量子固件？", "量子"),
    ],
)
def test_a_word_of_no_passage_is_a_subject_only_in_the_topic(before: str, topic: str, unknown: str) -> None:
    known = frequencies(update=20, 升级=20, 固件=20)
    found = {word.text for word in keywords.lacking("And then?", [before, topic], known)}
    assert unknown in found and not found & set(words(before))


def test_a_repeated_word_weighs_as_in_its_last_turn() -> None:
    known = frequencies(firmware=20, router=15)
    assert salient("Where?", ["router firmware", "firmware"], known)[0] == "firmware"


def test_words_of_the_question_and_words_that_only_ask_are_not_carried() -> None:
    known = frequencies(router=5, switch=5)
    assert salient("Which switches?", ["What is the router of the switch?"], known) == ("router",)


def test_words_that_no_passage_contains_have_the_highest_rarity() -> None:
    assert salient("Where?", ["the router quux"], frequencies(router=5)) == ("quux", "router")
    assert salient("Where?", ["the quux"], Frequencies(0, {})) == ("quux",)


def test_parts_of_a_longer_name_are_not_carried_again() -> None:
    assert salient("Where?", ["SE2109", "The TL-SE2109"], frequencies(**{"TL-SE2109": 5})) == ("TL-SE2109",)


def test_the_number_of_carried_words_is_limited() -> None:
    text = "alpha bravo delta echo foxtrot golf"
    known = frequencies(**dict.fromkeys(text.split(), 9))
    assert salient("Where?", [text], known, 2) == ("alpha", "bravo")
    assert len(salient("Where?", [text], known, 9)) == 6


def test_a_number_in_the_question_replaces_one_of_the_same_length() -> None:
    known = frequencies(**dict.fromkeys(("2021", "2022", "12", "月", "贝多芬"), 9))
    assert salient("2022年呢？", ["2021年12月的贝多芬"], known) == ("12", "月", "贝多芬")
    assert "2021" in salient("之后呢？", ["2021年12月的贝多芬"], known)


def test_a_turn_that_the_question_returns_to_counts_like_the_last_one() -> None:
    known = frequencies(router=10, antenna=5, switch=10, ports=300)
    earlier = ["the router, its ports and the antenna", "the switch"]
    assert salient("Where?", earlier, known)[0] == "switch"
    assert salient("Back to the router!", earlier, known)[0] == "antenna"
    assert salient("Which ports?", earlier, known)[0] == "switch"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set the TL-SE2109, pg_hba.conf and C++!", ("Set", "the", "TL-SE2109", "pg_hba.conf", "and", "C++")),
        ("《流浪地球2》的导演是谁？", ("《流浪地球2》", "的", "导演", "是", "谁")),
        ("用PostgreSQL建表", ("用", "PostgreSQL", "建表")),
        ("so...well", ("so", "well")),
        ("Überraschung für José", ("Überraschung", "für", "José")),
        ("🙂 …", ()),
        ("hash " + "a1" * 40, ("hash",)),
    ],
)  # fmt: skip
def test_words_are_split_as_people_read_them(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


def test_an_empty_base_shows_nothing() -> None:
    assert salient("Where?", ["the router"], Frequencies(0, {})) == ("router",)


@pytest.mark.parametrize(
    ("text", "two"),
    [
        ("What is the difference between UNION and UNION ALL?", ("UNION", "UNION ALL")),
        ("Should I use a B-tree or a hash index?", ("B-tree", "hash index")),
        ("页眉与页脚有什么区别？", ("页眉", "页脚")),
        ("标准版和专业版的价格", ("标准版", "专业版")),
        ("什么是目录、索引？", ("目录", "索引")),
        ("What is a trigger?", None),
        ("和", None),
    ],
)
def test_two_things_named_together(text: str, two: tuple[str, str] | None) -> None:
    assert pair(text) == two


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the former faster?", "When is UNION faster?"),
        ("And the second one?", "And UNION ALL?"),
        ("前者怎么用？", "UNION怎么用？"),
        ("后者呢", "UNION ALL呢"),
        ("第二个呢？", "UNION ALL呢？"),
        ("What happened in the first year?", "What happened in the first year?"),
        ("第二个字段", "第二个字段"),
    ],
)
def test_the_former_and_the_latter_are_resolved(question: str, expected: str) -> None:
    earlier = ["What does UNION do?", "How does UNION differ from it? I mean UNION and UNION ALL."]
    assert resolve(question, earlier)[0] == expected


def test_with_one_of_two_named_nothing_else_of_that_question_is_carried() -> None:
    earlier = ["How do I sort rows?", "Is a merge join or a hash join faster?"]
    known = frequencies(sort=50, rows=50, merge=5, hash=5)
    assert with_carried_words("Why the latter?", earlier, Known(known)) == (
        "sort rows Why hash join faster?",
        ("hash join faster", "sort", "rows"),
    )
    assert context_probe_query("Why the latter?", earlier, known) == "sort rows Why hash join faster?"
    assert with_carried_words("Why the latter?", earlier[:1], Known(known))[0] == "sort rows Why the latter?"
