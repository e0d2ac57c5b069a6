"""What the words of a question tell of it."""

import pytest

from retrieval.ranking.query_words import is_broad


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
def test_a_question_for_one_fact_is_not(question: str) -> None:
    assert not is_broad(question)
