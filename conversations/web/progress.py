"""How far an answer is, and how long it took, in words for a reader."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations.events import Answer

# What the reader is told while a step runs; others go by their own names.
PROGRESS: dict[str, Any] = {
    "save_question": gettext_lazy("Thinking"),
    "understand": gettext_lazy("Understanding the question"),
    "rewrite": gettext_lazy("Rewriting the question"),
    "vector_search": gettext_lazy("Searching your documents"),
    "fulltext_search": gettext_lazy("Searching your documents"),
    "fusion": gettext_lazy("Weighing what was found"),
    "metadata": gettext_lazy("Weighing what was found"),
    "budget": gettext_lazy("Reading the passages"),
    "generate": gettext_lazy("Writing the answer"),
    "save": gettext_lazy("Finishing"),
}


def progress(answer: Answer) -> str:
    """Name the step that began last and has not ended."""
    running = [step for step in answer.steps.values() if step["status"] == "processing"]
    if not running:
        return _("Thinking")
    step = max(running, key=lambda step: step["seq"])
    return str(PROGRESS.get(step["key"]) or step.get("message") or step["step_name"])


def duration(ms: float) -> str:
    """Return milliseconds as a person says them."""
    seconds = ms / 1000
    if seconds < 0.1:
        return _("%(ms)d ms") % {"ms": round(ms)}
    if seconds < 60:
        return _("%(seconds).1f s") % {"seconds": seconds}
    return _("%(minutes)d min %(seconds)d s") % {"minutes": seconds // 60, "seconds": seconds % 60}
