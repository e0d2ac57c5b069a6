"""Questions that don't name the thing they ask about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.language.missing_object import lacks_object


@pytest.mark.parametrize(
    "question",
    [
        "How long does it take?",
        "Is that included?",
        "Which one is cheaper?",
        "Which is cheaper?",
        "What about the other one?",
        "And in 2023?",
        "Does it cost extra?",
        "Can I turn it off?",
        "Is this normal?",
        "Why does that fail?",
        "What's the difference?",
        "Which of the two should I take?",
        "What colour is it?",
        "What if it fails?",
        "how often",
        "please give me an example",
        "多少钱？",
        "怎么取消它？",
        "去年呢？",
        "那2023年呢？",
        "哪一个更好？",
        "包括在内吗？",
        "这个可以关掉吗？",
        "还能申请吗？",
        "为什么它不工作？",
        "有其他的吗？",
        "请再多说一点",
    ],
)
def test_questions_that_lack_their_object(question: str) -> None:
    assert lacks_object(question)


@pytest.mark.parametrize(
    "question",
    [
        # keywords
        "VACUUM FULL",
        "warranty fans",
        "TEMP light amber",
        "same day",
        "pricing",
        "pricing?",
        "IT",
        "年假",
        "最大",
        "年假？",
        # an object of its own beside a pronoun
        "How do I make psql print the time it took?",
        "What does it mean when the SYS light is red?",
        "Is it necessary to have a will?",
        "Does it support IPv6?",
        "Does it run on windows?",
        "Is it for Kubernetes?",
        "What is this button?",
        "How do I use this button?",
        "How much is the licence for it?",
        "它支持中文吗？",
        "这个文件在哪？",
        "404 是什么意思？",
        "What does 404 mean?",
        "What does 🔴 mean?",
        # a deed that is one by itself
        "how long is the warranty",
        "What about security?",
        "How do I get started?",
        "How many days off do I get?",
        "怎么请假？",
        "如何报销？",
        "再次登录要多久？",
        "这里能停车吗？",
        "春节是什么时候？",
        "哪款车最长？",
        "泵多少钱？",
        "什么是健康？",
        # languages that are not known
        "これは何ですか？",
        "Wie lange dauert es?",
    ],
)
def test_questions_that_have_an_object(question: str) -> None:
    assert not lacks_object(question)


@given(st.text(max_size=60))
def test_any_text_is_accepted(text: str) -> None:
    assert lacks_object(text) in (True, False)
