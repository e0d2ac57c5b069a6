"""What the small questions to models came to, in words for the trace: understanding, rewriting, second look, filter."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# Why a small question has no usable answer, by slugs of `asking.NoReply` and `rewriting.Unusable`.
NO_ANSWER: dict[str, Any] = {
    "no model": gettext_lazy("no model is configured for it"),
    "paused": gettext_lazy("the model was too slow a moment ago, and is left alone for a minute"),
    "timed out": gettext_lazy("the model took too long"),
    "failed": gettext_lazy("the model failed"),
    "empty": gettext_lazy("the reply was empty"),
    "refusal": gettext_lazy("the model refused"),
    "no JSON": gettext_lazy("the reply holds no plan"),
    "no plan": gettext_lazy("the reply's plan says nothing that is known"),
    "no verdict": gettext_lazy("the reply holds no verdict"),
    "explains": gettext_lazy("the reply explains instead of rewriting"),
    "too long": gettext_lazy("the rewritten question is too long"),
    "off the subject": gettext_lazy("the rewritten question has nothing to do with the question"),
    "made up": gettext_lazy("the rewritten question names what nobody has named"),
    "unchanged": gettext_lazy("the question stands as it is"),
}
_NOTES: dict[str, Any] = {
    "contradiction": gettext_lazy("its intent and its action contradict each other"),
    "unsure": gettext_lazy("the model is too unsure to be followed away from the documents"),
    "several objects": gettext_lazy("the reply holds several plans; the first counts"),
}

Facts = list[tuple[str, str]]


def of_understanding(detail: dict[str, Any]) -> Facts:
    """Say who decided, how surely, what was odd about it, and which words of the conversation were taken along."""
    facts: Facts = []
    if detail.get("carried"):
        facts.append((_("Carried over"), " · ".join(detail["carried"])))
    if detail.get("by") == "model":
        facts.append((_("Decided by"), str(detail.get("model", ""))))
        if detail.get("confidence") is not None:
            facts.append((_("Certainty"), f"{detail['confidence']:.0%}"))
        if detail.get("key_terms"):
            facts.append((_("Key terms"), " · ".join(detail["key_terms"])))
        facts += [(_("In the documents' language"), text) for text in detail.get("translations", {}).values()]
        if detail.get("deferred_action") == "answer_chat":
            facts.append((_("Note"), _("the model would rather chat; what the search finds decides")))
        elif detail.get("deferred_action") == "clarify":
            facts.append((_("Note"), _("the model would rather ask back; what the search finds decides")))
        facts += [(_("Note"), note) for note in map(_note, detail.get("notes", [])) if note]
    elif detail.get("fallback"):
        facts.append((_("Decided by"), _("rules")))
        facts.append((_("Not by a model"), _reason(detail["fallback"], detail.get("fallback_detail", ""))))
    return facts


def of_rewriting(detail: dict[str, Any]) -> Facts:
    """Say what became of the question, or why it stayed."""
    facts: Facts = []
    if detail.get("rewrite"):
        facts.append((_("Rewritten"), detail["rewrite"]))
    if detail.get("kept"):
        facts.append((_("Not rewritten"), _reason(detail["kept"], detail.get("kept_detail", ""))))
    if detail.get("cached"):
        facts.append((_("Note"), _("the same question was rewritten before")))
    if detail.get("model"):
        facts.append((_("Model"), str(detail["model"])))
    return facts


def of_relevance_gate(detail: dict[str, Any]) -> Facts:
    """Say whether the documents speak of the question, and by which measures."""
    states = {
        "answered": _("an answer"),
        "nearest": _("the closest passages, which may not answer"),
        "nothing": _("the documents don't speak of it"),
    }
    if detail.get("state") not in states:
        return []
    facts: Facts = [(_("Found"), states[detail["state"]]), (_("Of the question's words"), f"{detail['covered']:.0%}")]
    if detail["missing_names"]:
        facts.append((_("In no passage"), ", ".join(detail["missing_names"])))
    if detail["similarity"] is not None:
        facts.append((_("Nearest in meaning"), f"{detail['similarity']:.2f}"))
    return facts


def of_filter(detail: dict[str, Any]) -> Facts:
    """Say who judged, and why there are no verdicts."""
    facts: Facts = [(_("Model"), str(detail["model"]))] if detail.get("model") else []
    if detail.get("note"):
        facts.append((_("Note"), _reason(detail["note"], detail.get("note_detail", ""))))
    return facts


def of_verdict(judged: dict[str, Any]) -> str:
    """Say what a model judged of one passage, and why."""
    kinds: dict[Any, str] = {True: _("answers"), False: _("does not answer")}
    words = kinds.get(judged.get("keep"), _("not judged, and so kept"))
    reason = str(judged.get("reason", ""))
    return " · ".join(filter(None, (words, str(NO_ANSWER.get(reason, reason)))))


def _reason(slug: str, detail: str) -> str:
    return " ".join(filter(None, (f"{NO_ANSWER.get(slug, slug)}.", detail)))


def _note(slug: str) -> str:
    if slug.startswith("rewrite: "):
        return str(NO_ANSWER.get(slug.removeprefix("rewrite: "), ""))
    return str(_NOTES.get(slug, ""))
