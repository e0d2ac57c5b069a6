"""Texts for an answer's progress and duration."""

from django.utils.translation import gettext as _

from conversations.events import Answer
from conversations.turns.lifecycle import find_node


def progress(answer: Answer) -> str:
    """Return the name of the latest step that hasn't ended."""
    running = [step for step in answer.steps.values() if step["status"] == "processing"]
    if not running:
        return _("Thinking")
    step = max(running, key=lambda step: step["seq"])
    node = find_node(step["key"])
    return str((node.progress if node else "") or step.get("message") or step["step_name"])


def duration(ms: float) -> str:
    """Return milliseconds in a readable form."""
    seconds = ms / 1000
    if seconds < 0.1:
        return _("%(ms)d ms") % {"ms": round(ms)}
    if seconds < 60:
        return _("%(seconds).1f s") % {"seconds": seconds}
    return _("%(minutes)d min %(seconds)d s") % {"minutes": seconds // 60, "seconds": seconds % 60}
