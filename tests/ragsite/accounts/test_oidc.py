"""Sign-in through a real OpenID Connect provider over HTTP: accounts, invitations and groups."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, User

from knowledge.invitations import invitations
from knowledge.models import Membership
from ragsite.models import AuditEntry
from tests import factories
from tests.oidc_provider import CLIENT, PASSWORD, SECRET, OIDCProvider

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = [
    {"username": "ann", "email": "ann@example.org", "groups": ["Pilots", "Elsewhere"]},
    {"username": "bob", "email": "bob@example.org", "verified": False},
]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory, live_server: Any) -> Iterator[OIDCProvider]:
    callback = f"{live_server.url}/login/oidc/provider/login/callback/"
    with OIDCProvider(tmp_path_factory.mktemp("provider"), callback, PEOPLE) as provider:
        yield provider


@pytest.fixture
def site(live_server: Any, provider: OIDCProvider, settings: Any) -> str:
    """The site as `OIDC_SERVER_URL`, `OIDC_CLIENT_ID` and `OIDC_CLIENT_SECRET` set it up."""
    settings.SOCIALACCOUNT_PROVIDERS = settings_providers(provider.url)
    return str(live_server.url)


def settings_providers(url: str) -> dict[str, Any]:
    from ragsite.settings import oidc_providers

    return oidc_providers(url, CLIENT, SECRET, "Example", link_by_email=True)


def form(page: httpx.Response, **fields: str) -> tuple[str, dict[str, Any]]:
    """Return where the page's form with these fields goes, and what it sends."""
    forms = re.findall(r"<form\b([^>]*)>(.*?)</form>", page.text, re.DOTALL)
    attributes, body = next(each for each in forms if all(f'name="{name}"' in each[1] for name in fields))
    sent: dict[str, Any] = {}
    for given in re.findall(r"<input\b[^>]*>", body):
        name, value = re.search(r'name="([^"]*)"', given), re.search(r'value="([^"]*)"', given)
        if name and ('type="checkbox"' not in given or "checked" in given):
            sent.setdefault(name[1], []).append(unescape(value[1]) if value else "")
    action = re.search(r'action="([^"]*)"', attributes)
    return urljoin(str(page.url), unescape(action[1]) if action else ""), sent | fields


def come(site: str, username: str, start: str = "/login/", browser: httpx.Client | None = None) -> httpx.Response:
    """Follow the page's button to the provider, sign in there, agree, and return where this ends."""
    browser = browser or httpx.Client(follow_redirects=True)
    page = browser.get(urljoin(site, start))
    link = re.search(r'href="([^"]*oidc/provider/login[^"]*)"', page.text)
    assert link, "the page offers the provider"
    page = browser.get(urljoin(site, unescape(link[1])))
    address, sent = form(page, login=username, password=PASSWORD)
    page = browser.post(address, data=sent)
    if 'value="grant"' in page.text:
        address, sent = form(page, action="grant")
        page = browser.post(address, data=sent)
    assert str(page.url).startswith(site), f"the provider has not led back: {page.status_code} {page.url}"
    return page


def test_strangers_stay_out_where_sign_up_is_closed(site: str) -> None:
    page = come(site, "ann")
    assert not User.objects.filter(email="ann@example.org").exists()
    assert page.status_code == 200 and "You don't have an account here yet" in page.text


def test_a_setting_lets_users_of_the_provider_sign_up(site: str, settings: Any) -> None:
    settings.OIDC_SIGN_UP = True
    browser = httpx.Client(follow_redirects=True)
    page = come(site, "ann", browser=browser)
    user = User.objects.get(username="ann")
    assert user.email == "ann@example.org" and not user.has_usable_password()
    assert page.status_code == 200 and browser.get(urljoin(site, "/account/")).url.path == "/account/"
    assert SocialAccount.objects.get().user == user
    assert AuditEntry.objects.filter(action="signed_in", actor=user).exists()
    come(site, "ann")
    assert User.objects.filter(email="ann@example.org").count() == SocialAccount.objects.count() == 1


def test_an_account_is_found_by_a_verified_address(site: str) -> None:
    known = factories.make_user("known", email="ann@example.org")
    EmailAddress.objects.create(user=known, email=known.email, verified=True, primary=True)
    come(site, "ann")
    assert SocialAccount.objects.get().user == known and User.objects.count() == 1
    known.refresh_from_db()
    assert known.check_password("password"), "what was verified here keeps its password"
    assert not AuditEntry.objects.filter(action="account").exists()


def test_removing_a_password_with_an_unverified_address_is_shown_and_logged(site: str) -> None:
    known = factories.make_user("known", email="ann@example.org")
    browser = httpx.Client(follow_redirects=True)
    page = come(site, "ann", browser=browser)
    known.refresh_from_db()
    assert SocialAccount.objects.get().user == known and not known.has_usable_password()
    assert "Your password was removed" in page.text and 'href="/account/password/set/"' in page.text
    entry = AuditEntry.objects.get(action="account", object_name="known")
    assert entry.actor == known
    assert entry.details == {"what": "changed", "fields": ["password"], "why": "unverified address"}
    account = browser.get(urljoin(site, "/account/"))
    assert "Your password was removed" not in account.text and "Set a password" in account.text
    address, sent = form(
        browser.get(urljoin(site, "/account/password/set/")), password1="a new one 17", password2="a new one 17"
    )
    assert browser.post(address, data=sent).url.path == "/account/"
    known.refresh_from_db()
    assert known.check_password("a new one 17")
    assert "Your password was removed" not in come(site, "ann").text, "it is told once"


def test_an_address_that_the_provider_has_not_verified_matches_no_account(site: str, settings: Any) -> None:
    factories.make_user("known", email="bob@example.org")
    come(site, "bob")
    assert not SocialAccount.objects.exists()


def test_groups_of_the_provider_become_those_of_the_site(site: str, settings: Any) -> None:
    settings.OIDC_SIGN_UP, settings.OIDC_GROUPS_CLAIM = True, "groups"
    pilots, gone = Group.objects.create(name="Pilots"), Group.objects.create(name="Gone")
    come(site, "ann")
    user = User.objects.get(username="ann")
    assert list(user.groups.all()) == [pilots]
    user.groups.add(gone)
    come(site, "ann")
    assert list(user.groups.all()) == [pilots]


def test_an_invitation_lets_in_through_the_provider(site: str, owner: User) -> None:
    base = factories.make_knowledge_base(owner, "Harbour rules")
    _made, key = invitations.invite(owner, base=base, base_role="editor")
    page = come(site, "ann", f"/invitations/{key}/")
    user = User.objects.get(username="ann")
    assert Membership.objects.get(user=user).role == "editor"
    assert page.url.path == f"/knowledge/{base.pk}/" and "Harbour rules" in page.text


def test_an_invitation_for_someone_else_lets_nobody_in(site: str, owner: User) -> None:
    base = factories.make_knowledge_base(owner)
    _made, key = invitations.invite(owner, base=base, email="carla@example.org")
    come(site, "ann", f"/invitations/{key}/")
    assert not User.objects.filter(username="ann").exists() and not Membership.objects.exists()


def test_a_deactivated_account_stays_out(site: str) -> None:
    known = factories.make_user("known", email="ann@example.org")
    EmailAddress.objects.create(user=known, email=known.email, verified=True, primary=True)
    User.objects.update(is_active=False)
    browser = httpx.Client(follow_redirects=True)
    come(site, "ann", browser=browser)
    assert browser.get(urljoin(site, "/account/")).url.path == "/login/"
