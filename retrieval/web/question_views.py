"""Views of a set's questions: editing, removing, and adding them from a chat or the playground."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from knowledge import access
from knowledge.models import Chunk, KnowledgeBase
from ragsite.requests import ids, is_htmx, refusal
from retrieval.evaluation import editing, sets
from retrieval.evaluation.access import alterable_sets, get_alterable_set, visible_sets
from retrieval.evaluation.models import EvaluationQuestion, EvaluationSet
from retrieval.snippets import excerpt
from retrieval.web import evaluation_contexts as pages

NEW = "new"
_SNIPPET = 160  # characters
_MOST_PASSAGES = 50


@login_required
@require_http_methods(["GET", "POST"])
def question(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a question's row; POST changes its text (`text`) or removes a passage from it (`remove`)."""
    shown = _question(request, pk)
    if request.method == "POST":
        get_alterable_set(request.user, shown.evaluation_set_id)
        try:
            if "remove" in request.POST:
                editing.remove_passage(pk, request.POST["remove"])
                shown.refresh_from_db()
            else:
                editing.set_text(shown, text_of(request.POST, "text"))
        except sets.SetRefused as refused:
            if is_htmx(request):
                return refusal(refused.message)
            messages.error(request, refused.message)
    if not is_htmx(request):
        return redirect(f"{reverse('evaluation-set', args=[shown.evaluation_set_id])}#question-{pk}")
    base_id = shown.evaluation_set.knowledge_base_id
    context = {
        "row": editing.with_passages(base_id, [shown])[0],
        "set": shown.evaluation_set,
        "can_edit": alterable_sets(request.user).filter(pk=shown.evaluation_set_id).exists(),
    }
    return render(request, "retrieval/question.html", context)


@login_required
@require_POST
def remove_question(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a question from its set."""
    shown = _question(request, pk)
    sets.remove_question(get_alterable_set(request.user, shown.evaluation_set_id), pk)
    return HttpResponse() if is_htmx(request) else redirect("evaluation-set", shown.evaluation_set_id)


def _question(request: HttpRequest, pk: int) -> EvaluationQuestion:
    questions = EvaluationQuestion.objects.filter(evaluation_set__in=visible_sets(request.user))
    return get_object_or_404(questions.select_related("evaluation_set"), pk=pk)


@dataclass(frozen=True, slots=True)
class PassageChoice:
    """A passage that may be added as a right one; `ticked` if it is selected."""

    chunk: Chunk
    snippet: str
    ticked: bool


@login_required
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Offer the sets to which a query and its passages (`q`, `chunk`) can be added; POST adds them (`set`)."""
    if request.method == "GET":
        chunk_ids = ids(request.GET.getlist("chunk")[:_MOST_PASSAGES])
        preferred = next(iter(ids(request.GET.getlist("set"))), None)
        return render_offer(request, offer(request.user, text_of(request.GET, "q"), chunk_ids, chunk_ids, preferred))
    text, chunk_ids = text_of(request.POST, "q"), ids(request.POST.getlist("chunk")[:_MOST_PASSAGES])
    found = _in_bases(request.user).filter(pk__in=chunk_ids)
    places = dict(found.values_list("pk", "document__knowledge_base_id"))
    try:
        with transaction.atomic():  # a new set stays only with its question
            chosen = _chosen_set(request, places)
            fitting = [chunk_id for chunk_id in chunk_ids if places.get(chunk_id) == chosen.knowledge_base_id]
            added = sets.add_question(chosen, text, fitting)
    except sets.SetRefused as refused:
        if is_htmx(request):
            return refusal(refused.message)
        context = offer(request.user, text, chunk_ids, chunk_ids) | {"refusal": refused.message}
        return render_offer(request, context, status=422)
    place = f"{reverse('evaluation-set', args=[chosen.pk])}#question-{added.pk}"
    added_to = _("Added to “{name}”.").format(name=chosen.name)
    words = format_html('{} <a href="{}">{}</a>', added_to, place, _("Open question set"))
    if left_out := len(set(chunk_ids)) - len(set(fitting)):
        note = ngettext(
            "{n} passage of another knowledge base was left out.",
            "{n} passages of other knowledge bases were left out.",
            left_out,
        )
        words = format_html("{} {}", words, note.format(n=left_out))
    if not is_htmx(request):
        messages.success(request, words)
        return redirect(place)
    toast = render_to_string("partials/toast.html", {"text": words, "kind": "success"})
    return HttpResponse(format_html('<div hx-swap-oob="beforeend:#toasts">{}</div>', toast))


def offer(
    user: Any, text: str, chunk_ids: Sequence[int], ticked: Collection[int], preferred: int | None = None
) -> dict[str, Any]:
    """Return the popover's context: the question, its passages that the user may read, and the sets."""
    chunks = _in_bases(user).select_related("document__knowledge_base").in_bulk(chunk_ids)
    there = [chunks[chunk_id] for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in chunks]
    bases = {chunk.document.knowledge_base_id: chunk.document.knowledge_base for chunk in there}
    return {
        "text": text.strip(),
        "passages": [
            PassageChoice(chunk, excerpt(chunk.content, text, _SNIPPET), chunk.pk in ticked) for chunk in there
        ],
        "bases": list(bases.values()),
        "sets": pages.sets_to_add_to(user, list(bases), preferred),
    }


def _in_bases(user: Any) -> QuerySet[Chunk]:
    """Return the chunks that may be added to a set: not those of files in a chat, whose base has no sets."""
    return access.readable_chunks(user).filter(document__knowledge_base__of_chat=False)


def render_offer(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Render the offer as a popover, or as a page without JavaScript."""
    partial = "#popover" if is_htmx(request) else ""
    return render(request, f"retrieval/add.html{partial}", context, status=status)


def _chosen_set(request: HttpRequest, places: dict[int, int]) -> EvaluationSet:
    """Return the chosen set, or create a new one with the given name. Raises `SetRefused` and `Http404`."""
    chosen = request.POST.get("set", "")
    if chosen != NEW:
        return get_alterable_set(request.user, next(iter(ids([chosen])), 0))
    if not places:
        raise sets.SetRefused("unknown_passages", _("Choose at least one passage that answers the question."))
    wanted = next(iter(ids(request.POST.getlist("base"))), 0)
    base_id = wanted if wanted in places.values() else next(iter(places.values()))
    base: KnowledgeBase = access.get_knowledge_base(request.user, base_id)
    return sets.create_set(request.user, base, text_of(request.POST, "name"))


def text_of(data: QueryDict, name: str) -> str:
    """Return a field without null characters, which PostgreSQL can't store."""
    return data.get(name, "").replace("\0", "").strip()
