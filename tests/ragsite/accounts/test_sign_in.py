"""Sign-in by username, e-mail address, second factor and link, and the end of sessions."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.usersessions.models import UserSession
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.urls import reverse

from ragsite.accounts.adapters import SecondFactorAdapter
from ragsite.accounts.views import browser_of
from ragsite.asgi import application
from ragsite.db import in_database
from ragsite.settings import oidc_providers
from tests import factories
from tests.conversations.records import make_session

pytestmark = pytest.mark.django_db
SECRET = "JBSWY3DPEHPK3PXP"


def sign_in(client: Client, username: str, password: str = "password") -> Any:
    return client.post(reverse("login"), {"username": username, "password": password})


def code() -> str:
    return format_hotp_value(hotp_value(SECRET, next(iter(yield_hotp_counters_from_time()))))


def test_by_name_and_by_address(owner: User) -> None:
    owner.email = "owner@example.org"
    owner.save()
    for name in ("owner", "owner@example.org"):
        assert sign_in(Client(), name)["Location"] == "/", name


def test_both_ways_of_naming_an_account_share_its_pauses(owner: User) -> None:
    owner.email = "owner@example.org"
    owner.save()
    names = ["owner", "owner@example.org"] * 5
    statuses = [sign_in(Client(), name, "wrong").status_code for name in names]
    assert statuses == [200] * 6 + [429] * 4


@pytest.mark.parametrize("page", ["login", "account_signup", "account_reset_password", "account_inactive"])
def test_anonymous_users_choose_the_language(anonymous: Client, page: str) -> None:
    assert 'value="zh-hans"' in anonymous.get(reverse(page)).content.decode()


def test_reauthentication_can_be_cancelled(owner: User) -> None:
    client = Client()
    sign_in(client, "owner")
    page = client.get(reverse("account_reauthenticate")).content.decode()
    assert f'href="{reverse("account")}"' in page
    assert 'value="zh-hans"' not in page


def test_nobody_signs_up_unless_the_site_is_open(anonymous: Client, settings: Any) -> None:
    form = {"username": "newcomer", "password1": "a long one 17", "password2": "a long one 17"}
    anonymous.post(reverse("account_signup"), form)
    assert not User.objects.filter(username="newcomer").exists()
    settings.SIGN_UP = "open"
    assert anonymous.post(reverse("account_signup"), form).status_code == 302
    assert User.objects.filter(username="newcomer").exists()


def test_the_second_factor_is_required_in_the_admin_too(staff: User, anonymous: Client) -> None:
    TOTP.activate(staff, SECRET)
    assert "second" not in Authenticator.objects.get().data.get("secret", "") and SECRET not in str(
        Authenticator.objects.get().data
    )
    assert anonymous.post("/admin/login/", {"username": "staff", "password": "password"})["Location"].startswith(
        "/login/"
    )
    assert sign_in(anonymous, "staff")["Location"].startswith(reverse("mfa_authenticate"))
    assert anonymous.get("/admin/").status_code == 302
    assert b"security key" not in anonymous.get(reverse("mfa_authenticate")).content  # which this person doesn't have
    statuses = [anonymous.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code for _ in range(8)]
    assert statuses == [200] * 6 + [429] * 2


def test_a_code_or_a_recovery_code_lets_in(staff: User) -> None:
    TOTP.activate(staff, SECRET)
    spare = RecoveryCodes.activate(staff).get_unused_codes()[0]
    for given in (code(), spare):
        client = Client()
        sign_in(client, "staff")
        assert client.post(reverse("mfa_authenticate"), {"code": given})["Location"] == "/"
        assert client.get("/admin/").status_code == 200


def test_a_passkey_is_called_so_and_numbered(owner: User, stranger: User) -> None:
    adapter = SecondFactorAdapter()
    Authenticator.objects.create(user=stranger, type="webauthn", data={"name": "Passkey"})
    for number in ("Passkey", "Passkey 2", "Passkey 3"):
        assert adapter.generate_authenticator_name(owner, Authenticator.Type.WEBAUTHN) == number
        Authenticator.objects.create(user=owner, type="webauthn", data={"name": number})
    Authenticator.objects.filter(user=owner, data__name="Passkey 2").delete()
    assert adapter.generate_authenticator_name(owner, Authenticator.Type.WEBAUTHN) == "Passkey 2"


def test_other_people_s_keys_are_nowhere(owner: User, stranger: User, anonymous: Client) -> None:
    key = Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Laptop"})
    sign_in(anonymous, "stranger")
    assert anonymous.post(reverse("account_reauthenticate"), {"password": "password"}).status_code == 302
    for name in ("mfa_remove_webauthn", "mfa_edit_webauthn"):
        assert anonymous.get(reverse(name, args=[key.pk])).status_code == 404


def test_the_account_page_links_to_connections_if_there_is_a_provider(as_owner: Client, settings: Any) -> None:
    link = f'href="{reverse("socialaccount_connections")}"'
    assert link not in as_owner.get(reverse("account")).content.decode()
    settings.SOCIALACCOUNT_PROVIDERS = oidc_providers(
        "https://login.example.org", "id", "secret", "Example", link_by_email=False
    )
    assert link in as_owner.get(reverse("account")).content.decode()


def test_signing_others_out(owner: User) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        sign_in(client, "owner")
    assert here.get(reverse("usersessions_list")).content.decode().count("127.0.0.1") == 2
    here.post(reverse("usersessions_list"))
    assert here.get("/account/").status_code == 200 and there.get("/account/").status_code == 302
    assert UserSession.objects.count() == 1


def test_a_deactivated_account_stays_signed_out_when_it_comes_back(owner: User, colleague: User) -> None:
    client, other = Client(), Client()
    sign_in(client, "owner")
    sign_in(other, "colleague")
    owner.is_active = False
    owner.save()
    assert Session.objects.count() == 1
    owner.is_active = True
    owner.save()
    assert client.get("/account/").status_code == 302 and other.get("/account/").status_code == 200


def test_changing_the_password_keeps_this_session_listed(owner: User) -> None:
    client = Client()
    sign_in(client, "owner")
    form = {"old_password": "password", "new_password1": "b1 long and new", "new_password2": "b1 long and new"}
    client.post(reverse("change-password"), form)
    assert client.get(reverse("usersessions_list")).content.decode().count("127.0.0.1") == 1


def test_an_administrator_makes_a_link_to_a_new_password(owner: User, staff: User, as_staff: Client) -> None:
    page = as_staff.post(reverse("admin:auth_user_password_link", args=[owner.pk])).content.decode()
    link = re.search(r"http://testserver(/account/password/reset/\S+?/)<", page)
    assert link
    client = Client()
    form = client.get(link[1])["Location"]
    passwords = {"password1": "b1 long and new", "password2": "b1 long and new"}
    client.post(form, passwords)
    assert sign_in(Client(), "owner", "b1 long and new")["Location"] == "/"
    assert "Location" not in Client().get(link[1]), "it works once"


def test_staff_make_no_link_to_an_administrator_s_password(owner: User, staff: User, as_owner: Client) -> None:
    from django.contrib.auth.models import Permission

    owner.is_staff = True
    owner.save()
    owner.user_permissions.add(*Permission.objects.filter(codename__in=("change_user", "view_user")))
    assert as_owner.post(reverse("admin:auth_user_password_link", args=[staff.pk])).status_code == 403


def test_without_mail_no_link_is_promised(owner: User, anonymous: Client) -> None:
    address = reverse("account_reset_password")
    assert "send e-mail" in anonymous.get(address).content.decode()
    assert anonymous.post(address, {"email": "owner@example.org"})["Location"] == address
    assert mail.outbox == []


def test_without_mail_the_account_page_points_to_the_administrator(owner: User, as_owner: Client) -> None:
    User.objects.filter(pk=owner.pk).update(email="owner@example.org")
    page = as_owner.get(reverse("account")).content.decode()
    assert "E-mail address: owner@example.org" in page and "change your e-mail address yourself" in page
    assert reverse("account_email") not in page
    redirected = as_owner.get(reverse("account_email"), follow=True)
    assert redirected.redirect_chain == [(reverse("account"), 302)]
    assert ["send e-mail" in str(each) for each in redirected.context["messages"]] == [True]


def test_with_mail_the_link_leads_to_the_public_address(owner: User, anonymous: Client, settings: Any) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.org", "https://ask.example.org"
    settings.DEFAULT_FROM_EMAIL = "ask@example.org"
    owner.email = "owner@example.org"
    owner.save()
    anonymous.post(reverse("account_reset_password"), {"email": "owner@example.org"})
    assert "https://ask.example.org/account/password/reset/" in mail.outbox[0].body


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_an_expired_form_gets_a_message(owner: User, language: str) -> None:
    client = Client(enforce_csrf_checks=True, headers={"accept-language": language})
    client.force_login(owner)
    page = client.post("/account/theme/", {"theme": "dark"})
    assert page.status_code == 403 and ('class="gate"' in page.content.decode())
    part = client.post("/account/theme/", headers={"HX-Request": "true"})
    assert part.status_code == 403 and part["X-Message"]
    assert client.post("/api/knowledge-bases", {}).json()["code"]


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604.1"


def test_browsers_are_recognised() -> None:
    assert [browser_of(agent) for agent in (FIREFOX, EDGE, SAFARI, "curl/8")] == [
        ("Firefox", "Linux"), ("Edge", "Windows"), ("Safari", "iPhone"), ("", "")
    ]  # fmt: skip


def test_one_sign_in_is_ended_and_the_others_stay(owner: User, stranger: User) -> None:
    here, there, third = Client(), Client(HTTP_USER_AGENT=EDGE), Client()
    for client in (here, there, third):
        sign_in(client, "owner")
    assert "Edge on Windows" in here.get(reverse("usersessions_list")).content.decode()
    ended = UserSession.objects.get(user_agent=EDGE)
    nosy = Client()
    sign_in(nosy, "stranger")
    assert nosy.post(reverse("end-sign-in", args=[ended.pk])).status_code == 404
    assert here.post(reverse("end-sign-in", args=[ended.pk])).status_code == 302
    statuses = [client.get("/account/").status_code for client in (here, there, third)]
    assert statuses == [200, 302, 200]
    own = UserSession.objects.get(session_key=here.session.session_key)
    assert here.post(reverse("end-sign-in", args=[own.pk]))["Location"] == "/login/"
    assert here.get("/account/").status_code == 302


def test_forbidden_has_a_page_of_the_site(owner: User, colleague: User, as_colleague: Client) -> None:
    base = factories.make_knowledge_base(owner)
    factories.share(base, colleague)
    response = as_colleague.get(f"/knowledge/{base.pk}/members/")
    assert response.status_code == 403
    page = response.content.decode()
    assert "Only its owner can do this." in page and "site.css" in page and "signed in as colleague" in page
    part = as_colleague.get(f"/knowledge/{base.pk}/members/", headers={"HX-Request": "true"})
    assert part.status_code == 403 and part.headers["X-Message"]


@pytest.mark.django_db(transaction=True)
async def test_the_sockets_of_one_sign_in_close_with_it(owner: User) -> None:
    session = await in_database(make_session, owner)
    sockets = []
    for _each in range(2):
        client = Client()
        await in_database(sign_in, client, "owner")
        headers = [(b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())]
        socket = WebsocketCommunicator(application, f"/ws/sessions/{session.pk}/", headers=headers)
        assert (await socket.connect())[0]
        sockets.append((client, socket))
    (here, kept), (there, closed) = sockets
    key = there.cookies["sessionid"].value
    ended = await UserSession.objects.aget(session_key=key)
    await in_database(here.post, reverse("end-sign-in", args=[ended.pk]))
    assert (await closed.receive_output(timeout=2))["type"] == "websocket.close"
    assert await kept.receive_nothing(timeout=0.2)
    await kept.disconnect()


@pytest.mark.parametrize("name", ["account_inactive", "account_reset_password_done", "socialaccount_login_cancelled"])
def test_pages_without_a_form_lead_back_to_signing_in(name: str) -> None:
    page = Client().get(reverse(name)).text
    assert f'href="{reverse("login")}"' in page


def test_an_expired_link_leads_to_a_new_one() -> None:
    page = Client().get("/account/password/reset/1-x-y/", follow=True).text
    assert "works once and for a limited time" in page
    assert f'href="{reverse("account_reset_password")}"' in page


def test_labels_are_not_repeated_in_their_fields(owner: User, client: Client) -> None:
    client.force_login(owner)
    page, _palette = client.get(reverse("account_reauthenticate")).text.split("<dialog", 1)
    assert 'name="password"' in page and "placeholder" not in page


def test_password_rules_are_in_the_language_of_the_page(owner: User, client: Client) -> None:
    client.force_login(owner)
    passwords = {"old_password": "password", "new_password1": "x7", "new_password2": "x7"}
    page = client.post(reverse("change-password"), passwords).text
    assert "At least 8 characters" in page and "This password has fewer than 8 characters." in page
