"""Groups share knowledge bases, limits apply, and the audit log records actions."""

import re

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import override

from conversations.turn_store import TurnRefused
from knowledge import access, services
from knowledge.invitations import invitations
from knowledge.models import Membership
from ragsite.accounts.roles import Role, assign
from ragsite.admin import AUDIT_WORDS, CALLED
from ragsite.audit.log import record
from ragsite.db import in_database
from ragsite.limits import use
from ragsite.models import AuditEntry, Limit, Usage
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.records import make_session, make_turn


def test_a_group_reads_and_edits_by_its_highest_role(owner: User, colleague: User, stranger: User) -> None:
    base = factories.make_knowledge_base(owner)
    readers, editors = Group.objects.create(name="Readers"), Group.objects.create(name="Editors")
    Membership.objects.create(knowledge_base=base, group=readers)
    Membership.objects.create(knowledge_base=base, group=editors, role=Membership.Role.EDITOR)
    colleague.groups.add(readers)
    assert base in access.readable(colleague) and base not in access.editable(colleague)
    assert set(access.readers(base)) == {owner, colleague}
    colleague.groups.add(editors)
    assert base in access.editable(colleague) and base not in access.owned(colleague)
    colleague.groups.clear()
    assert base not in access.readable(colleague) and base not in access.readable(stranger)


def test_a_curator_manages_every_base_but_has_only_shared_ones_at_hand(owner: User, colleague: User) -> None:
    base = factories.make_knowledge_base(owner)
    assign(colleague, Role.CURATOR)
    for reach in (access.readable, access.editable, access.owned):
        assert base in reach(colleague)
    assert base not in access.at_hand(colleague) and colleague in access.readers(base)
    assign(colleague, Role.MEMBER)
    assert base not in access.readable(colleague)


def test_a_persons_own_limit_comes_before_the_most_generous_group_and_the_site(owner: User) -> None:
    assert use.allowed(owner.pk) == use.Allowed()
    for name, questions in (("Few", 3), ("Many", 30)):
        group = Group.objects.create(name=name)
        Limit.objects.create(group=group, questions_per_day=questions)
        owner.groups.add(group)
    assert use.allowed(owner.pk).questions == 30
    Limit.objects.create(user=owner, questions_per_day=2)
    assert use.allowed(owner.pk).questions == 2


@pytest.mark.django_db(transaction=True)
async def test_questions_over_the_limit_are_refused_and_deleted_chats_give_none_back(owner: User) -> None:
    session = await in_database(make_session, owner)
    await Limit.objects.acreate(user=owner, questions_per_day=1)
    await run_turn(owner, session, "Which port?")
    await session.turns.all().adelete()
    with pytest.raises(TurnRefused) as refused:
        await run_turn(owner, session, "Which port?")
    assert refused.value.code == "questions_used_up" and refused.value.wait and refused.value.wait <= 86_400
    assert (await Usage.objects.aget(user=owner)).questions == 1


def test_sign_ins_are_recorded_without_what_was_typed(owner: User, anonymous: Client) -> None:
    anonymous.post("/login/", {"username": "my secret", "password": "wrong"})
    anonymous.post("/login/", {"username": "owner", "password": "password"})
    found = list(AuditEntry.objects.order_by("pk").values_list("action", "actor_name", "object_name"))
    assert found == [("sign_in_failed", "", ""), ("signed_in", "owner", "")]


def test_sharing_is_recorded(owner: User, colleague: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner)
    as_owner.post(f"/knowledge/{base.pk}/members/", {"username": "colleague", "role": "viewer"})
    as_owner.post(f"/knowledge/{base.pk}/members/{colleague.pk}/remove/")
    actions = list(AuditEntry.objects.filter(actor=owner).order_by("pk").values_list("action", flat=True))
    assert actions[-2:] == ["shared", "unshared"]


def test_storage_of_the_owner_is_limited_by_the_api(owner: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner)
    Limit.objects.create(user=owner, storage_mb=1)
    file = SimpleUploadedFile("big.txt", b"words " * 200_000)
    response = as_owner.post(f"/api/knowledge-bases/{base.pk}/documents", {"file": file})
    assert response.status_code == 413 and response.json()["code"] == "storage_full"
    assert not base.documents.exists()


def test_who_comes_into_a_group_in_the_administration_is_recorded(owner: User, as_staff: Client) -> None:
    group = Group.objects.create(name="Readers")
    data = {"username": "owner", "is_active": "on", "groups": [group.pk], "date_joined_0": "2026-01-01"}
    as_staff.post(f"/admin/auth/user/{owner.pk}/change/", data | {"date_joined_1": "00:00:00"})
    entry = AuditEntry.objects.get(actor__username="staff", details__kind="groups")
    assert entry.object_name == "owner" and entry.details["names"] == ["Readers"]


def test_the_list_describes_actions_in_words(owner: User, staff: User, as_staff: Client) -> None:
    record(AuditEntry.Action.ACCOUNT, owner, actor=staff, what="changed", fields=["first_name", "is_active"])
    record(AuditEntry.Action.ROLE, owner, actor=staff, role="curator")
    AuditEntry.objects.create(action="deleted", object_type="gone.thing", details={"later": 3})
    page = as_staff.get("/admin/ragsite/auditentry/").content.decode()
    for words in (">user<", ">changed · fields: first name, active<", ">role: curator<", ">gone.thing<", ">later: 3<"):
        assert words in page
    chinese = as_staff.get("/admin/ragsite/auditentry/", headers={"accept-language": "zh-hans"}).content.decode()
    assert "字段" in chinese and "fields" not in chinese


def test_what_the_log_says_itself_is_kept_in_no_reader_s_language(owner: User, staff: User, as_staff: Client) -> None:
    with override("zh-hans"):
        invitations.invite(staff, role="curator")
    table = as_staff.get("/admin/ragsite/auditentry/export/", headers={"accept-language": "zh-hans"})
    assert table.content.decode().count("\ufeff") == 1 and table.content.decode().count("\r\n") > 1
    record(AuditEntry.Action.ACCOUNT, owner, what="added", kind="second factor", names=["totp"])
    record(AuditEntry.Action.ACCOUNT, owner, what="added", kind="groups", names=["totp"])  # a group may be called so
    edit = {"username": "owner", "is_active": "on", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    permission = Permission.objects.get(codename="add_assistant")
    as_staff.post(f"/admin/auth/user/{owner.pk}/change/", edit | {"user_permissions": [permission.pk]})
    assert {"to this site", "audit log"} <= set(AuditEntry.objects.values_list("object_name", flat=True))
    assert AuditEntry.objects.get(details__kind="permissions").details["names"] == ["conversations.add_assistant"]
    page = as_staff.get("/admin/ragsite/auditentry/").content.decode()
    recorded = set(re.findall(r'"field-summary">(.*?)</td>', page))
    assert {
        "added · role: curator",
        "added · second factor · authenticator app",
        "added · groups · totp",
        "added · permissions · assistant: add",
    } <= recorded
    assert ">to this site<" in page and ">audit log<" in page
    assert all(isinstance(words, Promise) for words in (AUDIT_WORDS | CALLED).values()), "each is translated"


def test_who_comes_by_an_invitation_has_made_the_account_and_got_the_role(staff: User, anonymous: Client) -> None:
    _made, key = invitations.invite(staff, role="administrator")
    form = {"username": "newcomer", "password1": "b1 long and new", "password2": "b1 long and new"}
    assert anonymous.post(f"/invitations/{key}/", form).status_code == 302
    entries = AuditEntry.objects.filter(object_type="auth.user", object_name="newcomer").order_by("pk")
    assert {entry.actor_name for entry in entries} == {"newcomer"}
    recorded = [(entry.action, entry.details) for entry in entries]
    assert recorded[0] == ("account", {"what": "added", "invited_by": "staff"})
    assert ("role", {"role": "administrator"}) in recorded
    assert not any(details.get("kind") == "permissions" for _action, details in recorded), "none was there to be taken"


def test_who_gets_a_base_by_an_invitation_is_said_to_have_taken_it(owner: User, anonymous: Client) -> None:
    _made, key = invitations.invite(owner, base=factories.make_knowledge_base(owner))
    form = {"username": "newcomer", "password1": "b1 long and new", "password2": "b1 long and new"}
    anonymous.post(f"/invitations/{key}/", form)
    assert AuditEntry.objects.get(action="shared").actor_name == "newcomer"


def test_what_leaves_the_site_or_goes_is_recorded_without_content(owner: User, as_owner: Client) -> None:
    session = make_session(owner, title="My secret plan")
    answer = make_turn(session)
    as_owner.get(f"/c/{session.pk}/export.md")
    as_owner.get(f"/api/chat/sessions/{session.pk}/export.json")
    as_owner.post(f"/c/{session.pk}/share/", {"parent_turn_id": answer.turn_id})
    as_owner.post(f"/shared/{session.share_links.get().pk}/revoke/")
    as_owner.post(f"/c/{session.pk}/delete/")
    entries = AuditEntry.objects.filter(actor=owner, object_type="conversations.chatsession").order_by("pk")
    assert list(entries.values_list("action", flat=True)) == [
        "exported", "exported", "link_made", "link_revoked", "deleted"
    ]  # fmt: skip
    assert {entry.object_name for entry in entries} == {f"#{session.pk}"}
    assert "secret" not in str(list(AuditEntry.objects.values()))


def test_documents_that_go_and_bulk_work_are_recorded(owner: User, as_owner: Client) -> None:
    base = factories.make_knowledge_base(owner, "Rules")
    document, other = factories.make_document(base, "a.txt"), factories.make_document(base, "b.txt")
    as_owner.post(f"/knowledge/documents/{document.pk}/delete/")
    as_owner.post(f"/knowledge/{base.pk}/bulk/", {"action": "tag", "tags": "x", "document": [other.pk]})
    recorded = list(AuditEntry.objects.order_by("pk").values_list("action", "object_name", "details"))
    assert ("deleted", "a.txt", {"base": "Rules"}) in recorded
    assert ("bulk", "Rules", {"what": "tag", "documents": 1}) in recorded


def test_roles_owners_settings_and_second_factors_are_recorded(owner: User, staff: User, as_staff: Client) -> None:
    services.transfer_ownership(factories.make_knowledge_base(owner), staff)
    assign(owner, Role.CURATOR)
    as_staff.post(reverse("pipeline-settings"), {"MAX_CONCURRENT_TURNS": "3"})
    recorded = {(entry.action, entry.object_name): entry.details for entry in AuditEntry.objects.all()}
    assert recorded["role", "owner"] == {"role": "curator"}
    assert ("setting", "MAX_CONCURRENT_TURNS") in recorded
    owners = next(details for (action, _name), details in recorded.items() if action == "owner")
    assert owners == {"before": "owner", "after": "staff"}
