"""The forms that ask for a secret, with growing pauses after wrong ones."""

from typing import Any

from allauth.account.forms import LoginForm, ResetPasswordKeyForm, SignupForm
from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ragsite.accounts.pauses import begun
from ragsite.accounts.validators import HELP


class _Labelled:
    """Its labels say what its fields hold; placeholders would say it again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # type: ignore[attr-defined]
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:  # type: ignore[attr-defined]
            self.fields["password1"].help_text = HELP  # type: ignore[attr-defined]


class SignInForm(_Labelled, LoginForm):  # type: ignore[misc]
    """A user name or an e-mail address, and the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("Username or e-mail")
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        self.fields["password"].help_text = ""

    def add_prefix(self, field_name: str) -> str:
        """Return the name of a field in the page, by which password managers know it."""
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class SignUpForm(_Labelled, SignupForm):  # type: ignore[misc]
    """What an account begins with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = _("E-mail address (optional)")


class PasswordAgainForm(_Labelled, PasswordForm):  # type: ignore[misc]
    """The password where it is asked for again."""


class NewPasswordForm(_Labelled, ResetPasswordKeyForm):  # type: ignore[misc]
    """The password that takes the place of a forgotten one."""


class _Code(_Labelled):
    """A code of the second factor, which is guessed no faster than a password."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("Verification code")  # type: ignore[attr-defined]

    def clean_code(self) -> str:
        from allauth.core import context

        guess = begun(context.request, self.user.get_username(), "code")
        code = super().clean_code()  # type: ignore[misc]
        guess.succeeded()
        return str(code)


class CodeForm(_Code, AuthenticateForm):  # type: ignore[misc]
    """The code after the password."""


class CodeAgainForm(_Code, ReauthenticateForm):  # type: ignore[misc]
    """The code where it is asked for again."""


class FirstCodeForm(_Labelled, ActivateTOTPForm):  # type: ignore[misc]
    """The code by which an authenticator app is taken up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("Verification code")


class AddKeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey or security key, and what it is called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["passwordless"].label = _("Sign in with it alone, without the password")
        self.fields["passwordless"].help_text = _("It then asks for your fingerprint, your face or a PIN.")


class ChangePasswordForm(PasswordChangeForm):
    """The old password, and the new one twice."""

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        assert isinstance(request.user, User)
        super().__init__(request.user, *args)
        self.request = request
        # The page has other forms too.
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = HELP

    def clean_old_password(self) -> str:
        """Check the old password, unless there were too many wrong attempts."""
        guess = begun(self.request, self.user.get_username())
        password = super().clean_old_password()
        guess.succeeded()
        return str(password)
