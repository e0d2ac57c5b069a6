"""The chat's pages."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from conversations import access, queries, services


@login_required
@require_GET
def chat(request: HttpRequest) -> HttpResponse:
    """Lead to the session of the newest activity."""
    return redirect("session", pk=services.latest_or_new_session(request.user).pk)


@login_required
@require_GET
def session(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one branch of a session."""
    chat_session = access.get_session(request.user, pk)
    context = {"session": chat_session, "sessions": queries.session_list(request.user)}
    return render(request, "conversations/session.html", context)
