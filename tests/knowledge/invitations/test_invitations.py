"""Invitations: the access that a link grants, to whom and how often, and how it is revoked."""

from contextlib import nullcontext
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, User
from django.core import mail
from django.core.exceptions import PermissionDenied
from django.test import Client, RequestFactory
from django.utils import timezone

from knowledge import access, services
from knowledge.invitations import invitations
from knowledge.models import Invitation, KnowledgeBase, Membership
from ragsite.accounts.roles import Role, role_of
from ragsite.exceptions import Refused
from ragsite.models import AuditEntry
from tests import factories

pytestmark = pytest.mark.django_db
ACCOUNT = {"username": "newcomer", "password1": "b1 long and new", "password2": "b1 long and new"}


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner, "Harbour rules")


def link_to(base: KnowledgeBase | None, by: User, **fields: Any) -> str:
    _made, key = invitations.invite(by, base=base, **fields)
    return f"/invitations/{key}/"


def test_an_owner_invites_on_a_page_and_the_link_is_shown_once(as_owner: Client, base: KnowledgeBase) -> None:
    page = as_owner.post(f"/knowledge/{base.pk}/invitations/", {"email": "", "role": "editor", "days": "7"})
    made = Invitation.objects.get()
    key = page.context["link"].rstrip("/").rpartition("/")[2]
    assert (
        key in page.content.decode() and key not in as_owner.get(f"/knowledge/{base.pk}/invitations/").content.decode()
    )
    assert key not in str(Invitation.objects.values().get()), "only its hash is stored"
    assert (made.base_role, made.role, made.state) == ("editor", "member", "open")
    assert 6 < (made.expires_at - timezone.now()).total_seconds() / 86400 <= 7


def test_a_new_user_creates_an_account_and_arrives_at_the_base(base: KnowledgeBase, owner: User) -> None:
    link, newcomer = link_to(base, owner), Client()
    page = newcomer.get(link)
    assert "Harbour rules" in page.content.decode() and page["Referrer-Policy"] == "same-origin"
    assert newcomer.post(link, ACCOUNT)["Location"] == f"/knowledge/{base.pk}/"
    assert newcomer.get(f"/knowledge/{base.pk}/").status_code == 200
    user = User.objects.get(username="newcomer")
    assert Membership.objects.get(user=user).role == "viewer" and role_of(user) == Role.MEMBER
    assert newcomer.get(link)["Location"] == f"/knowledge/{base.pk}/", "someone who has used it is redirected"


def test_a_weak_password_does_not_use_up_the_link(base: KnowledgeBase, owner: User) -> None:
    link = link_to(base, owner)
    assert Client().post(link, ACCOUNT | {"password1": "1", "password2": "1"}).status_code == 422
    assert Client().post(link, ACCOUNT).status_code == 302


def test_a_link_works_once(base: KnowledgeBase, owner: User, as_stranger: Client) -> None:
    link = link_to(base, owner)
    Client().post(link, ACCOUNT)
    for second in (Client().post(link, ACCOUNT | {"username": "second"}), as_stranger.post(link)):
        assert second.status_code == 410 and "has already been used" in second.content.decode()
    assert not User.objects.filter(username="second").exists() and Membership.objects.count() == 1


def test_links_that_no_longer_work(
    base: KnowledgeBase, owner: User, as_owner: Client, colleague: User, settings: Any
) -> None:
    link = link_to(base, owner)
    made = Invitation.objects.get()
    settings.OWNERS_INVITE = False
    assert Client().get(link).status_code == 410
    settings.OWNERS_INVITE = True
    KnowledgeBase.objects.filter(pk=base.pk).update(owner=colleague)
    assert Client().get(link).status_code == 410, "the base is no longer theirs"
    KnowledgeBase.objects.filter(pk=base.pk).update(owner=owner)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert Client().get(link).status_code == 410
    User.objects.filter(pk=owner.pk).update(is_active=True)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "has expired" in Client().post(link, ACCOUNT).content.decode()
    Invitation.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert Client().get(link).status_code == 200
    as_owner.post(f"/knowledge/{base.pk}/invitations/{made.pk}/revoke/")
    assert "was revoked" in Client().post(link, ACCOUNT).content.decode()
    assert Client().get("/invitations/guessed/").status_code == 404
    assert not User.objects.filter(username="newcomer").exists()


def test_an_existing_user_gets_access_and_keeps_their_role(base: KnowledgeBase, staff: User, colleague: User) -> None:
    group = Group.objects.create(name="Pilots")
    link = link_to(base, staff, base_role="editor", role=Role.CURATOR, groups=[group])
    client = Client()
    client.force_login(colleague)
    assert "Accept as colleague" in client.get(link).content.decode()
    assert not Membership.objects.exists(), "viewing is not accepting"
    assert client.post(link)["Location"] == f"/knowledge/{base.pk}/"
    assert base in access.editable(colleague) and group in colleague.groups.all()
    assert role_of(colleague) == Role.MEMBER


def test_the_owner_does_not_use_up_their_own_link(base: KnowledgeBase, owner: User, as_owner: Client) -> None:
    link = link_to(base, owner)
    assert "Send the link to someone else" in as_owner.get(link).content.decode()
    assert as_owner.post(link).status_code == 409
    assert Client().post(link, ACCOUNT).status_code == 302


def test_a_role_is_not_lowered(base: KnowledgeBase, owner: User, colleague: User, as_colleague: Client) -> None:
    factories.share(base, colleague, "editor")
    as_colleague.post(link_to(base, owner))
    assert Membership.objects.get().role == "editor"


def test_an_administrator_invites_with_role_and_groups(staff: User) -> None:
    group = Group.objects.create(name="Pilots")
    link = link_to(None, staff, role=Role.CURATOR, groups=[group])
    newcomer = Client()
    assert newcomer.post(link, ACCOUNT)["Location"] == "/"
    user = User.objects.get(username="newcomer")
    assert role_of(user) == Role.CURATOR and list(user.groups.all()) == [group]


@pytest.mark.parametrize("fields", [{"role": Role.CURATOR}, {"groups": True}, {"base": None}])
def test_owners_can_not_grant_roles_groups_or_other_bases(
    base: KnowledgeBase, owner: User, fields: dict[str, Any]
) -> None:
    asked = {"base": base} | fields
    if "groups" in asked:
        asked["groups"] = [Group.objects.create(name="Pilots")]
    with pytest.raises(invitations.InvitationRefused):
        invitations.invite(owner, **asked)


def test_members_and_strangers_can_not_invite(base: KnowledgeBase, colleague: User, as_colleague: Client) -> None:
    factories.share(base, colleague, "editor")
    assert as_colleague.post(f"/knowledge/{base.pk}/invitations/", {"role": "viewer", "days": "1"}).status_code == 403
    assert not Invitation.objects.exists()


def test_an_address_restricts_the_link(base: KnowledgeBase, owner: User, colleague: User, as_colleague: Client) -> None:
    link = link_to(base, owner, email="ann@example.org")
    assert as_colleague.post(link).status_code == 403 and not Membership.objects.exists()
    Client().post(link, ACCOUNT | {"email": "someone@example.org"})
    assert User.objects.get(username="newcomer").email == "ann@example.org"
    colleague.email = "Bob@example.org"
    colleague.save()
    assert as_colleague.post(link_to(base, owner, email="bob@example.org")).status_code == 302


def test_the_link_is_mailed_if_the_site_sends_mail(base: KnowledgeBase, as_owner: Client, settings: Any) -> None:
    form = {"email": "ann@example.org", "role": "viewer", "days": "1"}
    as_owner.post(f"/knowledge/{base.pk}/invitations/", form)
    assert not mail.outbox
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.org", "https://ask.example.org"
    settings.DEFAULT_FROM_EMAIL = "ask@example.org"
    page = as_owner.post(f"/knowledge/{base.pk}/invitations/", form)
    assert mail.outbox[0].to == ["ann@example.org"] and page.context["link"] in mail.outbox[0].body
    assert page.context["link"].startswith("https://ask.example.org/invitations/")
    assert "Harbour rules" in mail.outbox[0].subject


@pytest.mark.parametrize("by", ["owner", "staff"])
def test_only_administrators_confirm_an_address_with_a_link_they_pass_on(
    base: KnowledgeBase, owner: User, staff: User, colleague: User, by: str
) -> None:
    Client().post(link_to(base, {"owner": owner, "staff": staff}[by], email="Ann@example.org"), ACCOUNT)
    address = EmailAddress.objects.get(user__username="newcomer")
    assert (address.email, address.verified) == ("ann@example.org", by == "staff")
    another = factories.make_knowledge_base(colleague, "Salaries")
    if by == "staff":
        assert services.set_member(another, "ann@example.org", "viewer").user.username == "newcomer"  # type: ignore[union-attr]
    else:  # the owner may have opened it themselves
        with pytest.raises(Refused):
            services.set_member(another, "ann@example.org", "viewer")


def test_the_mailed_link_confirms_the_address_and_the_shown_one_does_not(
    base: KnowledgeBase, as_owner: Client, settings: Any
) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.org", "http://testserver"
    settings.DEFAULT_FROM_EMAIL = "ask@example.org"
    shown, mailed = [], []
    for name in ("ann", "bob", "eve"):
        form = {"email": f"{name}@example.org", "role": "viewer", "days": "1"}
        page = as_owner.post(f"/knowledge/{base.pk}/invitations/", form).content.decode()
        shown.append(page.partition('id="new-link">')[2].partition("<")[0])
        mailed += [line for line in mail.outbox[-1].body.splitlines() if "/invitations/" in line]
    assert "?" not in "".join(shown)
    foreign = shown[2] + "?" + mailed[0].partition("?")[2]  # the proof of another invitation
    for name, link in {"ann": mailed[0], "bob": shown[1], "eve": foreign}.items():
        Client().post(link.removeprefix("http://testserver"), ACCOUNT | {"username": name})
    confirmed = EmailAddress.objects.filter(verified=True).values_list("user__username", flat=True)
    assert User.objects.filter(username__in=["ann", "bob", "eve"]).count() == 3 and list(confirmed) == ["ann"]


def test_an_invitation_takes_no_address_from_another_account(staff: User, colleague: User) -> None:
    User.objects.filter(pk=colleague.pk).update(email="colleague@example.org")
    refused = Client().post(link_to(None, staff, email="colleague@example.org"), ACCOUNT)
    assert refused.status_code == 422 and not User.objects.filter(username="newcomer").exists()
    # The admin accepts addresses in any case, in which signing up doesn't find them.
    User.objects.filter(pk=colleague.pk).update(email="Colleague@example.org")
    Client().post(link_to(None, staff, email="colleague@example.org"), ACCOUNT)
    assert not EmailAddress.objects.filter(verified=True).exists()
    # Nor does it confirm the address of an existing account.
    EmailAddress.objects.create(user=colleague, email="ann@example.org", verified=False)
    client = Client()
    client.force_login(colleague)
    assert client.post(link_to(None, staff, email="ann@example.org")).status_code == 302
    assert not EmailAddress.objects.filter(verified=True).exists()


def test_invitations_are_audited_without_their_key(base: KnowledgeBase, as_owner: Client) -> None:
    page = as_owner.post(f"/knowledge/{base.pk}/invitations/", {"role": "viewer", "days": "1"})
    link = page.context["link"].removeprefix("http://testserver")
    Client().post(link, ACCOUNT)
    entries = AuditEntry.objects.filter(action="invited").order_by("pk").values_list("actor_name", "details__what")
    assert list(entries) == [("owner", "added"), ("newcomer", "used")]
    assert link.split("/")[2] not in str(list(AuditEntry.objects.values()))


def test_invitations_over_the_api(base: KnowledgeBase, as_owner: Client, settings: Any) -> None:
    address = f"/api/knowledge-bases/{base.pk}/invitations"
    made = as_owner.post(address, {"role": "editor"}, content_type="application/json")
    assert (
        made.status_code == 201
        and Client().get(made.json()["url"].removeprefix("http://testserver")).status_code == 200
    )
    assert [item["role"] for item in as_owner.get(address).json()["results"]] == ["editor"]
    assert as_owner.post(address, {"email": "no address"}, content_type="application/json").status_code == 400
    assert as_owner.delete(f"{address}/{made.json()['id']}").status_code == 204
    assert as_owner.get(address).json()["results"] == []
    settings.OWNERS_INVITE = False
    refused = as_owner.post(address, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


def test_administrators_create_list_and_revoke_them_in_the_admin(base: KnowledgeBase, as_staff: Client) -> None:
    group = Group.objects.create(name="Pilots")
    form = {
        "email": "",
        "role": "curator",
        "groups": [group.pk],
        "knowledge_base": base.pk,
        "base_role": "editor",
        "days": 3,
    }
    # The permissions of roles are explained next to the choices.
    assert "Curator: also manages" in as_staff.get("/admin/knowledge/invitation/add/").content.decode()
    page = as_staff.post("/admin/knowledge/invitation/add/", form).content.decode()
    made = Invitation.objects.get()
    assert (made.role, list(made.groups.all()), made.base_role) == ("curator", [group], "editor")
    link = page.partition('id="new-link">http://testserver')[2].partition("<")[0]
    assert 'data-copy="#new-link"' in page and "/static/js/copy.js" in page
    assert Client().get(link).status_code == 200
    # The recipient is shown above the link, since links created one after the other look alike.
    assert f"Curator · Pilots · {base.name}: Editor" in " ".join(page.split())
    # The next person gets the same access by default.
    another = unescape(page.partition('class="button" href="')[2].partition('"')[0])
    given = as_staff.get(another).context["adminform"].form.initial
    assert given == {key: [str(group.pk)] if key == "groups" else str(form[key]) for key in form if key != "email"}
    assert as_staff.get(f"/admin/knowledge/invitation/{made.pk}/change/").status_code == 200
    as_staff.post("/admin/knowledge/invitation/", {"action": "revoke_links", "_selected_action": [made.pk]})
    assert Client().get(link).status_code == 410
    listed = as_staff.get("/admin/knowledge/invitation/").content.decode()
    assert "Revoked" in listed
    assert '<td class="field-groups_shown">Pilots</td>' in listed


@pytest.mark.parametrize("is_open", [False, True])
def test_an_account_with_a_used_link_is_kept_only_if_sign_up_is_open(
    base: KnowledgeBase, owner: User, stranger: User, rf: RequestFactory, settings: Any, is_open: bool
) -> None:
    made, _key = invitations.invite(owner, base=base)
    request = rf.get("/")
    request.session = {}  # type: ignore[assignment]
    invitations.hold(request, made)
    invitations.accept(made, stranger)
    settings.OIDC_SIGN_UP = is_open
    newcomer = factories.make_user("newcomer")
    with nullcontext() if is_open else pytest.raises(PermissionDenied):
        invitations.accept_held(User, request, newcomer, sociallogin=object())
    assert User.objects.filter(username="newcomer").exists() is is_open
    assert not Membership.objects.filter(user__username="newcomer").exists()
