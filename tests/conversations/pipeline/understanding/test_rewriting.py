"""Extracting a rewritten question from a model's reply, or rejecting the reply."""

import pytest

from conversations.pipeline.understanding.rewriting import Unusable, usable_rewrite

QUESTION = "How long does it take?"
BACKGROUND = "User: How do I reset the TL-SE2109 switch?\nAssistant: Hold the button."
WANTED = "How long does it take to reset the TL-SE2109 switch?"


@pytest.mark.parametrize(
    "reply",
    [
        WANTED,
        f"  {WANTED}\n",
        f'"{WANTED}"',
        f"“{WANTED}”",
        f"「{WANTED}」",
        f"`{WANTED}`",
        f"**{WANTED}**",
        f"- {WANTED}",
        f"1. {WANTED}",
        f"User: {WANTED}",
        f"Message: {WANTED}",
        f"消息：{WANTED}",
        f"查询改写：{WANTED}",
        f"{WANTED} (rewritten from: {QUESTION})",
        f"{WANTED}（“它”指的是复位）",
        f'{{"rewrite": "{WANTED}"}}',
        f'```json\n{{"question": "{WANTED}"}}\n```',
        f"{{'改写': '{WANTED}'}}",
        f"Rewritten question: {WANTED}",
        f"Rewritten question:\n{WANTED}",
        f"**Rewritten question:** {WANTED}",
        f'The rewritten question is: "{WANTED}"',
        f"Stand-alone question: {WANTED}",
        f"Question: {WANTED}",
        f"Q: {WANTED}",
        f"Sure! Here is the rewritten question:\n\n{WANTED}",
        f"Here's a stand-alone version: {WANTED}",
        f"改写后的问题：{WANTED}",
        f"改写后的问题：“{WANTED}”",
        f"好的，改写如下：\n{WANTED}",
        f"完整问题：{WANTED}",
        f"```\n{WANTED}\n```",
        f"```text\n{WANTED}\n```",
    ],
)
def test_the_question_is_extracted_from_its_wrapping(reply: str) -> None:
    assert usable_rewrite(reply, QUESTION, BACKGROUND) == WANTED


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ('""', "empty"),
        ("Rewritten question:", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("I cannot rewrite this question.", "refusal"),
        ("As an AI language model, I have no switch.", "refusal"),
        ("抱歉，我无法改写这个问题。", "refusal"),
        ("作为一个人工智能助手，我不能回答。", "refusal"),
        ("The user is asking how long it takes to reset the TL-SE2109.", "explains"),
        ("Based on the conversation, the question is about the TL-SE2109 reset.", "explains"),
        ("用户想知道重置 TL-SE2109 需要多久。", "explains"),
        (f"{WANTED}\n\nExplanation: “it” is the reset.", "explains"),
        ("It takes ten seconds to reset the TL-SE2109 switch [1].", "explains"),
        ("It takes ten seconds to reset the TL-SE2109 switch.[1][2]", "explains"),
        ("重置 TL-SE2109 需要十秒【1】。", "explains"),
        ('{"rewrite": ""}', "empty"),
        ('{"rewrite": "I cannot do that."}', "refusal"),
        (f"1. {WANTED}\n2. How long does the reset of the switch take?", "explains"),
        (WANTED + " It takes" + " ten seconds of holding the reset button" * 8, "too long"),
        ("交换机" * 50, "too long"),
        ("What is the capital of France?", "off the subject"),
        ("什么？", "off the subject"),
    ],
)
def test_a_reply_that_is_not_a_question_is_rejected(reply: str, reason: str) -> None:
    with pytest.raises(Unusable) as left:
        usable_rewrite(reply, QUESTION, BACKGROUND)
    assert left.value.reason == reason


def test_a_reply_that_was_cut_off_is_rejected() -> None:
    with pytest.raises(Unusable, match="too long"):
        usable_rewrite(WANTED[:-10], QUESTION, BACKGROUND, cut=True)


@pytest.mark.parametrize("reply", [QUESTION, f'"{QUESTION}"', "how long does it take"])
def test_the_unchanged_question_is_not_a_rewrite(reply: str) -> None:
    assert usable_rewrite(reply, QUESTION, BACKGROUND) == ""


@pytest.mark.parametrize(
    "question",
    [
        "I can't log in to the switch, what now?",
        "Sorry, how long is the warranty of the switch?",
        "我无法登录交换机怎么办？",
        "The user manual says what about the switch?",
        "What is “port isolation” on the switch?",
        "The switch in room 3: what is its address?",
        "用户手册里的交换机保修期多久？",
        "根据历史记录，交换机重启过几次？",
        "New version of the switch firmware: what changed?",
        "What is the size of the switch? (in inches)",
        'What does {"question": 1} mean to the switch?',
    ],
)
def test_questions_that_look_like_something_else_stay_whole(question: str) -> None:
    assert usable_rewrite(question + " [TL-SE2109]", question, BACKGROUND) == question + " [TL-SE2109]"


@pytest.mark.parametrize("wrapping", ["Question: ", "1. ", "问：", '"', "**", "?(a"])
def test_an_endless_reply_is_rejected_at_once(wrapping: str) -> None:
    with pytest.raises(Unusable):
        usable_rewrite(wrapping * 50_000, QUESTION, BACKGROUND)


def test_nested_wrappings_are_all_removed() -> None:
    assert usable_rewrite(f"Sure: **Rewritten question:** “1. {WANTED}”", QUESTION, BACKGROUND) == WANTED


@pytest.mark.parametrize("question", ["What does ports[2] of the switch hold?", "What is the switch's ports[2]?"])
def test_brackets_in_code_are_not_citations(question: str) -> None:
    assert usable_rewrite(question, "What does it hold?", BACKGROUND) == question
