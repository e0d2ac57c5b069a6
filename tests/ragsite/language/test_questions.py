"""Broad questions, and the distinction between questions and statements."""

import pytest

from ragsite.language.answer_types import is_broad
from ragsite.language.questions import asks


@pytest.mark.parametrize(
    "question",
    [
        "Compare the two switches.",
        "What is the difference between HNSW and IVFFlat?",
        "Give me an overview of the warranty terms",
        "List all the ports",
        "Which models have PoE?",
        "两款交换机有什么区别？",
        "总结一下保修条款",
        "哪些型号支持 PoE？",
    ],
)
def test_overviews_and_comparisons_are_broad(question: str) -> None:
    assert is_broad(question)


@pytest.mark.parametrize(
    "question",
    ["How many ports has the TL-SE2109?", "Is it all right to open it?", "交换机有多少个端口？", "保修期有多长？", ""],
)
def test_a_question_for_one_fact_is_not_broad(question: str) -> None:
    assert not is_broad(question)


@pytest.mark.parametrize(
    "text",
    [
        "How many ports has the TL-SE2109 that we bought in the spring?",
        "the pump has stopped and the lamp is red, can I open it now",
        "In which cases is the warranty void after the first year",
        "Tell me about the warranty that is given on new batteries.",
        "warranty period battery pack X200 replacement parts list",
        "The battery is flat.",
        "第七届香港立法会议员宣誓仪式的时间",
        "公司员工每年可以享受多少天带薪年假",
        "电池坏了。",
        "",
    ],
)
def test_questions_requests_and_keywords(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "A deficiency of vitamin B12 increases blood levels of homocysteine.",
        "Mice that lack this gene are protected from obesity and diabetes",
        "公司员工每年可以享受十五天带薪年假",
        "本合同自双方签字盖章之日起生效，有效期为三年。",
    ],
)
def test_long_statements_are_not_questions(text: str) -> None:
    assert not asks(text)
