"""The chat's pages for sessions."""

import uuid
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access, queries, services
from conversations.inbox import drafts, unseen
from conversations.models import ChatSession
from conversations.rendering.follow_ups import follow_ups
from conversations.turns.example import find_example, make_example
from conversations.web import contexts
from knowledge import access as knowledge_access
from ragsite.db import in_database
from ragsite.requests import ids, is_htmx, lead_to, number_in


@login_required
@require_GET
def chat(request: HttpRequest) -> HttpResponse:
    """Show the most recently active session, without a redirect, which would cost a round trip on a slow network."""
    return session(request, services.latest_or_new_session(request.user).pk)


@login_required
@require_GET
def session(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the branch of a session through `?turn=`, or the newest; for htmx, also only the turns `?before=` one."""
    chat_session = access.get_session(request.user, pk)
    before = number_in(request, "before")
    if before is not None and is_htmx(request):
        earlier = contexts.earlier_context(chat_session, number_in(request, "turn"), before)
        return render(request, "conversations/_earlier.html", earlier)
    turns = contexts.turns_context(chat_session, number_in(request, "turn"), everything="all" in request.GET)
    if is_htmx(request) and request.htmx.target == "turns":  # type: ignore[attr-defined]
        return render(request, "conversations/_turns.html", turns | {"oob_parent": True})
    async_to_sync(unseen.see)(chat_session)
    context = turns | contexts.rail_context(request.user, pk) | contexts.composer_context(request.user, chat_session)
    context["draft"] = drafts.of(pk)
    context["find"] = request.GET.get("find", "")[:200]
    if turns["answers"]:
        context["follow_ups"] = follow_ups(request.user, turns["answers"][-1])
    else:
        context |= contexts.welcome_context(request.user, context["documents"])
    if (deleted := number_in(request, "deleted")) is not None:  # just now: offer to restore it
        gone = ChatSession.objects.filter(pk=deleted, owner=request.user.pk, status=ChatSession.Status.DELETED)
        context["deleted"] = gone.first()
    return render(request, "conversations/session.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the unsent text of a session's page, and the question that waits for an answer; or keep them."""
    access.get_session(request.user, pk)
    if request.method == "GET":
        kept = drafts.of(pk)
        return JsonResponse({"text": kept.text, "queued": kept.queued, "queued_id": str(kept.queued_id or "")})
    given = request.POST
    try:
        queued_id = uuid.UUID(given.get("queued_id", ""))
    except ValueError:
        queued_id = None
    drafts.keep(pk, given.get("text", ""), given.get("queued", ""), queued_id)
    return HttpResponse(status=204)


@login_required
@require_POST
async def see_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the answers of a session as seen: one ended on an open page."""
    await unseen.see(await in_database(access.get_session, await request.auser(), pk))
    return HttpResponse(status=204)


@login_required
@require_POST
def new_session(request: HttpRequest) -> HttpResponse:
    """Open a new session, reusing an empty one of the user."""
    return redirect("session", pk=services.empty_session(request.user).pk)


@login_required
@require_POST
async def example(request: HttpRequest) -> HttpResponse:
    """Make the example conversation on the user's samples, unless there is one; respond with a link to it."""
    user = await request.auser()
    base_id = await in_database(contexts.sample_base, user)
    if base_id is None:
        raise Http404
    found, can_be_made = await in_database(find_example, base_id)
    if found is None and can_be_made:
        found = await make_example(user, base_id, get_language() or "en")
    return await in_database(render, request, "conversations/_example.html", {"example": found})


@login_required
@require_GET
def search_sessions(request: HttpRequest) -> HttpResponse:
    """List sessions that contain every word of `?q=`, `?in=` a label or the archive, `?before=` a position."""
    narrowing, after = contexts.Narrowing.of(request.GET), queries.Place.read(request.GET.get("before", ""))
    current, shown = number_in(request, "current"), number_in(request, "shown") or 0
    if is_htmx(request):
        context = contexts.list_context(request.user, current, narrowing, after=after, shown=shown)
        template = "_sessions_page" if after is not None else "_sessions"
        return render(request, f"conversations/{template}.html", context)
    context = contexts.rail_context(request.user, current, narrowing, after=after)
    names = {str(label.pk): label.name for label in context["labels"]} | {"archive": _("Archive")}
    return render(request, "conversations/search.html", context | {"list_name": names.get(narrowing.within, "")})


@login_required
@require_http_methods(["GET", "POST"])
def rename_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the field for a new title, and save it."""
    chat_session = access.get_session(request.user, pk)
    context = {"session": chat_session, "current_id": number_in(request, "current")}
    if request.method == "GET":
        template = "conversations/_rename.html" if is_htmx(request) else "conversations/rename.html"
        return render(request, template, context)
    services.rename_session(chat_session, request.POST.get("title", ""))
    if is_htmx(request):
        context["session"] = unseen.annotated(queries.with_labels(access.sessions(request.user))).get(pk=pk)
        return render(request, "conversations/_session.html", context | {"renamed": True})
    return redirect("session", pk=pk)


@login_required
@require_POST
def pin_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin or unpin a session."""
    chat_session = access.get_session(request.user, pk)
    services.set_pinned(chat_session, not chat_session.pinned)
    return _list(request) if is_htmx(request) else redirect("session", pk=pk)


@login_required
@require_POST
def archive_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Archive or unarchive a session."""
    chat_session = access.get_session(request.user, pk)
    services.set_archived(chat_session, not chat_session.archived)
    return _list(request) if is_htmx(request) else redirect("session", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def session_labels(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and save a session's labels; a new label is created by its name."""
    chat_session = access.get_session(request.user, pk)
    error = ""
    if request.method == "POST":
        chosen = ids(request.POST.getlist("label"))
        name = request.POST.get("name", "").strip()
        try:
            if name:
                chosen.append(services.save_label(request.user, name).pk)
            services.set_labels(request.user, chat_session, chosen)
            return redirect("session", pk=pk)
        except ValueError as refused:
            error = str(refused)
    else:
        chosen = list(chat_session.labels.values_list("pk", flat=True))
    context = {"session": chat_session, "labels": access.labels(request.user), "chosen": chosen, "error": error}
    return render(request, "conversations/session_labels.html", context, status=400 if error else 200)


@login_required
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """Show the user's labels; create one (`name`), rename one (`label` and `name`) or delete one (`delete`)."""
    error = ""
    if request.method == "POST":
        delete, label_id = number_in(request, "delete"), number_in(request, "label")
        try:
            if delete is not None:
                access.get_label(request.user, delete).delete()
            else:
                label = access.get_label(request.user, label_id) if label_id is not None else None
                services.save_label(request.user, request.POST.get("name", ""), label)
            return redirect("labels")
        except ValueError as refused:
            error = str(refused)
    listed = access.labels(request.user).annotate(
        used=Count("sessions", filter=Q(sessions__status=ChatSession.Status.ACTIVE))
    )
    context = contexts.rail_context(request.user, None) | {"labels": listed, "error": error}
    return render(request, "conversations/labels.html", context, status=400 if error else 200)


@login_required
@require_POST
def delete_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a session; for a while, a message offers to undo this."""
    chat_session = access.get_session(request.user, pk)
    services.delete_session(chat_session)
    if is_htmx(request) and number_in(request, "current") != pk:
        return _list(request, deleted=chat_session)
    return lead_to(request, f"{_latest(request)}?deleted={pk}")


@login_required
@require_POST
def restore_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a deletion."""
    restored = services.restore_session(request.user, pk)
    return lead_to(request, reverse("session", args=[pk]) if restored else _latest(request))


@login_required
@require_POST
def ask_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to a session that searches only this document; a file of a chat leads to that chat."""
    document = knowledge_access.get_document(request.user, pk)
    if document.knowledge_base.of_chat:
        return redirect("chat-of-files", document.knowledge_base_id)
    return redirect("session", pk=services.empty_session(request.user, document_ids=[document.pk]).pk)


@login_required
@require_POST
def ask_knowledge_base(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to a session that searches only this knowledge base."""
    base = knowledge_access.get_knowledge_base(request.user, pk)
    return redirect("session", pk=services.empty_session(request.user, [base.pk]).pk)


@login_required
@require_GET
def chat_of_files(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to the chat that a base of files belongs to."""
    chat_session = access.sessions(request.user).filter(files=pk).first()
    if chat_session is None:
        raise Http404(_("There is no such chat."))
    return redirect("session", pk=chat_session.pk)


def _latest(request: HttpRequest) -> str:
    return reverse("session", args=[services.latest_or_new_session(request.user).pk])


def _list(request: HttpRequest, **more: Any) -> HttpResponse:
    """Return the session list, filtered by the form."""
    context = contexts.list_context(request.user, number_in(request, "current"), contexts.Narrowing.of(request.POST))
    return render(request, "conversations/_sessions.html", context | more)
