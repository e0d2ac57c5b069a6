"""Views of the user's own account (password, tokens, theme), and error handlers."""

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
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.defaults import bad_request as default_bad_request
from django.views.defaults import page_not_found

from conversations.instructions.texts import own_instructions
from conversations.memory import facts
from conversations.own_data import archive, deletion, importing
from knowledge.services import clean_filename
from ragsite.accounts import stream_auth
from ragsite.accounts.forms import ChangePasswordForm
from ragsite.accounts.pauses import with_retry_after
from ragsite.accounts.roles import is_last_administrator
from ragsite.accounts.tokens import create_token
from ragsite.audit.log import record
from ragsite.db import DATABASE_UNAVAILABLE, database_unavailable_message
from ragsite.exceptions import Refused
from ragsite.language.sentences import join_sentences
from ragsite.limits import disk
from ragsite.models import ApiToken, AuditEntry
from ragsite.requests import absolute, refusal
from ragsite.runtime import samples

_FRAME_POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    # Mermaid adds inline styles to its diagrams.
    "style-src": [UNSAFE_INLINE],
    "frame-ancestors": [SELF],
    "sandbox": ["allow-scripts"],
}
THEMES = ("auto", "light", "dark")
_YEAR = 365 * 24 * 3600


class TokenForm(forms.Form):
    """The name of a new token, which reminds its owner of its purpose."""

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
        "own_instructions": own_instructions(request.user.pk),
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
    messages.success(request, _("Your password was changed."))
    return redirect("account")


@login_required
@require_POST
def add_token(request: HttpRequest) -> HttpResponse:
    """Create a token and show its key, which is only possible once."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, token_form=form, status=422)
    assert isinstance(request.user, User)
    return _page(request, new_key=create_token(request.user, form.cleaned_data["name"]))


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the user's own tokens."""
    get_object_or_404(ApiToken, pk=pk, user=request.user).delete()
    messages.success(request, _("The token was revoked."))
    return redirect("account")


@login_required
@require_POST
def download_data(request: HttpRequest) -> HttpResponseBase:
    """Stream a zip archive of all the user's data; it is cut off when the user's session ends."""
    assert isinstance(request.user, User)
    user: User = User.objects.get(pk=request.user.pk)
    site = absolute(request, "/").rstrip("/")
    pieces: Any = archive.archive(user, site)
    if isinstance(request, ASGIRequest):
        stream = archive.stream(user, site, get_language() or settings.LANGUAGE_CODE)
        pieces = _while_signed_in(user, request.session.session_key or "", stream)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    name = f"ragsite-{user.get_username()}-{timezone.localdate()}.zip"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    record(AuditEntry.Action.EXPORTED, user, what="own data")
    return response


@login_required
@require_POST
def import_chats(request: HttpRequest) -> HttpResponse:
    """Add the chats of another site's export file to the user's, and say how many there were."""
    assert isinstance(request.user, User)
    file = request.FILES.get("file")
    if file is None:
        messages.error(request, _("Choose a file first."))
        return redirect("account")
    try:
        done = importing.import_chats(request.user, clean_filename(file.name or ""), file, file.size or 0)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("account")
    added = ngettext("%(count)d chat was added.", "%(count)d chats were added.", done.added) % {"count": done.added}
    known = ngettext(
        "%(count)d had been added before.", "%(count)d had been added before.", done.known
    ) % {"count": done.known}  # fmt: skip
    messages.success(request, join_sentences(added, known if done.known else ""))
    return redirect("account")


async def _while_signed_in(user: User, session_key: str, pieces: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    async with stream_auth.watched(stream_auth.Grant(user.pk, user.password, session_key), pieces) as stream:
        async for piece in stream:
            yield piece


class DeletionForm(forms.Form):
    """Asks for the username, so that nobody deletes an account by accident."""

    username = forms.CharField(
        label=gettext_lazy("Your username, to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, user: User, *args: Any) -> None:
        super().__init__(*args)
        self.user = user

    def clean_username(self) -> str:
        """Check that it is the user's own username."""
        typed = str(self.cleaned_data["username"])
        if typed != self.user.get_username():
            raise forms.ValidationError(_("This is not your username."))
        return typed


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Show what is deleted with the account; once the username is confirmed, delete it and sign out."""
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
        messages.success(request, _("Your account was deleted."))
        return redirect("login")
    context = {"form": form, "is_last": is_last, "losses": deletion.losses(user)}
    return render(request, "ragsite/delete_account.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def add_samples(request: HttpRequest) -> HttpResponse:
    """Create the sample knowledge base for the user, unless one of that name exists."""
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
    """Store the theme (light, dark or automatic) in a cookie and return to the previous page."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = "/"
    response = redirect(target)
    theme = request.POST.get("theme", "auto")
    if theme in THEMES:
        response.set_cookie("theme", theme, max_age=_YEAR, samesite="Lax", secure=request.is_secure())
    return response


def _error_without_page(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse | None:
    """Return an error in the API's format to programs, a message if htmx gets status 403, else None."""
    if request.path == "/api" or request.path.startswith("/api/"):
        return JsonResponse({"detail": message, "code": code}, status=status)
    return refusal(message, status) if status == 403 and request.headers.get("HX-Request") else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle a malformed request, or one that is too large (status 413)."""
    status, code, message = 400, "bad_request", _("The request is malformed.")
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        status, code, message = 413, "too_large", _("The request is too large.")
    return _error_without_page(request, status, code, message) or default_bad_request(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Handle an expired form."""
    message = _("This page has expired. Reload it and try again.")
    return _error_without_page(request, 403, "csrf_failed", message) or render(request, "403_csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle a lack of permission; the exception's text is the reason."""
    message = str(exception) or _("You don't have permission to do this.")
    error = _error_without_page(request, 403, "permission_denied", message)
    return error or render(request, "403.html", {"message": str(exception)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle an unknown URL or object."""
    message = _("There is nothing at %(path)s.") % {"path": request.path}
    return _error_without_page(request, 404, "not_found", message) or page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle an exception without the database: 507 if the disk is full, 503 if the database is away, else 500."""
    status, code, message = 500, "error", _("The error has been logged. Please try again.")
    if disk.is_full(sys.exc_info()[1]):
        status, code, message = 507, "disk_full", disk.full_message()
    elif isinstance(sys.exc_info()[1], DATABASE_UNAVAILABLE):
        status, code, message = 503, "database_away", database_unavailable_message()
    page = HttpResponse(render_to_string("500.html", {"message": message}), status=status)
    response = _error_without_page(request, status, code, message) or page
    if status == 503:
        response["Retry-After"] = "5"
    return response


@require_GET
@csp(_FRAME_POLICY)
def diagram(request: HttpRequest) -> HttpResponse:
    """Show the frame in which pages render diagrams; it is always sandboxed."""
    return render(request, "ragsite/diagram.html")
