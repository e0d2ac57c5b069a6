"""Pages for staff on the pipeline: its picture, what its nodes may do, its Mermaid text; and what it is set to."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from conversations import access
from conversations.pipeline.drawing import drawing, mermaid
from conversations.turns.lifecycle import pipeline
from conversations.web import settings_page as pipeline_settings
from conversations.web.rendering import markdown


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node in the page's table; `timeout` is in seconds."""

    key: str
    title: str
    path: str
    timeout: float | None
    on_error: str
    always: bool
    reads: str
    writes: str


@login_required
@require_GET
def pipeline_graph(request: HttpRequest) -> HttpResponse:
    """Show the graph that answers questions; 404 for who may not look at model profiles."""
    if not access.may_see_pipeline(request.user):
        raise Http404
    graph = pipeline()
    context = {
        "drawing": drawing(graph),
        "mermaid": mermaid(graph),
        "nodes": [
            NodeRow(
                key=node.key,
                title=str(node.title or node.key),
                path=_path(type(node)),
                timeout=node.timeout,
                on_error=_("goes on") if node.on_error == "skip" else _("fails"),
                always=node.always,
                reads=", ".join((*node.reads, *(f"{name}?" for name in node.may_read))),
                writes=", ".join(node.writes),
            )
            for node in map(graph.nodes.__getitem__, graph.order)
        ],
        "hooks": [_path(hook) for hook in graph.hooks],
    }
    return render(request, "conversations/pipeline.html", context)


@login_required
@require_GET
def settings_page(request: HttpRequest) -> HttpResponse:
    """Show what the environment sets of the pipeline and the search; 404 for who may not look at model profiles."""
    if not access.may_see_pipeline(request.user):
        raise Http404
    sections = [
        (title, [(cells, markdown.render(capfirst(str(meaning)))) for cells, meaning in rows])
        for title, rows in pipeline_settings.sections()
    ]
    return render(request, "conversations/pipeline_settings.html", {"sections": sections})


def _path(thing: object) -> str:
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"
