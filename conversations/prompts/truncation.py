"""Counts and descriptions of the parts of a prompt that did not fit into the model's window."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.prompts.compose import Composed
from ragsite.language.sentences import join_sentences

_NAMES = {"evidence": "passages", "summary": "summaries", "facts": "facts", "relevant": "turns", "recent": "turns"}


def left_out(composed: Composed, window: int) -> dict[str, int]:
    """Return how many pieces of each kind were left out or shortened, and the window; empty if everything fitted."""
    counts = Counter(f"{_NAMES[cut.kind]}_left_out" for cut in composed.fitted.cuts)
    counts.update(f"{_NAMES[item['kind']]}_shortened" for item in composed.shortened)
    return {**counts, "window": window} if counts else {}


def sentence(counts: Mapping[str, Any]) -> str:
    """Describe what was left out and why; empty if nothing was. `counts` may contain other keys too."""
    passages, turns = counts.get("passages_left_out", 0), counts.get("turns_left_out", 0)
    summaries, facts = counts.get("summaries_left_out", 0), counts.get("facts_left_out", 0)
    left_out = [
        ngettext("%(count)d passage", "%(count)d passages", passages) % {"count": passages} if passages else "",
        _("the summary") if summaries else "",
        ngettext("%(count)d remembered fact", "%(count)d remembered facts", facts) % {"count": facts} if facts else "",
        ngettext("%(count)d earlier turn", "%(count)d earlier turns", turns) % {"count": turns} if turns else "",
    ]
    shortened = [
        _("the best passage") if counts.get("passages_shortened") else "",
        _("the last answer") if counts.get("turns_shortened") else "",
    ]
    if not any(left_out + shortened) or "window" not in counts:
        return ""
    parts = []
    if any(left_out):
        parts.append(_("Left out: %(what)s.") % {"what": _(", ").join(filter(None, left_out))})
    if any(shortened):
        parts.append(_("Shortened: %(what)s.") % {"what": _(", ").join(filter(None, shortened))})
    window = _("The context window is %(tokens)s tokens.") % {
        "tokens": number_format(counts["window"], force_grouping=True)
    }
    return join_sentences(*parts, window)
