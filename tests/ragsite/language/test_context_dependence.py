"""Questions that refer to something said before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.language.context_dependence import dependence_on_context, introduces


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("How long does it take?", "pronoun"),
        ("Who makes them?", "pronoun"),
        ("why is that?", "pronoun"),
        ("How can I do that", "pronoun"),
        ("Which one is faster?", "pronoun"),
        ("Is there another way?", "pronoun"),
        ("What does the latter cost?", "pronoun"),
        ("How many tables are stored there?", "pronoun"),
        ("What else can be exported?", "pronoun"),
        ("And the warranty?", "continuation"),
        ("Does the same apply to part-time staff?", "pronoun"),
        ("Is it the same as before?", "pronoun"),
        ("What about Hebrew?", "continuation"),
        ("warranty?", "fragment"),
        ("How much?", "fragment"),
        ("它支持多少个端口？", "pronoun"),
        ("他是哪一年出生的", "pronoun"),
        ("这款多少钱", "pronoun"),
        ("那里的气候怎么样？", "pronoun"),
        ("前者怎么配置？", "pronoun"),
        ("其中哪个最快？", "pronoun"),
        ("其价格是多少", "pronoun"),
        ("该产品的保修期", "pronoun"),
        ("还有哪些型号？", "pronoun"),
        ("价格呢？", "continuation"),
        ("为什么", "fragment"),
        ("多久？", "fragment"),
        ("库存还有多少？", "fragment"),
        ("名额还剩几个？", "fragment"),
        ("庫存還有多少？", "fragment"),
    ],
)
def test_dependent_questions(question: str, reason: str) -> None:
    assert dependence_on_context(question) == reason


@pytest.mark.parametrize(
    "question",
    [
        "Which genes that regulate growth are silenced in tumours?",
        "Mice without interferon or its receptor resist infection.",
        "Stem cells of the blood segregate their chromosomes at random.",
        "Are there serverless instances in the Frankfurt region?",
        "There is no association between mutations and diabetes risks.",
        "Which planets other than Jupiter have rings?",
        "The one-child policy lowered population growth.",
        "Does Hawaii have earthquakes?",
        "How many VLANs can be active at the same time?",
        "Is the deposit the same as the rent?",
        "What is the warranty period of the mounting kit?",
        "2023年土耳其地震的震级是多少？",
        "维修资金账上还剩多少？",
        "《消失的她》的原型事件是什么？",
        "消失的她原型事件是什么？",
        "其他国家的货币政策有哪些？",
        "那曲的海拔是多少米？",
        "遇到网络故障该怎么排查线路？",
        "此外还需要哪些申请材料和证件？",
        "《李茂扮太子》是什么类型的喜剧电影？它的导演是谁？",
    ],
)
def test_questions_that_stand_alone(question: str) -> None:
    assert dependence_on_context(question) == ""


def test_a_long_text_full_of_pronouns_takes_no_longer_than_its_words() -> None:
    assert dependence_on_context("Stem cells segregate chromosomes, and it is so. " * 2_000) == ""


@given(st.text(max_size=60))
def test_any_text_has_one_of_the_known_reasons(text: str) -> None:
    assert dependence_on_context(text) in ("", "pronoun", "continuation", "fragment")


@pytest.mark.parametrize(
    "question",
    [
        "What is a cursor?",
        "what are VPC clusters?",
        "So what's WAL?",
        "What does COPY do?",
        "What does RAID stand for?",
        "Please explain Spark.",
        "How do I create an index?",
        "how to recycle paint",
        "什么是宏？",
        "请问什么叫数据透视表",
    ],
)
def test_questions_that_name_their_subject(question: str) -> None:
    assert introduces(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the default?",
        "What is the difference between them?",
        "What are differences?",
        "How do I apply?",
        "How do I change the port?",
        "How do I restart it?",
        "Explain that.",
        "How long is a session?",
        "口号是什么？",
        "怎么取消？",
    ],
)
def test_questions_that_may_refer_to_an_earlier_subject(question: str) -> None:
    assert not introduces(question)
