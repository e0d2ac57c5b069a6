"""Pages for rehearsing a change of an assistant: which answers get better or worse, and making it live."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conversations.assistants import choice, rehearsals
from conversations.assistants.forms import AssistantForm
from conversations.models import Assistant, Rehearsal
from ragsite.requests import number_in
from retrieval.evaluation.access import visible_runs
from retrieval.evaluation.models import EvaluationRun
from retrieval.evaluation.runs import fail_stalled
from retrieval.evaluation.sets import SetRefused
from retrieval.web import comparisons
from retrieval.web import evaluation_contexts as pages


@login_required
@require_http_methods(["GET", "POST"])
def rehearsal(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show the effect of a change on answers; POST makes it live, like saving its form."""
    choice.require_curator(request.user)
    shown = get_object_or_404(Rehearsal.objects.select_related("assistant"), pk=number, assistant=pk)
    if request.method == "POST":
        return _make_live(request, shown)
    fail_stalled()
    known = visible_runs(request.user).select_related("evaluation_set").in_bulk([shown.run_id, shown.beside_id])
    run, beside = known.get(shown.run_id), known.get(shown.beside_id)
    newest = shown.assistant.versions.latest("number")
    context: dict[str, Any] = {
        "rehearsal": shown,
        "run": run,
        "beside": beside,
        "newest": newest,
        "is_live": newest.configuration == shown.configuration,
    }
    if run is not None and beside is not None:
        context["unfinished"] = not {run.status, beside.status}.isdisjoint(EvaluationRun.UNFINISHED)
        context["set"] = run.evaluation_set
        if run.status == beside.status == EvaluationRun.Status.DONE:
            show, page = request.GET.get("show", ""), request.GET.get("page", "")
            context |= comparisons.comparison_context(run, beside, show, page, ("worse", "states", "answers"))
            context |= {
                "figures": pages.figures_of(run, beside),
                "answer_states": pages.state_counts(run),
                "query_prefix": f"{urlencode({'show': context['show']})}&",
            }
    return render(request, "conversations/rehearsal.html", context)


def begin(request: HttpRequest, form: AssistantForm) -> HttpResponse | None:
    """Start a rehearsal of a valid form; return None and add the reason to the form if it isn't possible.

    The assistant itself isn't changed.
    """
    chosen = form.cleaned_data.get("question_set")
    field = "question_set" if "question_set" in form.fields else None  # they can't see its current choice
    if chosen is None:
        form.add_error(field, _("Choose the questions on which the change is rehearsed."))
        return None
    sent = request.POST.copy()
    for name in ("csrfmiddlewaretoken", "rehearse"):
        sent.pop(name, None)
    assistant = Assistant.objects.get(pk=form.instance.pk)
    try:
        made = rehearsals.rehearse(assistant, form.configuration, sent.urlencode(), chosen, request.user)
    except SetRefused as refused:
        form.add_error(field, refused.message)
        return None
    return redirect("rehearsal", pk=assistant.pk, number=made.pk)


def form_of(request: HttpRequest, instance: Assistant) -> QueryDict | None:
    """Return the form of the rehearsal named in the URL, for further editing."""
    if (pk := number_in(request, "rehearsal")) is None:
        return None
    found = Rehearsal.objects.filter(pk=pk, assistant=instance).first()
    if found is None:
        raise Http404
    return QueryDict(found.form)


def _make_live(request: HttpRequest, shown: Rehearsal) -> HttpResponse:
    form = type("Form", (AssistantForm,), {"user": request.user})(QueryDict(shown.form), instance=shown.assistant)
    if not form.is_valid():
        messages.error(request, _("This change can no longer be saved. See the messages next to the fields."))
        return redirect(f"{reverse('assistant', args=[shown.assistant_id])}?{urlencode({'rehearsal': shown.pk})}")
    with transaction.atomic():
        saved = form.save()
        version = form.save_version(request.user)
        rehearsals.gone_live(shown, version)
    words = _("“%(name)s” was saved. Version %(number)d applies from the next question.")
    messages.success(request, words % {"name": saved.name, "number": version.number})
    return redirect("assistant", pk=saved.pk)
