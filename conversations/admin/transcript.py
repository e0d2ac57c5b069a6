"""The transcript of a session for administrators: messages with their steps, sources and verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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

# Turns per page, starting with the newest.
SHOWN_TURNS = 20
_SEES_TRACES = "conversations.view_tracestep"


@dataclass
class ReadAnswer(AnswerPage):
    """An answer in the transcript: its sources are beside it, and images become their captions."""

    offers_choices: ClassVar[bool] = False

    def citation_url(self, number: int) -> str:
        """Return the anchor of the source on the same page."""
        return f"#{self.id}-source-{number}"

    def block_html(self, block: dict[str, Any], context: markdown.Context) -> SafeString:
        """Return a block; for an image its caption, since only readers of the document can see its file."""
        if block["kind"] != "image":
            return super().block_html(block, context)
        return format_html('<p class="help">[{}]</p>', block["alt"]) if block["alt"] else SafeString("")


@dataclass(frozen=True, slots=True)
class Ran:
    """A node that ran: its status, its duration and the percentage of the turn's longest node."""

    name: str
    status: str
    took: str
    share: float


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn and its records; a verdict is a tuple of key, name, sentence, sources and reasons."""

    page: ReadAnswer
    view: queries.TurnView
    ran: Sequence[Ran]
    verdicts: Sequence[tuple[str, str, str, str, str]]


def context(request: HttpRequest, session: ChatSession) -> dict[str, Any]:
    """Return the context of a branch: that of `?turn=` or the newest; if it is long, the turns up to `?until=`."""
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
    rows = labels.rows(page.answer.checks)
    return ReadTurn(page, view, ran, [(status, *row) for status, row in zip(statuses, rows, strict=True)])
