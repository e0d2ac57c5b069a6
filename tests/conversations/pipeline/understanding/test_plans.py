"""A model's plan for a question: reading its reply, and reconciling it with the rules."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.pipeline.understanding.plans import ModelPlan, may_ask_for_facts, read_plan, reconcile
from conversations.pipeline.understanding.rewriting import Unusable
from ragsite.llm.stream.think import split_thinking
from tests.conversations.replies import HARD_PLANS, QUESTION, REWRITE, plan


@pytest.mark.parametrize(("reply", "action"), HARD_PLANS.values(), ids=HARD_PLANS)
def test_hard_replies(reply: str, action: str) -> None:
    _thinking, reply = split_thinking(reply)
    if action in ("empty", "refusal", "no JSON", "no plan", "cut off"):
        with pytest.raises(Unusable) as left:
            read_plan(reply, QUESTION)
        assert left.value.reason == action
    else:
        assert read_plan(reply, QUESTION).action == action


def test_a_whole_plan() -> None:
    found = read_plan(json.dumps(plan()), QUESTION)
    assert found == ModelPlan(
        action="retrieve_vector",
        intent="kb_retrieval",
        confidence=0.9,
        queries=("TL-SE2109", "port isolation"),
        rewrite=REWRITE,
        followup=True,
        k=6,
    )


@pytest.mark.parametrize(
    ("field", "value", "read"),
    [
        ("confidence", "0.7", 0.7),
        ("confidence", 85, 0.85),
        ("confidence", "90%", 0.9),
        ("confidence", "high", None),
        ("confidence", -1, None),
        ("confidence", True, None),
        ("queries", "ports, TL-SE2109；isolation", ("ports", "TL-SE2109", "isolation")),
        ("queries", ["a"] * 3 + [1, None, {"x": 1}, " ", "b"], ("a", "1", "b")),
        ("queries", list("abcdefgh"), tuple("abcde")),
        ("queries", ["x" * 500, "ports"], ("ports",)),
        ("queries", 7, ()),
        ("followup", "yes", True),
        ("followup", "no", False),
        ("followup", None, None),
        ("followup", "Which switch?", None),
        ("rewrite", None, ""),
        ("rewrite", ["a"], ""),
        ("rewrite", f"Rewritten question: “{REWRITE}”", REWRITE),
        ("rewrite", QUESTION, ""),
        ("rewrite", "I'm sorry, I can't.", ""),
        ("rewrite", "ports " * 200, ""),
    ],
)
def test_fields_of_the_wrong_type_are_read_as_far_as_possible(field: str, value: Any, read: Any) -> None:
    assert getattr(read_plan(json.dumps(plan(**{field: value})), QUESTION), field) == read


def test_a_plan_that_is_cut_off_anywhere_is_not_used() -> None:
    whole = json.dumps({"intent": "kb_retrieval", "queries": ["ports"], "rewrite": REWRITE})
    for end in range(len(whole)):
        with pytest.raises(Unusable):
            read_plan(whole[:end], QUESTION)
    assert read_plan(whole, QUESTION).rewrite == REWRITE


@pytest.mark.parametrize(
    ("k", "read"), [(3, 3), ("8", 8), (7.9, 7), (0, None), (-5, None), ("many", None), (None, None), ([4], None)]
)
def test_how_many_passages(k: Any, read: int | None) -> None:
    item = plan() | {"plan": {"action": "retrieve_vector", "args": {"k": k}}}
    assert read_plan(json.dumps(item), QUESTION).k == read


def test_key_terms_are_also_read_from_the_arguments() -> None:
    item = plan(queries=None) | {"plan": {"action": "retrieve_vector", "args": {"queries": ["ports"]}}}
    assert read_plan(json.dumps(item), QUESTION).queries == ("ports",)


@pytest.mark.parametrize(
    ("intent", "action", "followed", "notes"),
    [
        ("chat", "answer_chat", "answer_chat", ()),
        ("chat", "retrieve_vector", "retrieve_vector", ("contradiction",)),
        ("kb_retrieval", "answer_chat", "retrieve_vector", ("contradiction",)),
        ("chat", "clarify", "clarify", ("contradiction",)),
        ("clarify", "answer_chat", "answer_chat", ("contradiction",)),
        (None, "clarify", "clarify", ()),
        ("clarify", None, "clarify", ()),
        ("nonsense", "answer_chat", "answer_chat", ()),
        ("KB Retrieval", "nonsense", "retrieve_vector", ()),
    ],
)
def test_contradictions_are_resolved_and_noted(intent: Any, action: Any, followed: str, notes: tuple[str, ...]) -> None:
    found = read_plan(json.dumps(plan(intent=intent) | {"plan": {"action": action, "args": {}}}), QUESTION)
    assert (found.action, found.notes) == (followed, notes)


@given(st.text(max_size=200))
def test_any_text_is_a_plan_or_says_why_not(text: str) -> None:
    try:
        assert read_plan(text, QUESTION).action
    except Unusable as left:
        assert left.reason


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["action", "args", "k"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["intent", "confidence", "queries", "rewrite", "followup", "plan"]), _json))
def test_any_types_are_a_plan_or_say_why_not(item: dict[str, Any]) -> None:
    try:
        found = read_plan(json.dumps(item), QUESTION)
    except Unusable:
        return
    assert found.confidence is None or 0 <= found.confidence <= 1
    assert len(found.queries) <= 5


CHAT = ModelPlan("answer_chat", "chat", 0.9)
CLARIFY = ModelPlan("clarify", "clarify", 0.9)


@pytest.mark.parametrize(
    ("plan", "ruled", "depends", "alone", "followed"),
    [
        (ModelPlan("retrieve_vector", "kb_retrieval"), "retrieve_vector", False, True, ("retrieve_vector", "")),
        (CHAT, "answer_chat", False, True, ("answer_chat", "")),
        (CHAT, "retrieve_vector", False, True, ("retrieve_vector", "answer_chat")),
        (CHAT, "retrieve_vector", True, False, ("retrieve_vector", "answer_chat")),
        (ModelPlan("answer_chat", "chat"), "retrieve_vector", False, True, ("retrieve_vector", "answer_chat")),
        (ModelPlan("answer_chat", "chat", 0.5), "retrieve_vector", False, True, ("retrieve_vector", "")),
        (ModelPlan("answer_chat", "chat", 0.51), "retrieve_vector", False, True, ("retrieve_vector", "answer_chat")),
        (ModelPlan("answer_chat", "chat", 0.1), "retrieve_vector", True, False, ("retrieve_vector", "")),
        (CLARIFY, "retrieve_vector", True, True, ("clarify", "")),
        (CLARIFY, "retrieve_vector", True, False, ("retrieve_vector", "clarify")),
        (CLARIFY, "retrieve_vector", False, True, ("retrieve_vector", "clarify")),
        (ModelPlan("clarify", "clarify", 0.2), "retrieve_vector", True, True, ("retrieve_vector", "")),
        (ModelPlan("clarify", "clarify", 0.2), "clarify", False, True, ("clarify", "")),
        (ModelPlan("retrieve_vector", "kb_retrieval", 0.9), "clarify", True, True, ("retrieve_vector", "")),
        (CHAT, "clarify", True, True, ("retrieve_vector", "answer_chat")),
    ],
)
def test_when_a_model_that_would_not_search_is_followed(
    plan: ModelPlan, ruled: str, depends: bool, alone: bool, followed: tuple[str, str]
) -> None:
    result = reconcile(plan, ruled, asks=True, depends=depends, alone=alone)
    assert (result.action, result.deferred_action) == followed


@pytest.mark.parametrize(
    ("plan", "asks", "action"),
    [
        (ModelPlan("answer_chat", "chat", 0.8), False, "answer_chat"),
        (ModelPlan("answer_chat", "chat", 0.8), True, "retrieve_vector"),
        (ModelPlan("answer_chat", "chat", 0.79), False, "retrieve_vector"),
        (ModelPlan("answer_chat", "chat"), False, "retrieve_vector"),
        (ModelPlan("answer_chat", "chat", 0.9, notes=("contradiction",)), False, "retrieve_vector"),
        (ModelPlan("clarify", "clarify", 0.9), False, "retrieve_vector"),
    ],
)
def test_one_that_is_sure_about_chatting_is_followed_if_nothing_is_asked(
    plan: ModelPlan, asks: bool, action: str
) -> None:
    assert reconcile(plan, "retrieve_vector", asks=asks, depends=False, alone=True).action == action


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("Make that shorter, please.", False),
        ("Can you translate it into French?", False),
        ("Summarise that in one sentence.", False),
        ("Tell me a joke.", False),
        ("That was really helpful for my work", False),
        ("What did I ask before?", False),
        ("我刚才问了什么？", False),
        ("给我讲个笑话", False),
        ("How many days of leave do we get?", True),
        ("How do you reset the switch?", True),
        ("Can you tell me how long the guarantee lasts?", True),
        ("Tell me the guarantee of the fan.", True),
        ("And the warranty?", True),
        ("Manual of the LS-2448", True),
        ("介绍一下风扇的保修", True),
        ("我有几天年假", True),
    ],
)
def test_what_may_ask_for_something_in_the_documents(message: str, asks: bool) -> None:
    assert may_ask_for_facts(message) is asks


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"zh": "端口隔离如何配置？"}, {"zh": "端口隔离如何配置？"}),
        ({"Chinese": "端口隔离 \n 如何配置？"}, {"zh": "端口隔离 如何配置？"}),
        ("端口隔离如何配置？", {"zh": "端口隔离如何配置？"}),
        (["端口隔离如何配置？", "端口隔离"], {"zh": "端口隔离如何配置？"}),
        ({"zh": "How is port isolation configured?"}, {"en": "How is port isolation configured?"}),
        ({"zh": "端口" * 200}, {}),
        ({"zh": "抱歉，我无法翻译。"}, {}),
        ({"zh": "", "en": 7, "fr": None}, {}),
        (None, {}),
        (True, {}),
    ],
)
def test_translations_are_keyed_by_their_detected_language(value: Any, read: dict[str, str]) -> None:
    assert dict(read_plan(json.dumps(plan(translations=value)), QUESTION).translations) == read


def test_a_rewrite_that_names_a_code_of_the_prompts_example_is_made_up() -> None:
    found = read_plan(json.dumps(plan()), QUESTION, "-")
    assert not found.rewrite and found.notes == ("rewrite: made up",)
    assert read_plan(json.dumps(plan()), QUESTION, "User: Has the tl-se 2109 a fan?").rewrite == REWRITE
    assert read_plan(json.dumps(plan(rewrite="How is port isolation configured in 2026?")), QUESTION, "-").rewrite
