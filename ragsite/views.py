"""Pages about the person who is signed in: password, tokens, look; and what is answered when something fails."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.signals import password_changed
from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.handlers.asgi import ASGIRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.http import content_disposition_header, url_has_allowed_host_and_scheme
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.defaults import bad_request as default_bad_request
from django.views.defaults import page_not_found

from conversations.memory import facts
from conversations.own_data import archive, deletion
from ragsite.accounts import stream_auth
from ragsite.accounts.forms import ChangePasswordForm
from ragsite.accounts.pauses import with_retry_after
from ragsite.accounts.roles import is_last_administrator
from ragsite.accounts.tokens import create_token
from ragsite.audit.log import record
from ragsite.db import DATABASE_UNAVAILABLE, database_unavailable_message
from ragsite.exceptions import Refused
from ragsite.models import ApiToken, AuditEntry
from ragsite.requests import absolute, refusal
from ragsite.runtime import samples

_FRAME_POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    # Mermaid writes its colours into the picture.
    "style-src": [UNSAFE_INLINE],
    "frame-ancestors": [SELF],
    "sandbox": ["allow-scripts"],
}
THEMES = ("auto", "light", "dark")
_YEAR = 365 * 24 * 3600


class TokenForm(forms.Form):
    """Names a token, so that its owner knows later what it is for."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("What it is for, e.g. “backup script”")}),
    )


def _page(
    request: HttpRequest,
    *,
    password_form: forms.Form | None = None,
    token_form: forms.Form | None = None,
    new_key: str = "",
    status: int = 200,
) -> HttpResponse:
    assert isinstance(request.user, User)
    context = {
        "password_form": password_form or ChangePasswordForm(request),
        "token_form": token_form or TokenForm(),
        "new_key": new_key,
        "tokens": request.user.api_tokens.all(),
        "memory_on": facts.is_memory_on(request.user.pk),
        "theme": request.COOKIES.get("theme", "auto"),
        "themes": [("auto", _("Match the system")), ("light", _("Light")), ("dark", _("Dark"))],
        "languages": settings.LANGUAGES,
    }
    return render(request, "ragsite/account.html", context, status=status)


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Show the account page."""
    return _page(request)


@with_retry_after
@login_required
@require_POST
def change_password(request: HttpRequest) -> HttpResponse:
    """Change the password and stay signed in."""
    form = ChangePasswordForm(request, request.POST)
    if not form.is_valid():
        return _page(request, password_form=form, status=422)
    user = form.save()
    update_session_auth_hash(request, user)
    password_changed.send(sender=User, request=request, user=user)
    messages.success(request, _("Your password has been changed."))
    return redirect("account")


@login_required
@require_POST
def add_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show its key, this once."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, token_form=form, status=422)
    assert isinstance(request.user, User)
    return _page(request, new_key=create_token(request.user, form.cleaned_data["name"]))


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the person's own tokens."""
    get_object_or_404(ApiToken, pk=pk, user=request.user).delete()
    messages.success(request, _("The token has been revoked."))
    return redirect("account")


@login_required
@require_POST
def download_data(request: HttpRequest) -> HttpResponseBase:
    """Hand out all that is the person's, as a zip that is made while it is sent, and ends with their sign-in."""
    assert isinstance(request.user, User)
    user: User = User.objects.get(pk=request.user.pk)
    site = absolute(request, "/").rstrip("/")
    pieces: Any = archive.archive(user, site)
    if isinstance(request, ASGIRequest):
        made = archive.stream(user, site, get_language() or settings.LANGUAGE_CODE)
        pieces = _while_signed_in(user, request.session.session_key or "", made)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    name = f"ragsite-{user.get_username()}-{timezone.localdate()}.zip"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    record(AuditEntry.Action.EXPORTED, user, what="own data")
    return response


async def _while_signed_in(user: User, session_key: str, pieces: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    async with stream_auth.watched(stream_auth.Grant(user.pk, user.password, session_key), pieces) as stream:
        async for piece in stream:
            yield piece


class DeletionForm(forms.Form):
    """Asks for the user name, so that nobody deletes an account by a slip of the hand."""

    username = forms.CharField(
        label=gettext_lazy("Your username, to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, user: User, *args: Any) -> None:
        super().__init__(*args)
        self.user = user

    def clean_username(self) -> str:
        """Refuse another name."""
        typed = str(self.cleaned_data["username"])
        if typed != self.user.get_username():
            raise forms.ValidationError(_("This is not your username."))
        return typed


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Say what goes with the account; once its name is typed, delete it and end all it had open."""
    assert isinstance(request.user, User)
    user: User = User.objects.get(pk=request.user.pk)
    form = DeletionForm(user, request.POST or None)
    is_last = is_last_administrator(user)
    if request.method == "POST" and not is_last and form.is_valid():
        try:
            deletion.delete_account(user)
        except deletion.LastAdministrator:
            return redirect("delete-account")
        request.user = AnonymousUser()
        logout(request)
        messages.success(request, _("Your account is deleted."))
        return redirect("login")
    context = {"form": form, "is_last": is_last, "losses": deletion.losses(user)}
    return render(request, "ragsite/delete_account.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def add_samples(request: HttpRequest) -> HttpResponse:
    """Give the person a knowledge base of the sample documents; one of that name is left as it is."""
    assert isinstance(request.user, User)
    try:
        with transaction.atomic():
            base = samples.load(request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("knowledge")
    return redirect("knowledge-base", base.pk)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Remember light, dark or automatic in a cookie and go back to where the person was."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = "/"
    response = redirect(target)
    theme = request.POST.get("theme", "auto")
    if theme in THEMES:
        response.set_cookie("theme", theme, max_age=_YEAR, samesite="Lax", secure=request.is_secure())
    return response


def _error_without_page(request: HttpRequest, status: int, code: str, words: str) -> HttpResponse | None:
    """Return an error in the API's shape to programs, a message where a part of a page is forbidden, else None."""
    if request.path == "/api" or request.path.startswith("/api/"):
        return JsonResponse({"detail": words, "code": code}, status=status)
    return refusal(words, status) if status == 403 and request.headers.get("HX-Request") else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for what can't be read or is too much: a page, or an error in the API's shape, 413 where it is size."""
    status, code, words = 400, "bad_request", _("The request can't be read.")
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        status, code, words = 413, "too_large", _("The request is larger than this site takes.")
    return _error_without_page(request, status, code, words) or default_bad_request(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer for a form that has expired: a page, a message where a part of one asked, or an error to programs."""
    words = _("This page has expired. Reload it and try again.")
    return _error_without_page(request, 403, "csrf_failed", words) or render(request, "403_csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for what the person may not do: a page that says why, a message where a part of one asked, or an error."""
    error = _error_without_page(request, 403, "permission_denied", str(exception) or _("You may not do this."))
    return error or render(request, "403.html", {"message": str(exception)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for what is nowhere: a page, or an error in the API's shape to programs."""
    words = _("There is nothing at %(path)s.") % {"path": request.path}
    return _error_without_page(request, 404, "not_found", words) or page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for what failed, without the database: 503 when that is what is away, else 500; in the API's shape too."""
    status, code, words = 500, "error", _("The error has been logged. Please try again.")
    if isinstance(sys.exc_info()[1], DATABASE_UNAVAILABLE):
        status, code, words = 503, "database_away", database_unavailable_message()
    page = HttpResponse(render_to_string("500.html", {"message": words}), status=status)
    response = _error_without_page(request, status, code, words) or page
    if status == 503:
        response["Retry-After"] = "5"
    return response


@require_GET
@csp(_FRAME_POLICY)
def diagram(request: HttpRequest) -> HttpResponse:
    """Show the empty frame in which a page has diagrams drawn; it is sandboxed wherever it is opened."""
    return render(request, "ragsite/diagram.html")
