"""The chat's pages: sessions and what is done with them."""

from typing import Any
from urllib.parse import quote

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import access, services
from conversations.models import ChatSession
from conversations.web import contexts
from knowledge import access as knowledge_access


@login_required
@require_GET
def chat(request: HttpRequest) -> HttpResponse:
    """Lead to the session of the newest activity."""
    return redirect("session", pk=services.latest_or_new_session(request.user).pk)


@login_required
@require_GET
def session(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one branch of a session: through `?turn=`, or the newest; for htmx also only what is `?before=` a turn."""
    chat_session = access.get_session(request.user, pk)
    before = number(request, "before")
    if before is not None and is_htmx(request):
        earlier = contexts.earlier_context(chat_session, number(request, "turn"), before)
        return render(request, "conversations/_earlier.html", earlier)
    turns = contexts.turns_context(chat_session, number(request, "turn"), everything="all" in request.GET)
    if is_htmx(request) and request.htmx.target == "turns":  # type: ignore[attr-defined]
        return render(request, "conversations/_turns.html", turns | {"oob_parent": True})
    context = turns | contexts.list_context(request.user, pk) | contexts.composer_context(request.user, chat_session)
    if not turns["answers"]:
        context |= contexts.welcome_context(request.user, context["documents"])
    if (deleted := number(request, "deleted")) is not None:  # a moment ago: it is offered back
        gone = ChatSession.objects.filter(pk=deleted, owner=request.user.pk, status=ChatSession.Status.DELETED)
        context["deleted"] = gone.first()
    return render(request, "conversations/session.html", context)


@login_required
@require_POST
def new_session(request: HttpRequest) -> HttpResponse:
    """Open a fresh session; an unused one of the user's is taken again."""
    return redirect("session", pk=services.empty_session(request.user).pk)


@login_required
@require_GET
def search_sessions(request: HttpRequest) -> HttpResponse:
    """List the sessions that hold every word of `?q=`."""
    words = request.GET.get("q", "").strip()
    context = contexts.list_context(request.user, number(request, "current"), words)
    if is_htmx(request):
        return render(request, "conversations/_sessions.html", context)
    return render(request, "conversations/search.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def rename_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the field for a new title, and store it."""
    chat_session = access.get_session(request.user, pk)
    context = {"session": chat_session, "current_id": number(request, "current")}
    if request.method == "GET":
        template = "conversations/_rename.html" if is_htmx(request) else "conversations/rename.html"
        return render(request, template, context)
    services.rename_session(chat_session, request.POST.get("title", ""))
    if is_htmx(request):
        return render(request, "conversations/_session.html", context | {"renamed": True})
    return redirect("session", pk=pk)


@login_required
@require_POST
def pin_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Pin a session, or let it go."""
    chat_session = access.get_session(request.user, pk)
    services.set_pinned(chat_session, not chat_session.pinned)
    if is_htmx(request):
        context = contexts.list_context(request.user, number(request, "current"))
        return render(request, "conversations/_sessions.html", context)
    return redirect("session", pk=pk)


@login_required
@require_POST
def delete_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a session; for a while a message offers to take it back."""
    chat_session = access.get_session(request.user, pk)
    services.delete_session(chat_session)
    current = number(request, "current")
    if is_htmx(request) and current != pk:
        context = contexts.list_context(request.user, current) | {"deleted": chat_session}
        return render(request, "conversations/_sessions.html", context)
    return _go(request, f"{_latest(request)}?deleted={pk}")


@login_required
@require_POST
def restore_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a deletion back."""
    restored = services.restore_session(request.user, pk)
    return _go(request, reverse("session", args=[pk]) if restored else _latest(request))


@login_required
@require_POST
def ask_document(request: HttpRequest, pk: int) -> HttpResponse:
    """Lead to a session in which this document alone is asked; a file of a chat is asked in that chat."""
    document = knowledge_access.get_document(request.user, pk)
    if document.knowledge_base.of_chat:
        return redirect("chat-of-files", document.knowledge_base_id)
    return redirect("session", pk=services.empty_session(request.user, document_ids=[document.pk]).pk)


@login_required
@require_POST
def ask_knowledge_base(request: HttpRequest, pk: int) -> HttpResponse:
    """Lead to a session in which this knowledge base alone is asked."""
    base = knowledge_access.get_knowledge_base(request.user, pk)
    return redirect("session", pk=services.empty_session(request.user, [base.pk]).pk)


@login_required
@require_GET
def chat_of_files(request: HttpRequest, pk: int) -> HttpResponse:
    """Lead to the chat that a base of files belongs to."""
    chat_session = access.sessions(request.user).filter(files=pk).first()
    if chat_session is None:
        raise Http404(_("There is no such chat."))
    return redirect("session", pk=chat_session.pk)


def _latest(request: HttpRequest) -> str:
    return reverse("session", args=[services.latest_or_new_session(request.user).pk])


def _go(request: HttpRequest, address: str) -> HttpResponse:
    """Lead to an address: a whole new page, also for htmx."""
    if not is_htmx(request):
        return redirect(address)
    return HttpResponse(headers={"HX-Redirect": address})


def number(request: HttpRequest, name: str) -> int | None:
    """Return an id that the address or the form gives, or None."""
    value = request.GET.get(name) or request.POST.get(name, "")
    return int(value) if _is_id(value) else None


def _is_id(value: str) -> bool:
    return value.isdecimal() and len(value) < 19


def is_htmx(request: Any) -> bool:
    """Tell whether htmx asks, and so for a part of a page."""
    return bool(request.htmx)


def refusal(message: str, status: int = 409) -> HttpResponse:
    """Return a refusal in words; the page shows it as a message."""
    return HttpResponse(message or _("This can't be done."), status=status, headers={"X-Message": quote(message)})
