"""Views of question sets: the list, a set with its runs, and the actions on it."""

from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge import access as knowledge_access
from knowledge.web.views import confirm
from ragsite.requests import is_htmx, lead_to, refusal
from ragsite.site_settings.config import config
from retrieval.evaluation import editing, runs, sets
from retrieval.evaluation.access import alterable_sets, get_alterable_set, get_set
from retrieval.evaluation.models import EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.questions import QuestionDraft
from retrieval.types import mode_in_force
from retrieval.web import evaluation_contexts as pages
from retrieval.web.forms import AssistantsForm, NewSetForm, SearchSettingsForm
from retrieval.web.question_views import text_of

PER_PAGE = 25


@login_required
@require_http_methods(["GET", "POST"])
def evaluation(request: HttpRequest) -> HttpResponse:
    """List the sets that the user may view; POST creates one, from a question file or empty."""
    bases = knowledge_access.readable(request.user).order_by("name", "pk")
    form = NewSetForm(request.POST or None, request.FILES or None, bases=bases)
    if request.method == "POST" and form.is_valid():
        try:
            data = form.cleaned_data
            drafts = _drafts(data["file"]) if data["file"] else []
            made = sets.create_set(request.user, data["knowledge_base"], data["name"], drafts)
        except sets.SetRefused as refusal:
            form.add_error("name" if refusal.code in ("name_taken", "no_name") else "file", refusal.message)
        else:
            return redirect("evaluation-set", made.pk)
    page = Paginator(pages.set_list(request.user), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "rows": pages.set_rows(page), "form": form, "can_make": bool(bases)}
    return render(request, "retrieval/evaluation.html", context, status=422 if form.errors else 200)


def _drafts(file: UploadedFile[Any]) -> list[QuestionDraft]:
    """Read an uploaded question file. Raises `SetRefused`."""
    if (file.size or 0) > config.MAX_UPLOAD_MB * 1024 * 1024:
        message = _("The file is larger than %(limit)s MB, the limit of this site.") % {"limit": config.MAX_UPLOAD_MB}
        raise sets.SetRefused("too_long", message)
    return sets.parse_questions(file)


@login_required
@require_GET
def evaluation_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a set: its runs, their chart, and its questions; htmx requests only the runs while one is unfinished."""
    shown = get_set(request.user, pk)
    runs.fail_stalled()
    context = _context(request, shown) | _runs_context(shown)
    if _wants(request, "runs"):
        return render(request, "retrieval/set.html#runs", context)
    words = text_of(request.GET, "q")
    found = shown.questions.filter(text__icontains=words) if words else shown.questions.all()
    page = Paginator(found.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page"))
    context |= {
        "page": page,
        "words": words,
        "query_prefix": f"{urlencode({'q': words})}&" if words else "",
        "rows": editing.with_passages(shown.knowledge_base_id, list(page)),
        "settings": SearchSettingsForm({"mode": mode_in_force()}),
        "assistants": AssistantsForm(user=request.user),
    }
    partial = "#questions" if _wants(request, "questions") else ""
    return render(request, f"retrieval/set.html{partial}", context)


def _context(request: HttpRequest, shown: EvaluationSet) -> dict[str, Any]:
    can_edit = alterable_sets(request.user).filter(pk=shown.pk).exists()
    return {"set": shown, "can_edit": can_edit, "count": shown.questions.count()}


def _runs_context(shown: EvaluationSet) -> dict[str, Any]:
    rows = pages.run_rows(shown)
    unfinished = any(row.run.status in EvaluationRun.UNFINISHED for row in rows)
    return {"runs": rows, "chart": pages.chart_of(rows), "unfinished": unfinished}


@login_required
@require_POST
def start_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue a run of the set with the options of the form."""
    shown = get_set(request.user, pk)
    form = SearchSettingsForm(request.POST)
    if not form.is_valid():
        wrong = " ".join(f"{form[name].label}: {' '.join(map(str, words))}" for name, words in form.errors.items())
        return _refused(request, wrong, shown)
    try:
        runs.start(shown, RunOptions.from_dict(form.chosen()), request.user)
    except (sets.SetRefused, ValueError) as refusal:
        return _refused(request, str(refusal), shown)
    return _started(request, shown)


@login_required
@require_POST
def start_answers(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue a run of the set with an assistant, and one with another assistant if one is chosen."""
    shown = get_set(request.user, pk)
    form = AssistantsForm(request.POST, user=request.user)
    if not form.is_valid():
        return _refused(request, _("Choose an assistant."), shown)
    try:
        first, *beside = [runs.start(shown, options, request.user) for options in form.options()]
    except sets.SetRefused as refusal:
        return _refused(request, refusal.message, shown)
    if not beside:
        return _started(request, shown)
    address = f"{reverse('evaluation-run', args=[first.pk])}?{urlencode({'with': beside[0].pk})}"
    return lead_to(request, address)


def _started(request: HttpRequest, shown: EvaluationSet) -> HttpResponse:
    """Show the runs of a set."""
    pk = shown.pk
    if not is_htmx(request):
        return redirect(f"{reverse('evaluation-set', args=[pk])}#runs")
    return render(request, "retrieval/set.html#runs", _context(request, shown) | _runs_context(shown))


@login_required
@require_POST
def upload_questions(request: HttpRequest, pk: int) -> HttpResponse:
    """Add the questions of a JSONL file to a set."""
    shown = get_alterable_set(request.user, pk)
    file = request.FILES.get("file")
    if file is None:
        messages.error(request, _("Choose a file of questions."))
        return redirect("evaluation-set", pk)
    try:
        new = sets.add_questions(shown, _drafts(file))
    except sets.SetRefused as refusal:
        messages.error(request, refusal.message)
    else:
        words = ngettext("{n} question was added.", "{n} questions were added.", new)
        known = _("All of these questions already exist. They are up to date.")
        messages.success(request, words.format(n=new) if new else known)
    return redirect("evaluation-set", pk)


@login_required
@require_GET
def export_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Return a set's questions as JSON lines, which can be uploaded again."""
    shown = get_set(request.user, pk)
    name = quote("".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in shown.name))
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}.jsonl"}
    lines = "".join(sets.export(shown))
    return HttpResponse(lines, content_type="application/x-ndjson; charset=utf-8", headers=headers)


@login_required
@require_POST
def rename_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Rename a set."""
    shown = get_alterable_set(request.user, pk)
    try:
        sets.rename_set(shown, text_of(request.POST, "name"))
    except sets.SetRefused as refusal:
        messages.error(request, refusal.message)
    return redirect("evaluation-set", pk)


@login_required
@require_http_methods(["GET", "POST"])
def delete_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then delete a set with its questions and runs, including unfinished ones."""
    shown = get_alterable_set(request.user, pk)
    if request.method == "POST":
        shown.delete()
        messages.success(request, _("“{name}” was deleted.").format(name=shown.name))
        return redirect("evaluation")
    consequence = _(
        "Its questions and runs will be deleted too. This can't be undone. Export the set first to keep its questions."
    )
    return confirm(request, shown.name, consequence, reverse("evaluation-set", args=[pk]))


def _refused(request: HttpRequest, message: str, shown: EvaluationSet) -> HttpResponse:
    """Report why a run wasn't started: in the response for htmx, otherwise as a message after a redirect."""
    if is_htmx(request):
        return refusal(message)
    messages.error(request, message)
    return redirect("evaluation-set", shown.pk)


def _wants(request: HttpRequest, target: str) -> bool:
    return bool(request.htmx) and request.htmx.target == target  # type: ignore[attr-defined]
