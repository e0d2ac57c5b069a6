"""Allauth pages that this site changes: those that send e-mail, and the list of one's own sessions."""

import re
from typing import Any

from allauth.account import views
from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ragsite.audit.log import record
from ragsite.models import AuditEntry

# Browsers by their marks in user agents, the most specific first: many user agents name other browsers, too.
_BROWSERS = {
    r"Edg(A|iOS)?/": "Edge",
    r"OPR/": "Opera",
    r"(Firefox|FxiOS)/": "Firefox",
    r"(Chrome|CriOS)/": "Chrome",
    r"Safari/": "Safari",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def reset_password(request: HttpRequest) -> HttpResponse:
    """Send a link for setting a new password; on a site without e-mail, point to the administrator."""
    if request.method == "POST" and not settings.EMAIL_HOST:
        return redirect("account_reset_password")
    response: HttpResponse = views.password_reset(request)
    return response


@login_required
def change_email(request: HttpRequest) -> HttpResponse:
    """Change the e-mail address once it is confirmed; on a site without e-mail, point to the administrator."""
    if not settings.EMAIL_HOST:
        message = _(
            "This site can't send e-mail, so you can't change your e-mail address yourself. Contact your administrator."
        )
        messages.info(request, message)
        return redirect("account")
    response: HttpResponse = views.email(request)
    return response


class SignIns(ListUserSessionsView):  # type: ignore[misc]
    """The user's sessions: the current one first, then by last use."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the browser and operating system of each session."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        for sign_in in context["sessions"]:
            sign_in.browser, sign_in.system = browser_of(sign_in.user_agent)
        context["sessions"].sort(key=lambda each: (each.is_current(), each.last_seen_at), reverse=True)
        return context


def browser_of(user_agent: str) -> tuple[str, str]:
    """Return the names of a browser and its operating system, empty if unknown."""
    browser = next((name for mark, name in _BROWSERS.items() if re.search(mark, user_agent)), "")
    return browser, next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")


@login_required
@require_POST
def end_sign_in(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of the user's sessions with its WebSockets and streams; ending the current one signs out."""
    sign_in = get_object_or_404(UserSession, pk=pk, user=request.user)
    if sign_in.session_key == request.session.session_key:
        logout(request)
        return redirect("login")
    get_adapter().end_sessions([sign_in])
    record(AuditEntry.Action.SIGNED_OUT, what="elsewhere", address=sign_in.ip)
    messages.success(request, _("That session was signed out."))
    return redirect("usersessions_list")
