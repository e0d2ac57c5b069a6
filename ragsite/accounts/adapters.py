"""What allauth asks the site about: who may come, how guesses are limited, where links lead, what is kept secret."""

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
from ragsite.accounts.pauses import begun
from ragsite.audit.log import explain
from ragsite.audit.models import AuditEntry
from ragsite.context import SITE_NAME
from ragsite.llm import secrets
from ragsite.requests import absolute
from ragsite.site_settings.config import config, refresh

logger = logging.getLogger(__name__)
# Kept in the session between the provider and the end of signing in, which may take a second factor.
_PASSWORD_REMOVED = "password_removed"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts of this site."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "cannot_remove_primary_email": gettext_lazy("This is the address of your account; give another one first."),
        "duplicate_email": gettext_lazy("This is your address already."),
        "email_password_mismatch": gettext_lazy("The e-mail address or the password is wrong."),
        "email_taken": gettext_lazy("Another account has this e-mail address."),
        "incorrect_code": gettext_lazy("This code is wrong."),
        "incorrect_password": gettext_lazy("This password is wrong."),
        "invalid_password_reset": gettext_lazy("This link doesn't work any more."),
        "max_email_addresses": gettext_lazy("An account has at most %d e-mail addresses."),
        "rate_limited": gettext_lazy("That was too often. Wait a while, then try again."),
        "same_as_current": gettext_lazy("This is what it is already."),
        "unknown_email": gettext_lazy("No account has this e-mail address."),
        "unverified_primary_email": gettext_lazy("Confirm the address first."),
        "username_blacklisted": gettext_lazy("This user name can't be used."),
        "username_password_mismatch": gettext_lazy("The user name or the password is wrong."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether everyone may make an account."""
        refresh()
        return bool(config.SIGN_UP == "open")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Check a password, of a sign-in or asked again; raises `ValidationError` during a pause."""
        typed = credentials.get("username") or credentials.get("email") or ""
        meant = get_user_by_username(typed) or next(iter(filter_users_by_email(typed, for_login=True)), None)
        guess = begun(request, meant.get_username() if meant else typed)
        user = super().authenticate(request, **credentials)
        if user is not None:
            guess.succeeded()
        return user

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address as the limits on guesses see it."""
        return address_of(request) or "0.0.0.0"

    def should_send_confirmation_mail(self, request: HttpRequest, email_address: Any, signup: bool) -> bool:
        """Whether mail can be sent."""
        return bool(settings.EMAIL_HOST)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> bool:
        """Send a mail and return whether it was taken; where not, that is logged, and the page says so."""
        context = {"site_name": SITE_NAME, "site_url": absolute(self.request, "/")} | context
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException):
            logger.exception("Mail can't be sent")
            messages.error(self.request, _("The mail could not be sent. Please tell your administrator."))
            return False
        return True

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return the ways to confirm who one is, each with `id`, `description` and `url`."""
        words = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use a passkey or security key"),
        }
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": words[method["id"]]} for method in methods]

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link to a new password, on the site's public address."""
        uidb36, _dash, token = key.partition("-")
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": uidb36, "key": token})
        return absolute(self.request, path)

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Return the link by which an e-mail address is confirmed, on the site's public address."""
        return absolute(request, reverse("account_confirm_email", args=[emailconfirmation.key]))


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Second factors, whose secrets are encrypted as the keys of endpoints are."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": gettext_lazy("This code is wrong.")}

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Return what a new passkey is called at first: by a number, where the person has one of that name."""
        taken = {each.wrap().name for each in Authenticator.objects.filter(user=user, type=type)}
        numbered = (_("Passkey {number}").format(number=number) for number in count(2))
        return next(name for name in chain([_("Passkey")], numbered) if name not in taken)

    def encrypt(self, text: str) -> str:
        """Return a secret as it is stored."""
        return secrets.encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret."""
        return secrets.decrypt(encrypted_text.encode())

    def _get_site_name(self) -> str:
        return SITE_NAME

    def _get_user_identifier(self, user: Any) -> str:
        return str(user.get_username())


class SessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    """Sessions whose end closes their sockets and streams."""

    def end_sessions(self, sessions: Any) -> None:
        """End the sessions and what they opened."""
        for session in sessions:
            session.end()
            stream_auth.end_streams(session.session_key)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """People whom an OpenID Connect provider signs in."""

    error_messages = DefaultSocialAccountAdapter.error_messages | {
        "email_taken": gettext_lazy("An account here has this e-mail address. Sign in to it first, then connect %s."),
        "no_password": gettext_lazy("You couldn't sign in any more. Set a password first."),
        "no_verified_email": gettext_lazy("Confirm your e-mail address first."),
        "disconnect_last": gettext_lazy("You couldn't sign in any more. Set a password first."),
        "connected_other": gettext_lazy("That account signs in someone else here."),
        "invalid_token": gettext_lazy("The other site's answer can't be read. Try again."),
    }

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Whether whom the provider knows gets an account: everyone, by a setting, or who holds an invitation."""
        is_open = settings.OIDC_SIGN_UP or super().is_open_for_signup(request, sociallogin)
        return bool(is_open or import_string(settings.INVITED)(request, sociallogin.user.email or ""))

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Note whether an account that is found has a password, which allauth may remove; see `password_removed`."""
        sociallogin.had_password = sociallogin.is_existing and sociallogin.user.has_usable_password()


def password_removed(sender: Any, request: HttpRequest, sociallogin: Any, **kwargs: Any) -> None:
    """Have it told that an account whose address was never verified has no password any more.

    Someone else may have made it in advance, with a password that they know. A receiver of `social_account_added`.
    """
    if getattr(sociallogin, "had_password", False) and not sociallogin.user.has_usable_password():
        explain(AuditEntry.Action.ACCOUNT, sociallogin.user, why="unverified address")
        request.session[_PASSWORD_REMOVED] = True


def tell_removed_password(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Say on the page after the sign-in that the password is gone; a receiver of `user_logged_in`."""
    if request.session.pop(_PASSWORD_REMOVED, False):
        words = _(
            "Your password was removed, since your e-mail address was never verified here: someone else might "
            "have set it. You can {link_start}set a new one{link_end}, or sign in as you just did."
        )
        link = format_html('<a href="{}">', reverse("account_set_password"))
        messages.warning(request, format_html(words, link_start=link, link_end=mark_safe("</a>")))


def take_groups(sender: Any, user: User, **kwargs: Any) -> None:
    """Give a person the groups that the provider names and the site has; a receiver of `user_logged_in`."""
    sociallogin = kwargs.get("sociallogin")
    if sociallogin is None or not settings.OIDC_GROUPS_CLAIM:
        return
    told = sociallogin.account.extra_data
    claims = (told.get("id_token") or {}) | (told.get("userinfo") or {})
    names = claims.get(settings.OIDC_GROUPS_CLAIM)
    if isinstance(names, list):
        user.groups.set(Group.objects.filter(name__in=[name for name in names if isinstance(name, str)]))
