"""Difficult replies of models to the understanding, rewriting and filter calls."""

import json
from typing import Any

QUESTION = "How is port isolation configured on it?"
REWRITE = "How is port isolation configured on the TL-SE2109 switch?"


def plan(**fields: Any) -> dict[str, Any]:
    """Return a plan to search, with the given fields replaced."""
    return {
        "intent": "kb_retrieval",
        "confidence": 0.9,
        "queries": ["TL-SE2109", "port isolation"],
        "rewrite": REWRITE,
        "followup": True,
        "plan": {"action": "retrieve_vector", "args": {"k": 6}},
    } | fields


def chat(**fields: Any) -> dict[str, Any]:
    """Return a plan to chat."""
    return plan(intent="chat", queries=[], rewrite="", plan={"action": "answer_chat", "args": {}}) | fields


def clarify(**fields: Any) -> dict[str, Any]:
    """Return a plan to ask a clarifying question."""
    return plan(intent="clarify", queries=[], rewrite="", plan={"action": "clarify", "args": {}}) | fields


_PLAN = json.dumps(plan(), ensure_ascii=False)

# name → (reply, its planned action or the slug of its problem)
HARD_PLANS: dict[str, tuple[str, str]] = {
    "plain": (_PLAN, "retrieve_vector"),
    "fenced": (f"```json\n{_PLAN}\n```", "retrieve_vector"),
    "fenced without a language": (f"```\n{_PLAN}\n```", "retrieve_vector"),
    "prose before and after": (f"Sure! Here is the plan:\n{_PLAN}\nLet me know {{if}} it fits.", "retrieve_vector"),
    "trailing prose": (f"{_PLAN} I chose retrieval because the user names a product.", "retrieve_vector"),
    "two objects, the first counts": (f"{_PLAN}\n{json.dumps(chat())}", "retrieve_vector"),
    "two objects, the first is none": (f'{{"thought": "hm"}}\n{_PLAN}', "retrieve_vector"),
    "in a list": (f"[{_PLAN}]", "retrieve_vector"),
    "wrapped": (f'{{"result": {_PLAN}}}', "retrieve_vector"),
    "indented": (json.dumps(plan(), indent=4), "retrieve_vector"),
    "trailing comma": (_PLAN[:-1] + ",}", "retrieve_vector"),
    "single quotes": (str(plan()), "retrieve_vector"),
    "keys without quotes": ('{intent: "chat", plan: {action: "answer_chat"}}', "answer_chat"),
    "curly quotes": ("{“intent”: “chat”, “plan”: {“action”: “answer_chat”}}", "answer_chat"),
    "comments": ('{"intent": "chat", // a greeting\n "confidence": 1}', "answer_chat"),
    "cut off": (_PLAN[: len(_PLAN) // 2], "cut off"),
    "cut off inside the plan": (_PLAN[:-20], "cut off"),
    "cut off after the plan": ('{"intent": "chat", "plan": {"action": "answer_chat"}, "rewr', "cut off"),
    "without its last brace": (_PLAN[:-1], "cut off"),
    "the second is cut off": (f"{_PLAN}\n{_PLAN[:40]}", "retrieve_vector"),
    "cut off around a whole plan": (f'{{"result": {_PLAN}, "no', "retrieve_vector"),
    "braces in texts": (json.dumps(plan(rewrite="What does {port} isolation } mean?")), "retrieve_vector"),
    "not a number": ('{"intent": "chat", "confidence": NaN, "plan": {"action": "answer_chat"}}', "answer_chat"),
    "plan as a word": ('{"intent": "clarify", "plan": "clarify"}', "clarify"),
    "wrong types": ('{"intent": ["chat"], "plan": [1], "confidence": {}}', "no plan"),
    "unknown words": ('{"intent": "dance", "plan": {"action": "sing"}}', "no plan"),
    "empty object": ("{}", "no JSON"),
    "another object": ('{"answer": "Hold the button."}', "no JSON"),
    "empty": ("", "empty"),
    "white space": (" \n\t", "empty"),
    "prose": ("The user wants to know about port isolation.", "no JSON"),
    "an answer": ("Port isolation is configured on the settings page.", "no JSON"),
    "refusal": ("I'm sorry, but I can't help with that request.", "refusal"),
    "Chinese refusal": ("抱歉，我无法处理这个请求。", "refusal"),
    "null": ("null", "no JSON"),
    "a list of words": ('["kb_retrieval"]', "no JSON"),
    "brackets": ("[" * 3000 + "{" * 3000, "no JSON"),
    "thinking before": (f"<think>Is it chat? {json.dumps(chat())}</think>{_PLAN}", "retrieve_vector"),
}
