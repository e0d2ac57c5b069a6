"""Requests for what the documents say about a topic are searched as the topic."""

import pytest

from ragsite.language.questions import names_topic, without_frame


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What do the documents say about overtime?", "overtime"),
        ("what does my documentation say about the cooling fans", "the cooling fans"),
        ("What does it say about refunds?", "refunds"),
        ("Tell me what our files say regarding onboarding.", "onboarding"),
        ("Is there anything about travel expenses in the documents?", "travel expenses"),
        ("Anything in the files about insurance?", "insurance"),
        ("Do the documents say anything about parking?", "parking"),
        ("Do any of the documents mention asbestos?", "asbestos"),
        ("Tell me more about updating the firmware.", "updating the firmware"),
        ("介绍一下年假。", "年假"),
        ("文档里关于加班有什么规定？", "加班"),
        ("关于“网格”，文档里有哪些内容？", "网格"),
        ("有关奖金，资料里是怎么说的？", "奖金"),
        ("我的文档里有关于数据备份的内容吗？", "数据备份"),
        ("文件里有没有提到停车费？", "停车费"),
        ("什么是断词？", "断词是什么？"),
    ],
)
def test_only_the_topic_is_searched(question: str, topic: str) -> None:
    assert without_frame(question) == topic


@pytest.mark.parametrize(
    "question",
    [
        "What do the documents say?", "Which documents mention asbestos?", "What do doctors say about salt?",
        "What is the law on tenancy?", "What is on the agenda?", "Tell me a joke",
        "Who wrote the documents about safety?",
        "What do you think about this?", "Have the documents on the move been signed?",
        "文档里都说了什么？", "哪些文档提到了石棉？", "客户关于交货说了什么？", "关于网络安全的文档有几份？",
        "有关部门有哪些职责？",
        "医生怎么说高血压？",
    ],
)  # fmt: skip
def test_other_questions_are_searched_as_they_are(question: str) -> None:
    assert without_frame(question) == question


@pytest.mark.parametrize(
    ("text", "named"),
    [("updating the firmware", True), ("年假", True), ("is it new", False), ("如何升级", False), ("年假有几天", False)],
)
def test_keywords_name_a_topic(text: str, named: bool) -> None:
    assert names_topic(text) == named
