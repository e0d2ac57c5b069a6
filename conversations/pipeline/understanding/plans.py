"""What a model makes of a question: its reply read as a plan, and the plan held against what the rules see. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy

from conversations.pipeline.understanding.rewriting import Unusable, refuses, usable_rewrite
from ragsite.language.detection import language_of
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH
from ragsite.llm.stream.json_reply import line, number, objects, truth, words

MAX_QUERIES = 5
# Characters of a key term.
MAX_QUERY = 80
# Characters of a question in another language.
MAX_TRANSLATION = 240
# A model this unsure, or less, is not followed away from the documents.
UNSURE = 0.5
# From here on, one that would chat is followed at once where the message doesn't ask for anything.
SURE = 0.8

# Both vocabularies are taken in both places: models mix them up.
_ACTIONS = {
    "retrieve_vector": "retrieve_vector", "kb_retrieval": "retrieve_vector", "retrieve": "retrieve_vector",
    "retrieval": "retrieve_vector", "search": "retrieve_vector",
    "answer_chat": "answer_chat", "chat": "answer_chat",
    "clarify": "clarify", "clarification": "clarify",
}  # fmt: skip
_ASKS = re.compile(
    rf"[?？]\s*$|\b({INTERROGATIVES_EN})\b|{INTERROGATIVES_ZH}|几|是否|吗",
    re.IGNORECASE,
)
_OF_THE_TALK = re.compile(r"\b(i|me|my|you|your|we|us|our)\b|我|你|您|咱|刚才|刚刚|这次对话", re.IGNORECASE)
# Wishes to be told something. "Tell me a joke" and "summarise that" want nothing that stands in documents.
_WISHES = re.compile(
    r"\b(tell|show|give|list|find|explain|describe|summari[sz]e|compare|look\s+up|search)\b"
    r"(?!(\s+(me|us|for))?\s+(an?|that|this|it|again)\b)"
    r"|介绍|说明|列出|列举|告诉|查|找|总结|概括|比较|解释",
    re.IGNORECASE,
)
# Asked of this conversation itself, or of the answers in it. That "I" or "you" stands in a question says less: "how do
# you reset it?", "how many days do we get?"
_OF_THIS_TALK = re.compile(
    r"\b(did|have)\s+(i|you|we)\s+(just\s+)?(ask|asked|say|said|tell|told|talk|talked|mention|mentioned)\b"
    r"|\b(my|your)\s+(first|last|previous)\s+(question|message|answer|reply)\b|\bthis\s+(conversation|chat)\b"
    r"|\b(how|who)\s+are\s+you\b"
    r"|^\W*(can|could|would|will)\s+you\s+(please\s+)?(make|say|repeat|rephrase|translate|shorten|rewrite)\b"
    r"|刚才|刚刚|这次对话|(第|上|前)一个(问题|回答)",
    re.IGNORECASE,
)
# What may be done with a question, in words.
ACTIONS = {
    "retrieve_vector": gettext_lazy("search the documents"),
    "answer_chat": gettext_lazy("answer without searching"),
    "clarify": gettext_lazy("ask back"),
}
INTENTS = {"retrieve_vector": "kb_retrieval", "answer_chat": "chat", "clarify": "clarify"}


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """A model's plan. `queries` are key terms, `k` is how many passages it wants; `notes` are slugs for the trace.

    `followup` is None where the model didn't say; `translations` are the question in other languages, by their codes;
    `deferred_action` is what it would do rather than search, where what the search finds decides on it.
    """

    action: str
    intent: str
    confidence: float | None = None
    queries: tuple[str, ...] = ()
    rewrite: str = ""
    translations: tuple[tuple[str, str], ...] = ()
    followup: bool | None = None
    k: int | None = None
    deferred_action: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Whether the model says itself that it is none too certain."""
        return self.confidence is not None and self.confidence <= UNSURE

    @property
    def is_sure(self) -> bool:
        """Whether the model says itself that it is certain, and doesn't contradict itself."""
        return self.confidence is not None and self.confidence >= SURE and "contradiction" not in self.notes


def read_plan(reply: str, question: str, background: str = "") -> ModelPlan:
    """Return the first usable plan of a reply; raises `Unusable` with the reason, a stable slug, when there is none.

    What is missing or of the wrong type is left open. Where intent and action contradict each other and either is to
    search, it is searched, since that loses nothing; else the action counts. `background` is the conversation.
    """
    found = objects(reply, "intent", "plan") or objects(reply, "action")
    if not found:
        raise Unusable("refusal" if refuses(reply, question) else "empty" if not reply.strip() else "no JSON")
    for item in found:
        plan = _plan(item, question, background, reply)
        if plan is not None:
            return replace(plan, notes=(*plan.notes, "several objects")) if len(found) > 1 else plan
    raise Unusable("no plan")


def reconcile(plan: ModelPlan, ruled: str, *, asks: bool, depends: bool, alone: bool) -> ModelPlan:
    """Return the plan as it is followed.

    `ruled` is the action that the rules would take, `asks` whether the message may want something of the documents,
    `depends` whether it points at something outside it, and `alone` that nothing came before it. An answer without the
    documents, where the documents hold one, is a loss that a reader can't see. So a model that would chat or ask back
    is followed at once only where the rules agree, where a question points at nothing, or where it is sure to chat and
    nothing is asked; where it is unsure it is searched; else the search is made and decides.
    """
    if plan.action in ("retrieve_vector", ruled):
        return plan
    if plan.is_unsure:
        return replace(plan, action="retrieve_vector", notes=(*plan.notes, "unsure"))
    if plan.action == "clarify" and depends and alone:
        return plan
    if plan.action == "answer_chat" and plan.is_sure and not asks:
        return plan
    return replace(plan, action="retrieve_vector", deferred_action=plan.action)


def asks_for_facts(question: str) -> bool:
    """Whether a message is a question, and not a wish, a remark, or about those who talk here and what they said."""
    return bool(_ASKS.search(question)) and not _OF_THE_TALK.search(question)


def may_ask_for_facts(message: str) -> bool:
    """Whether a message may want something that stands in documents: it asks, or wishes to be told, or has a number.

    In doubt it does; only what is asked of the conversation itself does not.
    """
    if _OF_THIS_TALK.search(message):
        return False
    return bool(_ASKS.search(message) or _WISHES.search(message) or re.search(r"\d", message))


def _plan(item: dict[str, Any], question: str, background: str, reply: str) -> ModelPlan | None:
    inner = item["plan"] if isinstance(item.get("plan"), dict) else item
    arguments = inner["args"] if isinstance(inner.get("args"), dict) else {}
    by_intent = _ACTIONS.get(_slug(item.get("intent")))
    by_plan = _ACTIONS.get(_slug(inner.get("action")))
    if by_intent and by_plan and by_intent != by_plan:
        action, notes = "retrieve_vector" if "retrieve_vector" in (by_intent, by_plan) else by_plan, ["contradiction"]
    else:
        action, notes = by_plan or by_intent or "", []
    if not action:
        return None
    written, rewrite = line(item.get("rewrite")), ""
    cut = bool(written) and line(reply).endswith(written)  # the reply broke off within it, and was repaired
    try:
        rewrite = usable_rewrite(written, question, background, cut=cut)
    except Unusable as unusable:
        if unusable.reason != "empty":
            notes.append(f"rewrite: {unusable.reason}")
    confidence = number(item.get("confidence"))
    if confidence is not None and 1 < confidence <= 100:
        confidence /= 100
    told = item.get("translations")
    translations: dict[str, str] = {}  # by the languages that they are in, whatever the model names these
    for text in map(line, told.values() if isinstance(told, dict) else told if isinstance(told, list) else [told]):
        if text and len(text) <= MAX_TRANSLATION and not refuses(text, question):
            translations.setdefault(language_of(text), text)
    wanted = number(arguments.get("k", inner.get("k", item.get("k"))))
    found = words(item.get("queries")) or words(arguments.get("queries"))
    return ModelPlan(
        action=action,
        intent=INTENTS[action],
        confidence=confidence if confidence is not None and 0 <= confidence <= 1 else None,
        queries=tuple(term for term in found if len(term) <= MAX_QUERY)[:MAX_QUERIES],
        rewrite=rewrite,
        translations=tuple((language, text) for language, text in translations.items() if language),
        followup=truth(item.get("followup")),
        k=int(wanted) if wanted is not None and wanted >= 1 else None,
        notes=tuple(notes),
    )


def _slug(value: Any) -> str:
    return line(value).lower().replace(" ", "_").replace("-", "_")
