"""What a node says of a run of its own for the trace: facts in words, and lists of passages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.language.sentences import join_sentences

# Why a small question to a model has no usable answer, by the slugs of `NoReply` and `rewriting.Unusable`.
REASONS: dict[str, Any] = {
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


def reason(slug: str, detail: str = "") -> str:
    """Say why a small question has no usable answer, and what the model's server said of it; nothing without a slug."""
    return join_sentences(_("%(reason)s.") % {"reason": REASONS.get(slug, slug)}, detail) if slug else ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in a list: `words` say why it stands there; `quote` is shown in place of its beginning."""

    chunk_id: int
    score: float | None = 0.0
    words: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PassageList:
    """Passages in order, which took `ms` milliseconds to find. Readers are shown those alone that they may read."""

    title: str
    passages: list[Passage]
    note: str = ""
    ms: float | None = None


@dataclass(slots=True)
class Description:
    """Facts, each with its label, and lists of passages."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    lists: list[PassageList] = field(default_factory=list)

    def add(self, label: str, words: Any) -> None:
        """Add a fact, unless there is nothing to say: no words, or a count of none."""
        if words:
            self.facts.append((label, str(words)))


def previous_rank(hit: Mapping[str, Any]) -> str:
    """Say where a hit stood before."""
    return _("was number %(rank)d") % {"rank": hit["before"]}
