"""Allauth's pages and e-mails have the site's own wording and name, and pages link onwards."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import allauth
import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core import mail
from django.template import engines
from django.test import Client
from django.urls import URLResolver, reverse

from ragsite.accounts.urls import urlpatterns

pytestmark = pytest.mark.django_db
OWN = Path(__file__).resolve().parents[3] / "templates"
THEIRS = Path(allauth.__file__).parent / "templates"
# Mails and messages of ways that are turned off: codes by mail, telephones, addresses without an account.
OFF = re.compile(r"_code|unknown_account|phone|logged_|_updated")


def _pages(patterns: list[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _pages(pattern.url_patterns)
        elif name := getattr(getattr(pattern.callback, "view_class", None), "template_name", None):
            yield name


def test_every_page_mail_and_message_is_our_own() -> None:
    apps = ("account", "mfa", "socialaccount")
    texts = [str(path.relative_to(THEIRS)) for app in apps for path in (THEIRS / app).rglob("*.txt")]
    names = {name for name in texts if not OFF.search(name)} | set(_pages(urlpatterns))
    assert len(names) > 60
    names -= {"mfa/recovery_codes/download.txt"}  # the codes alone
    engine: Any = engines["django"].engine  # type: ignore[attr-defined]
    assert [name for name in sorted(names) if not Path(engine.get_template(name).origin.name).is_relative_to(OWN)] == []


@pytest.fixture
def mailing(settings: Any) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.org", "https://ask.example.org"
    settings.DEFAULT_FROM_EMAIL = "ask@example.org"
    settings.ACCOUNT_EMAIL_VERIFICATION, settings.ACCOUNT_EMAIL_NOTIFICATIONS = "optional", True


def test_e_mails_about_a_changed_address_have_the_site_s_wording(owner: User, mailing: None) -> None:
    EmailAddress.objects.create(user=owner, email="old@example.org", verified=True, primary=True)
    client = Client()
    client.post(reverse("login"), {"username": "owner", "password": "password"})
    client.post(reverse("account_reauthenticate"), {"password": "password"})
    client.post(reverse("account_email"), {"email": "new@example.org", "action_add": ""})
    (asked,) = mail.outbox
    assert asked.subject == "Confirm your e-mail address for Ragsite"
    assert "This e-mail address was entered for the account owner on Ragsite." in asked.body
    assert "register" not in asked.body and "testserver" not in asked.body
    pending = client.get(reverse("account_email")).content.decode()
    assert "new@example.org is not confirmed yet" in pending and "Your address is old@example.org" in pending
    link = re.search(r"https://ask.example.org(/account/email/confirm/\S+)", str(asked.body))
    assert (
        link
        and "Confirm that new@example.org is the e-mail address of your account owner."
        in client.get(link[1]).content.decode()
    )
    assert client.post(link[1]).status_code == 302
    told = mail.outbox[-1]
    assert told.to == ["old@example.org"] and told.subject == "Your e-mail address was changed"
    assert "account on Ragsite was changed from old@example.org to new@example.org" in told.body
    assert "Ragsite · https://ask.example.org/" in told.body and "testserver" not in told.body


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("account_inactive", [], "This account is deactivated"),
        ("account_reset_password_from_key", ["1", "no-key"], "This link doesn&#x27;t work|This link doesn't work"),
        ("account_confirm_email", ["no-key"], "You can request a new one from your account page"),
        ("account_email_verification_sent", [], "Check your e-mail"),
        ("account_reset_password_done", [], "Check your e-mail"),
        ("account_reset_password_from_key_done", [], "Your new password is set"),
        ("socialaccount_login_cancelled", [], "Sign-in cancelled"),
        ("socialaccount_login_error", [], "Sign-in failed"),
    ],
)
def test_each_page_leads_on(anonymous: Client, name: str, arguments: list[str], words: str) -> None:
    page = anonymous.get(reverse(name, args=arguments)).content.decode()
    assert re.search(words, page) and f'href="{reverse("login")}"' in page


def test_the_forms_have_our_labels(owner: User, anonymous: Client, settings: Any) -> None:
    settings.SIGN_UP = "open"
    page = anonymous.get(reverse("account_signup")).content.decode()
    labels = re.findall(r"<label[^>]*>([^<]*)</label>", page)
    assert labels == ["Username", "E-mail address (optional)", "Password", "Password (again)"]
    assert "placeholder" not in page
    page = anonymous.get(reverse("login")).content.decode()
    assert "Passkeys and security keys need JavaScript." in page and "This functionality" not in page


def test_a_wrong_code_or_password_has_our_message(owner: User, anonymous: Client) -> None:
    page = anonymous.post(reverse("login"), {"username": "owner", "password": "wrong"}).content.decode()
    assert "The username or the password is wrong." in page
