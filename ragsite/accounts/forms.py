"""Forms for passwords, codes and keys, with growing pauses after wrong attempts."""

from typing import Any

from allauth.account.forms import (
    AddEmailForm,
    LoginForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SetPasswordForm,
    SignupForm,
)
from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from allauth.socialaccount.forms import SignupForm as SocialSignupForm
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ragsite.accounts.pauses import guess
from ragsite.accounts.validators import HELP


class _Labelled:
    """An allauth form with the site's labels instead of placeholders, which disappear as soon as one types."""

    labels = {
        "login": _("Username or e-mail"),
        "username": _("Username"),
        "email": _("E-mail address"),
        "password": _("Password"),
        "password1": _("New password"),
        "password2": _("New password (again)"),
        "code": _("Code"),
        "name": _("Name"),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields  # type: ignore[attr-defined]
        for name, field in fields.items():
            field.label = self.labels.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)
        if "password1" in fields:
            fields["password1"].help_text = HELP


class SignInForm(_Labelled, LoginForm):  # type: ignore[misc]
    """Sign in with a username or an e-mail address, and the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        self.fields["password"].help_text = ""

    def add_prefix(self, field_name: str) -> str:
        """Return the HTML name of a field, by which password managers recognise it."""
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class SignUpForm(_Labelled, SignupForm):  # type: ignore[misc]
    """Sign up with a username and a password."""

    labels = _Labelled.labels | {
        "email": _("E-mail address (optional)"),
        "password1": _("Password"),
        "password2": _("Password (again)"),
    }


class ProviderSignUpForm(_Labelled, SocialSignupForm):  # type: ignore[misc]
    """Sign up through a provider."""

    labels = _Labelled.labels | {"email": _("E-mail address (optional)")}


class AddressForm(_Labelled, AddEmailForm):  # type: ignore[misc]
    """Add another e-mail address."""

    labels = _Labelled.labels | {"email": _("New address")}


class ForgottenForm(_Labelled, ResetPasswordForm):  # type: ignore[misc]
    """Request a link for setting a new password."""


class PasswordAgainForm(_Labelled, PasswordForm):  # type: ignore[misc]
    """Reauthenticate with the password."""


class NewPasswordForm(_Labelled, ResetPasswordKeyForm):  # type: ignore[misc]
    """Set a new password, after following a link."""


class FirstPasswordForm(_Labelled, SetPasswordForm):  # type: ignore[misc]
    """Set the password of an account that has none."""


class _Code(_Labelled):
    """A form for the code of a second factor, with the same limits on guesses as for passwords."""

    user: User

    def clean_code(self) -> str:
        from allauth.core import context

        with guess(context.request, self.user.get_username(), "code") as attempt:
            code = super().clean_code()  # type: ignore[misc]
            attempt.succeeded()
        return str(code)


class CodeForm(_Code, AuthenticateForm):  # type: ignore[misc]
    """Sign in with a code, after the password."""


class CodeAgainForm(_Code, ReauthenticateForm):  # type: ignore[misc]
    """Reauthenticate with a code."""


class SetUpAppForm(_Labelled, ActivateTOTPForm):  # type: ignore[misc]
    """Activate an authenticator app with its first code."""


class RenameKeyForm(_Labelled, EditWebAuthnForm):  # type: ignore[misc]
    """Rename a passkey or security key."""


class AddKeyForm(_Labelled, AddWebAuthnForm):  # type: ignore[misc]
    """Add a passkey or security key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].label = _("Sign in with this key alone, without a password")
        self.fields["passwordless"].help_text = _("It will ask for your fingerprint, your face or a PIN.")


class ChangePasswordForm(PasswordChangeForm):
    """Change the password, given the old one."""

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        assert isinstance(request.user, User)
        super().__init__(request.user, *args)
        self.request = request
        # The page has other forms, too.
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = HELP

    def clean_old_password(self) -> str:
        """Check the old password; raises `ValidationError` during a pause."""
        with guess(self.request, self.user.get_username()) as attempt:
            password = super().clean_old_password()
            attempt.succeeded()
        return str(password)
