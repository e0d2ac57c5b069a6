"""Tests of recognising messages that ask the site to remember something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.memory.requests import Request, read_request


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("Remember that I work in the Shanghai office.", "I work in the Shanghai office"),
        ("please remember: the project is called Aurora", "the project is called Aurora"),
        ("Please remember my badge number is 4711.", "my badge number is 4711"),
        ("Could you please remember that I prefer short answers?", "I prefer short answers"),
        ("Keep in mind that we use version 3.2. Our server is called atlas. Thanks!",
         "we use version 3.2. Our server is called atlas"),
        ("Don't forget that I'm on leave in May, please", "I'm on leave in May"),
        ("请记住：我在上海办公室工作。", "我在上海办公室工作"),
        ("请记住我的工号是 4711", "我的工号是 4711"),
        ("记住，我喜欢简短的回答，谢谢！", "我喜欢简短的回答"),
        ("帮我记一下我们用的是 3.2 版本，好吗？", "我们用的是 3.2 版本"),
        ("别忘了我对花生过敏", "我对花生过敏"),
        ("From now on, please remember that I prefer tables.", "I prefer tables"),
        ("Hi, by the way: remember that I work in sales", "I work in sales"),
        ("Good morning! Remember that I work in sales", "I work in sales"),
        ("以后请记住我喜欢表格", "我喜欢表格"),
        ("早上好，请记住我喜欢表格", "我喜欢表格"),
        ("对了，记住这一点：我用的是 Mac", "我用的是 Mac"),
        ("请记住这个项目叫极光", "这个项目叫极光"),
    ],
)  # fmt: skip
def test_message_that_is_a_fact(message: str, fact: str) -> None:
    assert read_request(message) == Request(fact, alone=True)


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("Remember that I use the TL-SE2109. How do I reset it?", "I use the TL-SE2109"),
        ("请记住我用的是 TL-SE2109。怎么恢复出厂设置？", "我用的是 TL-SE2109"),
    ],
)
def test_fact_followed_by_a_question(message: str, fact: str) -> None:
    assert read_request(message) == Request(fact, alone=False)


@pytest.mark.parametrize(
    "message",
    [
        "Do you remember that the switch has nine ports?",
        "Can you remember my name?",
        "Remember when we talked about ports?",
        "What should I remember about the warranty?",
        "How does the switch remember its settings?",
        "remember",
        "Remember that ?",
        "你还记得我的工号吗？",
        "记住了吗？",
        "记住密码的方法是什么",
        "记得我昨天问的问题吗",
        "交换机会记住设置吗？",
        "请记住？",
        "以后怎么记住密码？",
        "And do you remember my name?",
        "",
    ],
)
def test_messages_without_a_request(message: str) -> None:
    assert read_request(message) is None


@given(st.text("remember that请记住：, .?？\n我I", max_size=60))
def test_arbitrary_messages_do_not_fail(message: str) -> None:
    request = read_request(message)
    assert request is None or (request.fact and request.fact in " ".join(message.split()))
