"""Views of an evaluation run: its figures, its questions, worst first, and a comparison with another run."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from retrieval.evaluation import runs
from retrieval.evaluation.access import alterable_sets, get_alterable_run, get_run
from retrieval.evaluation.models import EvaluationRun
from retrieval.web import comparisons
from retrieval.web import evaluation_contexts as pages


@login_required
@require_GET
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run; `?with=` is the run to compare it with, `?show=` the list of its questions."""
    shown = get_run(request.user, pk)
    if shown.status in EvaluationRun.UNFINISHED:
        runs.fail_stalled()
        shown.refresh_from_db()
    others = list(comparisons.others(shown)[: pages.SHOWN_RUNS])
    chosen = request.GET.get("with", "")
    before = next((other for other in others if str(other.pk) == chosen), None)
    waited_for = None
    if before is None and chosen.isdecimal() and len(chosen) < 19:
        unfinished = shown.evaluation_set.runs.filter(status__in=EvaluationRun.UNFINISHED).exclude(pk=pk)
        waited_for = unfinished.filter(pk=int(chosen)).first()
    before = before or comparisons.run_before(shown)
    context = comparisons.comparison_context(shown, before, request.GET.get("show", ""), request.GET.get("page", ""))
    kept = {"with": before.pk} if before else {}
    context |= {
        "run": shown,
        "set": shown.evaluation_set,
        "label": pages.label_of(shown),
        "when": pages.when(shown),
        "figures": pages.figures_of(shown, before),
        "answer_states": pages.state_counts(shown),
        "others": comparisons.choices_of(others),
        "waited_for": waited_for,
        "query_prefix": f"{urlencode({'show': context['show']} | kept)}&",
        "tab_suffix": f"&{urlencode(kept)}" if kept else "",
        "can_edit": alterable_sets(request.user).filter(pk=shown.evaluation_set_id).exists(),
    }
    return render(request, "retrieval/run.html", context)


@login_required
@require_POST
def delete_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a run, even if it is unfinished."""
    shown = get_alterable_run(request.user, pk)
    shown.delete()
    messages.success(request, _("The run was deleted."))
    return redirect("evaluation-set", shown.evaluation_set_id)
