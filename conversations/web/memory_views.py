"""Pages for remembered facts, for a user's own instructions, and for the summary of a chat."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access
from conversations.history import branch_of
from conversations.instructions import texts
from conversations.memory import facts, summaries
from conversations.memory.facts import FactRefused
from knowledge.access import key
from ragsite.exceptions import Refused
from ragsite.requests import is_htmx, number_in


@login_required
@require_GET
def memory(request: HttpRequest) -> HttpResponse:
    """Show the user's remembered facts."""
    return _page(request)


@login_required
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Switch the user's memory on or off, and redirect back."""
    facts.switch(key(request.user), request.POST.get("on") == "1")
    return redirect("account" if request.POST.get("from") == "account" else "memory")


@login_required
@require_POST
def own_instructions(request: HttpRequest) -> HttpResponse:
    """Save how the user wants all their answers written."""
    try:
        texts.set_own_instructions(key(request.user), request.POST.get("instructions", ""))
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, _("Saved. It applies from your next question."))
    return redirect("account")


@login_required
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Add a fact."""
    try:
        facts.remember(key(request.user), request.POST.get("content", ""))
    except FactRefused as refused:
        return _page(request, error=refused.message, written=request.POST.get("content", ""))
    return redirect("memory")


@login_required
@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the text of a fact."""
    fact = facts.get_fact(request.user, pk)
    try:
        facts.change(fact, request.POST.get("content", ""))
    except FactRefused as refused:
        return _page(request, wrong=(pk, refused.message, request.POST.get("content", "")))
    return redirect("memory")


@login_required
@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a fact."""
    facts.delete_fact(request.user, pk)
    messages.success(request, _("Forgotten."))
    return redirect("memory")


@login_required
@require_POST
def forget_all(request: HttpRequest) -> HttpResponse:
    """Delete all facts of the user."""
    facts.delete_all_facts(request.user)
    messages.success(request, _("Everything is forgotten."))
    return redirect("memory")


@login_required
@require_http_methods(["GET", "POST"])
def summary(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the current summary of the branch that ends at `parent_turn_id`; POST changes, clears or restores it.

    With `versions`, its earlier versions are shown, too. In a POST, `turn` is the end of the branch and `entry` the
    summary that was shown.
    """
    session = access.get_session(request.user, pk)
    posted = request.method == "POST"
    branch = branch_of(session.pk, number_in(request, "turn" if posted else "parent_turn_id"))
    error = ""
    if posted:
        entry = summaries.entry_of(session.pk, branch)
        if entry is None or str(entry.pk) != request.POST.get("entry", ""):
            error = _("The summary has changed meanwhile. This is the new one; please change it again.")
        elif "clear" in request.POST:
            summaries.clear(session.pk, branch)
        elif (number := number_in(request, "restore")) is not None:
            summaries.restore(session.pk, branch, number)
        else:
            try:
                summaries.edit(entry, request.POST.get("content", ""))
            except ValueError:
                error = _("A summary has at most %(limit)d characters.") % {"limit": summaries.LONGEST_EDIT}
    if not is_htmx(request):
        if error:
            messages.error(request, error)
        return redirect(
            f"{reverse('session', args=[pk])}?turn={branch[-1]}" if branch else reverse("session", args=[pk])
        )
    context = {
        "session": session,
        "summary": summaries.entry_of(session.pk, branch),
        "last_turn_id": branch[-1] if branch else None,
        "summary_error": error,
        "summary_open": posted or "versions" in request.GET,
        "versions": summaries.versions(session.pk, branch)[-2::-1] if "versions" in request.GET else None,
    }
    return render(request, "conversations/_summary.html", context)


def _page(request: HttpRequest, **fields: Any) -> HttpResponse:
    """Render the page; `fields` contain rejected text and its errors."""
    wrong, message, words = fields.get("wrong", (None, "", ""))
    listed = list(facts.facts_of(request.user))
    context = {
        "facts": listed,
        "memory_on": facts.is_memory_on(key(request.user)),
        "limit": settings.MEMORY_MAX_FACTS,
        "characters": settings.MEMORY_FACT_CHARACTERS,
        "full": len(listed) >= settings.MEMORY_MAX_FACTS,
        "error": fields.get("error", ""),
        "written": fields.get("written", ""),
        "wrong": wrong,
        "wrong_message": message,
        "wrong_words": words,
    }
    return render(request, "conversations/memory.html", context, status=422 if wrong or context["error"] else 200)
