"""What was recalled and what fitted the window, in words for the trace."""

from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.prompts import truncation

Facts = list[tuple[str, str]]


def of_history(detail: dict[str, Any]) -> Facts:
    """Say how much of the conversation was recalled."""
    if "turns" not in detail:
        return []
    facts = [(_("Recalled"), _turns(len(detail["turns"])))]
    if unanswered := len(detail.get("unanswered", [])):
        facts.append((_("Not answered"), _turns(unanswered)))
    if detail.get("summary"):
        facts.append((_("Before them"), _("a summary")))
    return facts


def of_relevant_history(detail: dict[str, Any]) -> Facts:
    """Say how many earlier turns are like the question, by what and how much, or how little the nearest is."""
    if "turns" not in detail:
        return []
    ways = {"vector": _("by meaning"), "words": _("by words")}
    found = _turns(len(detail["turns"]))
    like = _(", ").join(f"{similarity:.2f}" for similarity in detail.get("similarities", []))
    facts = [(_("Like the question"), " · ".join(filter(None, (found, ways.get(detail.get("by", ""), ""), like))))]
    if not detail["turns"] and detail.get("nearest") is not None:
        facts.append((_("Nearest"), _("%(similarity).2f, too little") % {"similarity": detail["nearest"]}))
    return facts


def of_memory(detail: dict[str, Any]) -> Facts:
    """Count the remembered facts; what they say is their user's."""
    if "facts" not in detail:
        return []
    count = detail["facts"]
    return [(_("Remembered"), ngettext("%(count)d fact", "%(count)d facts", count) % {"count": count})]


def of_budget(detail: dict[str, Any]) -> Facts:
    """Say what the window holds, what was kept of each kind, and what was left out and why."""
    if "limit" not in detail:
        return []
    used = _("%(tokens)s of %(limit)s tokens") % {name: _number(detail[name]) for name in ("tokens", "limit")}
    kept = detail.get("kept", {})
    passages, remembered = kept.get("evidence", 0), kept.get("facts", 0)
    parts = [
        ngettext("%(count)d passage", "%(count)d passages", passages) % {"count": passages},
        _("the summary") if kept.get("summary") else "",
        ngettext("%(count)d remembered fact", "%(count)d remembered facts", remembered) % {"count": remembered}
        if remembered
        else "",
        _turns(kept.get("relevant", 0) + kept.get("recent", 0)),
    ]
    facts = [(_("Used"), used), (_("Kept"), _(", ").join(filter(None, parts)))]
    if detail.get("factor", 1) != 1:
        facts.append((_("Counted"), _("× %(factor).2f, as this model counts") % {"factor": detail["factor"]}))
    if "window" in detail:
        told = _("%(window)s tokens, of which %(reserve)s are kept for the answer and 5 %% for safety")
        facts.append((_("Window"), told % {name: _number(detail[name]) for name in ("window", "reserve")}))
    if left_out := truncation.sentence(detail.get("left_out", {})):
        facts.append((_("Did not fit"), left_out))
    names = {
        "evidence": _("passage %(number)d"),
        "summary": _("summary"),
        "facts": _("remembered fact %(number)d"),
        "relevant": _("similar turn %(number)d"),
        "recent": _("recent turn %(number)d"),
    }
    for cut in detail.get("cuts", []):
        what = names.get(cut["kind"], str(cut["kind"])) % {"number": cut["position"] + 1}
        sizes = {"what": what, "tokens": _number(cut["tokens"]), "left": _number(cut["left"])}
        facts.append((_("Left out"), _("%(what)s: %(tokens)s tokens, and %(left)s were left") % sizes))
    return facts


def _turns(count: int) -> str:
    return ngettext("%(count)d earlier turn", "%(count)d earlier turns", count) % {"count": count}


def _number(value: int) -> str:
    return number_format(value, force_grouping=True)
