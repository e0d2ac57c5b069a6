"""The forms that ask for a password, with growing pauses after wrong ones, and the messages of these pauses."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import ngettext

from ragsite.accounts.lockout import Guess, TooManyGuesses, address_of

# The attribute of a request in which a form stores the seconds to wait, for its view.
_WAIT = "guesses_wait"


def pause_message(wait: int) -> str:
    """Return the message that says after how many seconds to try again."""
    minutes = round(wait / 60)
    if minutes < 2:
        text = ngettext(
            "That was wrong too often. Please try again in %(count)d second.",
            "That was wrong too often. Please try again in %(count)d seconds.",
            wait,
        )
        return text % {"count": wait}
    text = ngettext(
        "That was wrong too often. Please try again in %(count)d minute.",
        "That was wrong too often. Please try again in %(count)d minutes.",
        minutes,
    )
    return text % {"count": minutes}


def _begun(request: HttpRequest, username: str) -> Guess:
    """Return a guess that may be made now; raises `ValidationError` during a pause."""
    guess = Guess("password", username, address_of(request))
    try:
        guess.begin()
    except TooManyGuesses as refusal:
        setattr(request, _WAIT, refusal.wait)
        raise ValidationError(pause_message(refusal.wait), code="too_many_guesses") from None
    return guess


class SignInForm(AuthenticationForm):
    """The form of a user name and a password."""

    def clean(self) -> dict[str, Any]:
        """Sign in, unless there were too many wrong attempts."""
        if self.request is None or not {"username", "password"} <= set(self.cleaned_data):
            return super().clean()
        guess = _begun(self.request, self.cleaned_data["username"])
        cleaned = super().clean()
        guess.succeeded()
        return cleaned


class AdminSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for staff."""


class ChangePasswordForm(PasswordChangeForm):
    """The old password, and the new one twice."""

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        assert isinstance(request.user, User)
        super().__init__(request.user, *args)
        self.request = request
        # The page has other forms too.
        self.fields["old_password"].widget.attrs.pop("autofocus", None)

    def clean_old_password(self) -> str:
        """Check the old password, unless there were too many wrong attempts."""
        guess = _begun(self.request, self.user.get_username())
        password = super().clean_old_password()
        guess.succeeded()
        return str(password)


def telling_pauses(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorator of views: if the form refused a guess, respond with 429 and the seconds to wait as `Retry-After`."""

    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if wait := getattr(request, _WAIT, 0):
            response.status_code = 429
            response.headers["Retry-After"] = str(wait)
        return response

    return told
