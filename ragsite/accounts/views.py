"""Pages of allauth as this site has them: those that take mail, and the list of one's own sign-ins."""

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

# What a browser calls itself, also on phones, the most telling first: many name others, too.
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
    """Ask for an e-mail address to send a link to; where there is no mail, say who makes one."""
    if request.method == "POST" and not settings.EMAIL_HOST:
        return redirect("account_reset_password")
    response: HttpResponse = views.password_reset(request)
    return response


@login_required
def change_email(request: HttpRequest) -> HttpResponse:
    """Have one's e-mail address changed once the new one is confirmed, by mail; say who does where there is no mail."""
    if not settings.EMAIL_HOST:
        words = _("This site sends no mail, so you can't change your e-mail address yourself. Ask your administrator.")
        messages.info(request, words)
        return redirect("account")
    response: HttpResponse = views.email(request)
    return response


class SignIns(ListUserSessionsView):  # type: ignore[misc]
    """Where the person is signed in, the present one first, then by their last use."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Name browser and system of each."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        for sign_in in context["sessions"]:
            sign_in.browser, sign_in.system = browser_of(sign_in.user_agent)
        context["sessions"].sort(key=lambda each: (each.is_current(), each.last_seen_at), reverse=True)
        return context


def browser_of(user_agent: str) -> tuple[str, str]:
    """Return what a browser and its system are called; empty for what is not known."""
    browser = next((name for mark, name in _BROWSERS.items() if re.search(mark, user_agent)), "")
    return browser, next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")


@login_required
@require_POST
def end_sign_in(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of the person's sign-ins, with its sockets and streams; the present one is signing out."""
    sign_in = get_object_or_404(UserSession, pk=pk, user=request.user)
    if sign_in.session_key == request.session.session_key:
        logout(request)
        return redirect("login")
    get_adapter().end_sessions([sign_in])
    record(AuditEntry.Action.SIGNED_OUT, what="elsewhere", address=sign_in.ip)
    messages.success(request, _("That sign-in has ended."))
    return redirect("usersessions_list")
