"""Parses a model's reply into a plan for a question, and reconciles the plan with the rules. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy

from conversations.pipeline.understanding.rewriting import Unusable, refuses, usable_rewrite
from ragsite.language.detection import language_of
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH
from ragsite.llm.stream.json_reply import is_cut_off, line, number, objects, truth, words

MAX_QUERIES = 5
# The most characters of a key term.
MAX_QUERY = 80
# The most characters of a translated question.
MAX_TRANSLATION = 240
# With at most this confidence, a model can't skip the search.
UNSURE = 0.5
# From this confidence on, a model that would chat is followed at once if the message doesn't ask for anything.
SURE = 0.8

# Both fields accept both vocabularies, since models mix them up.
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
# Requests for information. "Tell me a joke" and "summarise that" don't ask for anything in documents.
_WISHES = re.compile(
    r"\b(tell|show|give|list|find|explain|describe|summari[sz]e|compare|look\s+up|search)\b"
    r"(?!(\s+(me|us|for))?\s+(an?|that|this|it|again)\b)"
    r"|介绍|说明|列出|列举|告诉|查|找|总结|概括|比较|解释",
    re.IGNORECASE,
)
# Questions about this conversation or its answers. "I" or "you" alone is not enough: "how do you reset it?", "how many
# days do we get?"
_OF_THIS_TALK = re.compile(
    r"\b(did|have)\s+(i|you|we)\s+(just\s+)?(ask|asked|say|said|tell|told|talk|talked|mention|mentioned)\b"
    r"|\b(my|your)\s+(first|last|previous)\s+(question|message|answer|reply)\b|\bthis\s+(conversation|chat)\b"
    r"|\b(how|who)\s+are\s+you\b"
    r"|^\W*(can|could|would|will)\s+you\s+(please\s+)?(make|say|repeat|rephrase|translate|shorten|rewrite)\b"
    r"|刚才|刚刚|这次对话|(第|上|前)一个(问题|回答)",
    re.IGNORECASE,
)
# The possible actions in words.
ACTIONS = {
    "retrieve_vector": gettext_lazy("search the documents"),
    "answer_chat": gettext_lazy("answer without searching"),
    "clarify": gettext_lazy("ask for clarification"),
}
INTENTS = {"retrieve_vector": "kb_retrieval", "answer_chat": "chat", "clarify": "clarify"}


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """A model's plan: `queries` are key terms, `k` is the number of passages wanted, `notes` are slugs for the trace.

    `followup` is None if the model didn't say; `translations` are pairs of language code and question;
    `deferred_action` is what the model would prefer to a search, and is done if the search finds nothing.
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
        """Whether the model reports a low confidence."""
        return self.confidence is not None and self.confidence <= UNSURE

    @property
    def is_sure(self) -> bool:
        """Whether the model reports a high confidence and doesn't contradict itself."""
        return self.confidence is not None and self.confidence >= SURE and "contradiction" not in self.notes


def read_plan(reply: str, question: str, background: str = "") -> ModelPlan:
    """Return the first usable plan in a reply; raises `Unusable` with a stable slug as its reason if there is none.

    Missing fields and those of a wrong type are left empty. If intent and action contradict each other and one of them
    is to search, the plan is to search, since that loses nothing; otherwise the action counts. A plan whose end is
    missing is unusable, since the rest may have said something else. `background` is the conversation.
    """
    found = objects(reply, "intent", "plan") or objects(reply, "action")
    if not found:
        if refuses(reply, question):
            raise Unusable("refusal")
        raise Unusable("no JSON" if reply.strip() else "empty")
    if is_cut_off(reply, "intent", "plan"):
        raise Unusable("cut off")
    for item in found:
        plan = _plan(item, question, background)
        if plan is not None:
            return replace(plan, notes=(*plan.notes, "several objects")) if len(found) > 1 else plan
    raise Unusable("no plan")


def reconcile(plan: ModelPlan, ruled: str, *, asks: bool, depends: bool, alone: bool) -> ModelPlan:
    """Return the plan to follow.

    `ruled` is the action that the rules would take, `asks` whether the message may ask for something in the documents,
    `depends` whether it refers to something outside itself, and `alone` whether it is the first of the conversation.
    Answering without the documents although they contain an answer is a mistake that the user can't see. So a plan to
    chat or to ask for clarification is followed at once only if the rules agree, if a first message refers to
    something, or if the model is sure about chatting and nothing is asked. If the model is unsure, the plan becomes a
    search; in all other cases the search results decide.
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
    """Return whether a message is a question, but not one about the people talking or what they said."""
    question = simplified(question)
    return bool(_ASKS.search(question)) and not _OF_THE_TALK.search(question)


def may_ask_for_facts(message: str) -> bool:
    """Return whether a message may ask for something in documents: a question, a request for information or a number.

    In doubt it does; only a question about the conversation itself does not.
    """
    message = simplified(message)
    if _OF_THIS_TALK.search(message):
        return False
    return bool(_ASKS.search(message) or _WISHES.search(message) or re.search(r"\d", message))


def _plan(item: dict[str, Any], question: str, background: str) -> ModelPlan | None:
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
    rewrite = ""
    try:
        rewrite = usable_rewrite(line(item.get("rewrite")), question, background)
    except Unusable as unusable:
        if unusable.reason != "empty":
            notes.append(f"rewrite: {unusable.reason}")
    confidence = number(item.get("confidence"))
    if confidence is not None and 1 < confidence <= 100:
        confidence /= 100
    given = item.get("translations")
    translations: dict[str, str] = {}  # by detected language, since the model's names for languages vary
    texts = list(given.values()) if isinstance(given, dict) else given
    for text in map(line, texts if isinstance(texts, list) else [texts]):
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
