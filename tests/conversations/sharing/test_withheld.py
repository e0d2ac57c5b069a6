"""Tests of withholding unreadable sources from links and exports, and of base owners revoking links."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.models import ChatSession, Citation, Message, ShareLink, Turn
from conversations.sharing import export, links
from conversations.sharing.withheld import remaining_blocks
from knowledge import access
from knowledge import services as knowledge
from knowledge.models import Document, KnowledgeBase, Membership
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db
SECRET = "Hold the reset button."
SAID = "Hold the button"


@pytest.fixture
def base(colleague: User, owner: User) -> KnowledgeBase:
    """Return a base of the colleague that the chat's owner may read."""
    base = factories.make_knowledge_base(colleague, "Lent")
    factories.share(base, owner)
    return base


@pytest.fixture
def document(base: KnowledgeBase) -> Document:
    return factories.make_document(base, "handbook.txt")


@pytest.fixture
def turn(owner: User, document: Document) -> Turn:
    thinking = f"It says: {SECRET}"
    chunk = factories.make_chunk(document, SECRET)
    check = {"text": SAID, "sources": [1], "status": "supported", "coverage": 1.0, "problems": []}
    return make_turn(make_session(owner, "Of switches"), chunk=chunk, thinking=thinking, checks=[check]).turn


@pytest.fixture
def session(turn: Turn) -> ChatSession:
    return turn.session


def revoke_access(base: KnowledgeBase) -> None:
    Membership.objects.filter(knowledge_base=base).delete()


def shown(client: Client, link: ShareLink) -> str:
    response = client.get(reverse("shared", args=[link.pk]))
    assert response.status_code == 200
    return response.content.decode().replace("<mark>", "").replace("</mark>", "")


def test_new_link_leaves_out_sources_that_its_owner_may_no_longer_read(
    anonymous: Client, base: KnowledgeBase, session: ChatSession
) -> None:
    page = shown(anonymous, links.create_link(session))
    assert SECRET in page and SAID in page and "left out" not in page
    ShareLink.objects.all().delete()
    revoke_access(base)
    page = shown(anonymous, links.create_link(session))
    assert SECRET not in page and SAID not in page and "handbook.txt" not in page
    assert "How do I reset it?" in page and "1 source and the text based on it are left out" in page


@pytest.mark.parametrize("gone", ["document", "base"])
def test_deleted_sources_are_left_out_of_every_link(
    anonymous: Client, base: KnowledgeBase, document: Document, session: ChatSession, gone: str
) -> None:
    link = links.create_link(session)
    if gone == "document":
        knowledge.delete_document(document)
    else:
        knowledge.delete_knowledge_base(base)
    page = shown(anonymous, link)
    assert SECRET not in page and SAID not in page and "left out" in page


@pytest.mark.parametrize("name", ["export-markdown", "api-export-markdown", "export-json", "api-export-json"])
def test_exports_leave_out_unreadable_sources(
    as_owner: Client, base: KnowledgeBase, session: ChatSession, name: str
) -> None:
    address = reverse(name, args=[session.pk])
    before = as_owner.get(address).content.decode()
    assert SECRET in before and SAID in before and "left out" not in before
    revoke_access(base)
    after = as_owner.get(address).content.decode()
    assert SECRET not in after and SAID not in after and "handbook.txt" not in after
    assert "How do I reset it?" in after and "1 source and the text based on it are left out" in after


def test_export_does_not_change_stored_answers(base: KnowledgeBase, session: ChatSession) -> None:
    revoke_access(base)
    export.markdown(session)
    export.messages(session)
    assert SAID in Message.objects.get(role="assistant").content and Citation.objects.get().snippet == SECRET


def test_deleted_documents_stay_in_the_owners_export(document: Document, session: ChatSession) -> None:
    knowledge.delete_document(document)
    assert SECRET in export.markdown(session)


def block(number: int, text: str) -> dict[str, Any]:
    return {"id": f"b{number}", "kind": "text", "text": text}


TABLE = {"id": "t", "kind": "table", "columns": ["Port"], "rows": [["secret"]]}
CODE = {"id": "c", "kind": "code", "language": "sh", "text": "secret"}


@pytest.mark.parametrize(
    ("blocks", "left"),
    [
        ([block(1, "One [1].\n\nsecret [2].\n\nThree [1].")], ["One [1].\n\nThree [1]."]),
        ([block(1, "One [1].\n\nsecret [2].\n\nsecret again\n\n… secret")], ["One [1]."]),
        ([block(1, "One [1].\n\n**Of** [2]\n\n```\nsecret\n\nsecret\n```\n\nsecret\n\nT [1]")], ["One [1].\n\nT [1]"]),
        ([block(1, "Lead.\n\nsecret [1, 2]\n\nOne 【1】.")], ["Lead.\n\nOne 【1】."]),
        ([block(1, "One [1]."), block(2, "**Secret** [2]"), TABLE, CODE], ["One [1]."]),
        ([block(1, "**Open** [1]"), CODE], ["**Open** [1]", "secret"]),
        ([block(1, "secret.\n\nOf it [2]")], []),
        ([block(1, "It names [1] alone.")], ["It names [1] alone."]),
    ],
)  # fmt: skip
def test_text_based_on_a_withheld_source_is_removed(blocks: list[dict[str, Any]], left: list[str]) -> None:
    assert [block["text"] for block in remaining_blocks(blocks, {1, 2}, {2})] == left


def test_answer_without_markers_is_removed_with_all_its_sources() -> None:
    assert remaining_blocks([block(1, "secret")], {1, 2}, {1, 2}) == []
    assert remaining_blocks([block(1, "Open.")], {1, 2}, {1}) == [block(1, "Open.")]


def test_base_owner_can_list_and_revoke_links_that_quote_it(
    as_colleague: Client, anonymous: Client, base: KnowledgeBase, session: ChatSession
) -> None:
    link = links.create_link(session)
    page = as_colleague.get(reverse("knowledge-base-links", args=[base.pk])).content.decode()
    assert "owner" in page and "1 quotation" in page and "handbook.txt" in page
    assert reverse("shared", args=[link.pk]) not in page and session.title not in page
    address = reverse("revoke-quoting-link", args=[base.pk, link.pk])
    assert as_colleague.post(address).status_code == 302
    assert anonymous.get(reverse("shared", args=[link.pk])).status_code == 404
    assert as_colleague.post(address).status_code == 404
    empty = as_colleague.get(reverse("knowledge-base-links", args=[base.pk])).content.decode()
    assert "No active links quote this knowledge base." in empty


@pytest.mark.parametrize("role", Membership.Role.values)
def test_members_can_not_list_or_revoke_links(
    as_stranger: Client, stranger: User, anonymous: Client, base: KnowledgeBase, session: ChatSession, role: str
) -> None:
    link = links.create_link(session)
    addresses = [
        (as_stranger.get, reverse("knowledge-base-links", args=[base.pk])),
        (as_stranger.post, reverse("revoke-quoting-link", args=[base.pk, link.pk])),
        (as_stranger.get, reverse("api-quoting-links", args=[base.pk])),
        (as_stranger.delete, reverse("api-quoting-link", args=[base.pk, link.pk])),
    ]
    assert [ask(address).status_code for ask, address in addresses] == [404] * 4
    factories.share(base, stranger, role)
    assert [ask(address).status_code for ask, address in addresses] == [403] * 4
    assert anonymous.get(reverse("shared", args=[link.pk])).status_code == 200


def test_api_lists_and_revokes_links(
    as_colleague: Client, as_owner: Client, anonymous: Client, base: KnowledgeBase, session: ChatSession
) -> None:
    link = links.create_link(session)
    address = reverse("api-quoting-links", args=[base.pk])
    (found,) = as_colleague.get(address).json()
    assert found.items() >= {"id": str(link.pk), "shared_by": "owner", "quotations": 1}.items()
    assert found["documents"] == ["handbook.txt"] and "url" not in json.dumps(found)
    assert as_owner.get(address).status_code == 403
    one = reverse("api-quoting-link", args=[base.pk, link.pk])
    assert as_owner.delete(one).status_code == 403
    assert as_colleague.delete(one).status_code == 204 and as_colleague.delete(one).status_code == 404
    assert anonymous.get(reverse("shared", args=[link.pk])).status_code == 404


def test_base_owner_can_not_revoke_other_links(
    as_colleague: Client, colleague: User, owner: User, base: KnowledgeBase, session: ChatSession, turn: Turn
) -> None:
    own = factories.make_document(factories.make_knowledge_base(owner), "own.txt")
    elsewhere = make_turn(make_session(owner), chunk=factories.make_chunk(own)).turn
    before = make_turn(session, "Another branch", chunk=factories.make_chunk(own)).turn
    others = [links.create_link(elsewhere.session), links.create_link(session, before.pk)]
    quoting = links.create_link(session, turn.pk)
    assert [item.link for item in links.links_quoting(base)] == [quoting]
    for link in others:
        assert as_colleague.delete(reverse("api-quoting-link", args=[base.pk, link.pk])).status_code == 404
    revoke_access(base)
    assert links.links_quoting(base) == [], "what is left out quotes nothing"


def test_list_of_links_takes_a_constant_number_of_queries(
    owner: User, base: KnowledgeBase, document: Document, django_assert_num_queries: Any
) -> None:
    for number in range(4):
        made = make_turn(make_session(owner, f"Chat {number}"), chunk=factories.make_chunk(document)).turn
        links.create_link(made.session)
    with django_assert_num_queries(3):
        assert [item.link.session.owner for item in links.links_quoting(base)] == [owner] * 4


@pytest.mark.parametrize("visibility", KnowledgeBase.Visibility.values)
def test_readers_of_a_base(base: KnowledgeBase, owner: User, colleague: User, stranger: User, visibility: str) -> None:
    KnowledgeBase.objects.filter(pk=base.pk).update(visibility=visibility)
    base.refresh_from_db()
    User.objects.create(username="gone", is_active=False)
    expected = {user for user in User.objects.all() if access.readable(user).filter(pk=base.pk).exists()}
    assert set(access.readers(base)) == expected
