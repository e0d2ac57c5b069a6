"""Pages for staff on the pipeline: its diagram, its Mermaid source, its nodes and the site's settings."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from conversations import access
from conversations.pipeline.drawing import mermaid
from conversations.rendering import markdown
from conversations.turns.lifecycle import pipeline
from conversations.web import settings_page as pipeline_settings
from ragsite.audit.log import record
from ragsite.models import AuditEntry, SettingChange, SiteSetting
from ragsite.site_settings import config

# Number of changes of settings listed on the page.
SHOWN_CHANGES = 50


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
    """Show the graph that answers questions; 404 for users who can't view model profiles."""
    if not access.may_see_pipeline(request.user):
        raise Http404
    graph = pipeline()
    context = {
        "mermaid": mermaid(graph),
        "nodes": [
            NodeRow(
                key=node.key,
                title=str(node.title or node.key),
                path=_path(type(node)),
                timeout=node.timeout,
                on_error=_("the turn continues") if node.on_error == "skip" else _("the turn fails"),
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
@require_http_methods(["GET", "POST"])
def settings_page(request: HttpRequest) -> HttpResponse:
    """Show the site's settings and store changes by administrators; 404 for users who can't see the pipeline."""
    if not access.may_see_pipeline(request.user):
        raise Http404
    may_change = request.user.has_perm("ragsite.change_sitesetting")
    if request.method == "POST" and not may_change:
        raise PermissionDenied
    config.refresh()
    form, status = None, 200
    if may_change:
        stored = dict(SiteSetting.objects.values_list("name", "value"))
        form = pipeline_settings.form_for(stored, request.POST or None)
        if request.method == "POST" and form.is_valid():
            # A setting that was editable when the page was opened may since have been set by the environment.
            changed = config.change(request.user, form.cleaned_data)
            for change in changed:
                record(AuditEntry.Action.SETTING, name=change.name)
            config.refresh()
            words = ngettext("%(count)d setting changed.", "%(count)d settings changed.", len(changed))
            messages.success(request, words % {"count": len(changed)} if changed else _("Nothing was changed."))
            return redirect("pipeline-settings")
        status = 422 if form.errors else 200
    sections = [
        (title, [(cells, markdown.render(capfirst(str(meaning)))) for cells, meaning in rows])
        for title, rows in pipeline_settings.sections(form)
    ]
    log = SettingChange.objects.all()[:SHOWN_CHANGES]
    context = {"sections": sections, "form": form, "log": log}
    return render(request, "conversations/pipeline_settings.html", context, status=status)


def _path(thing: object) -> str:
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"
