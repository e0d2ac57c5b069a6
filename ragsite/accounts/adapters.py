"""Allauth's adapters: who may sign up, limits on guesses, links in e-mails, and encryption of secrets."""

import logging
from itertools import chain, count
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.accounts import stream_auth
from ragsite.accounts.lockout import address_of
from ragsite.accounts.pauses import guess
from ragsite.audit.log import explain
from ragsite.audit.models import AuditEntry
from ragsite.llm import secrets
from ragsite.requests import absolute
from ragsite.site_settings.config import config, refresh

logger = logging.getLogger(__name__)
# Session key, set when the provider has authenticated the user; a second factor may still be required.
_PASSWORD_REMOVED = "password_removed"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts of this site."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "cannot_remove_primary_email": gettext_lazy(
            "This is your primary e-mail address. Add another one before you remove it."
        ),
        "duplicate_email": gettext_lazy("This is already your e-mail address."),
        "email_password_mismatch": gettext_lazy("The e-mail address or the password is wrong."),
        "email_taken": gettext_lazy("Another account has this e-mail address."),
        "incorrect_code": gettext_lazy("This code is wrong."),
        "incorrect_password": gettext_lazy("This password is wrong."),
        "invalid_password_reset": gettext_lazy("This link doesn't work any more."),
        "max_email_addresses": gettext_lazy("You can't add more than %d e-mail addresses."),
        "rate_limited": gettext_lazy("Too many attempts. Try again later."),
        "same_as_current": gettext_lazy("The new value is the same as the current one."),
        "unknown_email": gettext_lazy("No account has this e-mail address."),
        "unverified_primary_email": gettext_lazy("Confirm the address first."),
        "username_blacklisted": gettext_lazy("This username can't be used."),
        "username_password_mismatch": gettext_lazy("The username or the password is wrong."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether everyone may create an account."""
        refresh()
        return bool(config.SIGN_UP == "open")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Check a password at sign-in or reauthentication; raises `ValidationError` during a pause."""
        typed = credentials.get("username") or credentials.get("email") or ""
        account = get_user_by_username(typed) or next(iter(filter_users_by_email(typed, for_login=True)), None)
        with guess(request, account.get_username() if account else typed) as attempt:
            user = super().authenticate(request, **credentials)
            if user is not None:
                attempt.succeeded()
        return user

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's address that limits on guesses use."""
        return address_of(request) or "0.0.0.0"

    def should_send_confirmation_mail(self, request: HttpRequest, email_address: Any, signup: bool) -> bool:
        """Return whether mail can be sent."""
        return bool(settings.EMAIL_HOST)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> bool:
        """Send an e-mail and return whether that succeeded; a failure is logged and shown on the page."""
        context = {"site_name": config.SITE_NAME, "site_url": absolute(self.request, "/")} | context
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException):
            logger.exception("E-mail can't be sent")
            messages.error(self.request, _("The e-mail couldn't be sent. Contact your administrator."))
            return False
        return True

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return the available methods of reauthentication, each with `id`, `description` and `url`."""
        descriptions = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use a passkey or security key"),
        }
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": descriptions[method["id"]]} for method in methods]

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link for setting a new password, with the site's public address."""
        uidb36, _dash, token = key.partition("-")
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": uidb36, "key": token})
        return absolute(self.request, path)

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Return the link that confirms an e-mail address, with the site's public address."""
        return absolute(request, reverse("account_confirm_email", args=[emailconfirmation.key]))


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Second factors, with secrets encrypted in the same way as endpoints' API keys."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": gettext_lazy("This code is wrong.")}

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Return a default name for a new passkey, numbered if the user already has one of that name."""
        taken = {each.wrap().name for each in Authenticator.objects.filter(user=user, type=type)}
        numbered = (_("Passkey {number}").format(number=number) for number in count(2))
        return next(name for name in chain([_("Passkey")], numbered) if name not in taken)

    def encrypt(self, text: str) -> str:
        """Return a secret in encrypted form, as stored."""
        return secrets.encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret in plain text."""
        return secrets.decrypt(encrypted_text.encode())

    def _get_site_name(self) -> str:
        return str(config.SITE_NAME)

    def _get_user_identifier(self, user: Any) -> str:
        return str(user.get_username())


class SessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    """Sessions that close their WebSockets and streams when they end."""

    def end_sessions(self, sessions: Any) -> None:
        """End sessions, and the streams that they opened."""
        for session in sessions:
            session.end()
            stream_auth.end_streams(session.session_key)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Users who sign in through an OpenID Connect provider."""

    error_messages = DefaultSocialAccountAdapter.error_messages | {
        "email_taken": gettext_lazy(
            "An account with this e-mail address already exists. Sign in to it first, then connect %s."
        ),
        "no_password": gettext_lazy("You would no longer be able to sign in. Set a password first."),
        "no_verified_email": gettext_lazy("Confirm your e-mail address first."),
        "disconnect_last": gettext_lazy("You would no longer be able to sign in. Set a password first."),
        "connected_other": gettext_lazy("That account is already connected to another user."),
        "invalid_token": gettext_lazy("The provider sent an invalid response. Try again."),
    }

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Return whether a user of the provider may create an account: by a setting, or with an invitation."""
        is_open = settings.OIDC_SIGN_UP or super().is_open_for_signup(request, sociallogin)
        return bool(is_open or import_string(settings.INVITED)(request, sociallogin.user.email or ""))

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Remember whether the account has a password, which allauth may remove; see `password_removed`."""
        sociallogin.had_password = sociallogin.is_existing and sociallogin.user.has_usable_password()


def password_removed(sender: Any, request: HttpRequest, sociallogin: Any, **kwargs: Any) -> None:
    """Record that the password of an account with an unverified e-mail address was removed.

    Someone else may have created the account in advance, with a password of their own. A receiver of
    `social_account_added`.
    """
    if getattr(sociallogin, "had_password", False) and not sociallogin.user.has_usable_password():
        explain(AuditEntry.Action.ACCOUNT, sociallogin.user, why="unverified address")
        request.session[_PASSWORD_REMOVED] = True


def warn_of_removed_password(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Show a message after sign-in if the password was removed; a receiver of `user_logged_in`."""
    if request.session.pop(_PASSWORD_REMOVED, False):
        message = _(
            "Your password was removed because your e-mail address was never verified here: someone else might "
            "have set it. You can {link_start}set a new one{link_end} or keep signing in as you just did."
        )
        link = format_html('<a href="{}">', reverse("account_set_password"))
        messages.warning(request, format_html(message, link_start=link, link_end=mark_safe("</a>")))


def sync_groups(sender: Any, user: User, **kwargs: Any) -> None:
    """Set a user's groups to those that the provider names and the site has; a receiver of `user_logged_in`."""
    sociallogin = kwargs.get("sociallogin")
    if sociallogin is None or not settings.OIDC_GROUPS_CLAIM:
        return
    data = sociallogin.account.extra_data
    claims = (data.get("id_token") or {}) | (data.get("userinfo") or {})
    names = claims.get(settings.OIDC_GROUPS_CLAIM)
    if isinstance(names, list):
        user.groups.set(Group.objects.filter(name__in=[name for name in names if isinstance(name, str)]))
