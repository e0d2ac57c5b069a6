"""Descriptions of a node's run for the trace: labelled facts and lists of passages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.language.sentences import join_sentences

# Why a side call to a model gave no usable reply, by the slugs of `NoReply` and `rewriting.Unusable`.
REASONS: dict[str, Any] = {
    "no model": gettext_lazy("no model is configured for it"),
    "paused": gettext_lazy("the model was too slow a moment ago and is not asked for a minute"),
    "timed out": gettext_lazy("the model took too long"),
    "failed": gettext_lazy("the model failed"),
    "empty": gettext_lazy("the reply was empty"),
    "refusal": gettext_lazy("the model refused"),
    "no JSON": gettext_lazy("the reply contains no plan"),
    "no plan": gettext_lazy("the plan in the reply names no known action"),
    "cut off": gettext_lazy("the end of the reply is missing"),
    "no verdict": gettext_lazy("the reply contains no verdict"),
    "explains": gettext_lazy("the reply explains instead of rewriting"),
    "too long": gettext_lazy("the rewritten question is too long"),
    "off the subject": gettext_lazy("the rewritten question is unrelated to the original"),
    "made up": gettext_lazy("the rewritten question names something that was never mentioned"),
    "unchanged": gettext_lazy("the question stays as it is"),
}


def reason(slug: str, detail: str = "") -> str:
    """Return why a side call gave no usable reply, with the model server's own message; empty without a slug."""
    return join_sentences(_("%(reason)s.") % {"reason": REASONS.get(slug, slug)}, detail) if slug else ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in a list: `words` say why it is there; `quote` is shown instead of its beginning."""

    chunk_id: int
    score: float | None = 0.0
    words: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PassageList:
    """Passages in order, found in `ms` milliseconds. Users are shown only the ones that they may read."""

    title: str
    passages: list[Passage]
    note: str = ""
    ms: float | None = None


@dataclass(slots=True)
class Description:
    """Labelled facts and lists of passages."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    lists: list[PassageList] = field(default_factory=list)

    def add(self, label: str, words: Any) -> None:
        """Add a fact, unless it is empty or a count of 0."""
        if words:
            self.facts.append((label, str(words)))


def previous_rank(hit: Mapping[str, Any]) -> str:
    """Return a hit's previous rank in words."""
    return _("previously number %(rank)d") % {"rank": hit["before"]}
