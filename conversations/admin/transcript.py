"""A session as its administrators read it: what was said, and beside it what ran, what was read, and the verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations import queries
from conversations.citations import labels
from conversations.models import ChatSession, TraceStep
from conversations.rendering import markdown
from conversations.rendering.answer import AnswerPage, may_change_models
from conversations.rendering.progress import duration
from conversations.rendering.trace import node_name
from ragsite.requests import number_in

# Turns that are shown at once, the newest first asked for.
SHOWN_TURNS = 20
_SEES_TRACES = "conversations.view_tracestep"


@dataclass
class ReadAnswer(AnswerPage):
    """An answer as it is read here: its sources stand beside it, and of its pictures there are the captions."""

    def citation_url(self, number: int) -> str:
        """Return where the source stands on the same page."""
        return f"#{self.id}-source-{number}"

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return a block; of a picture its caption, since its file belongs to those who may read the document."""
        if block["kind"] != "image":
            return super().block_html(block, context)
        return format_html('<p class="help">[{}]</p>', block["alt"]) if block["alt"] else SafeString("")


@dataclass(frozen=True, slots=True)
class Ran:
    """A node that ran: how it ended, how long it took, and the percent of the turn's longest that this is."""

    name: str
    status: str
    took: str
    share: float


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn with what came of it; verdicts are name, sentence, sources and reasons, with the verdict's key first."""

    page: ReadAnswer
    view: queries.TurnView
    ran: Sequence[Ran]
    verdicts: Sequence[tuple[str, str, str, str, str]]


def context(request: HttpRequest, session: ChatSession) -> dict[str, Any]:
    """Return a branch of a session: that of `?turn=`, else the newest; of a long one the turns up to `?until=`."""
    turns = queries.tree(session)
    asked = number_in(request, "turn")
    path = turns.branch(asked if asked in turns.parent else None)
    until = number_in(request, "until")
    end = path.index(until) + 1 if until in path else len(path)
    begin = max(0, end - SHOWN_TURNS)
    shown = path[begin:end]
    steps: dict[int, list[TraceStep]] = {}
    sees_traces = request.user.has_perm(_SEES_TRACES)
    if sees_traces:
        for step in TraceStep.objects.filter(turn__in=shown).defer("detail").order_by("turn_id", "order"):
            steps.setdefault(step.turn_id, []).append(step)
    return {
        "session": session,
        "read_turns": [
            _read(request, view, steps.get(view.turn.pk, [])) for view in queries.views(session, turns, shown)
        ],
        "earlier": path[begin - 1] if begin else None,
        "later": path[min(len(path), end + SHOWN_TURNS) - 1] if end < len(path) else None,
        "hidden_before": begin,
        "hidden_after": len(path) - end,
        "marked_turn": asked,
        "sees_traces": sees_traces,
    }


def _read(request: HttpRequest, view: queries.TurnView, steps: Sequence[TraceStep]) -> ReadTurn:
    longest = max((step.ms for step in steps), default=0) or 1
    ran = []
    for step in steps:
        ran.append(Ran(node_name(step.key), step.status, duration(step.ms), 100 * step.ms / longest))
    page = ReadAnswer.of(view)
    page.for_staff = may_change_models(request.user)
    statuses = [item["status"] for item in page.answer.checks]
    told = labels.rows(page.answer.checks)
    return ReadTurn(page, view, ran, [(status, *row) for status, row in zip(statuses, told, strict=True)])
