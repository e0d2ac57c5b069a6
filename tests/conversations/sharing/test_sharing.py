"""Tests of share links on pages and by API: their content, access and revocation."""

import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from conversations import services
from conversations.models import ChatSession, Message, ShareLink, Turn
from conversations.sharing import links
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def session(owner: User) -> ChatSession:
    return make_session(owner, "Of <switches>")


@pytest.fixture
def turn(session: ChatSession, owner: User) -> Turn:
    chunk = factories.make_chunk(factories.make_document(factories.make_knowledge_base(owner)))
    return make_turn(session, "How do I <b>reset</b> it?", chunk=chunk, thinking="A secret thought").turn


@pytest.fixture
def link(session: ChatSession, turn: Turn) -> ShareLink:
    return links.create_link(session)


def url(link: ShareLink) -> str:
    return reverse("shared", args=[link.pk])


def html(response: Any) -> str:
    assert response.status_code == 200
    return str(response.content.decode())


def test_anyone_with_the_link_can_read_question_answer_and_quotation(anonymous: Client, link: ShareLink) -> None:
    page = html(anonymous.get(url(link)))
    assert "How do I &lt;b&gt;reset&lt;/b&gt; it?" in page and "Of &lt;switches&gt;" in page
    assert "Hold the button" in page and "Hold the <mark>" not in page.split("shared-sources")[0]
    assert "handbook.txt" in page and "p. 3" in page


def test_citation_links_to_its_quotation_on_the_page(anonymous: Client, link: ShareLink, turn: Turn) -> None:
    page = html(anonymous.get(url(link)))
    anchor = f"answer-{turn.messages.get(role='assistant').pk}-source-1"
    assert f'href="#{anchor}"' in page and f'id="{anchor}"' in page


def test_the_title_says_what_is_shown(anonymous: Client, link: ShareLink, session: ChatSession) -> None:
    for automatic, title in ((False, session.title), (True, link.last_turn.messages.get(role="user").content)):
        ChatSession.objects.filter(pk=session.pk).update(title_is_automatic=automatic)
        page, title = html(anonymous.get(url(link))), escape(title)
        assert title in page.split("<title>")[1].split("</title>")[0] and f"<h1>{title}</h1>" in page


def test_page_has_no_links_into_the_site(anonymous: Client, link: ShareLink, session: ChatSession) -> None:
    page = html(anonymous.get(url(link)))
    leads = ["/trace/", "/citations/", "/passages/", "/c/", "/documents/", "<form", "ws-connect"]
    for secret in ["A secret thought", *leads]:
        assert secret not in page, secret
    assert session.owner.username not in page


def test_pictures_are_replaced_by_their_captions(anonymous: Client, link: ShareLink, turn: Turn) -> None:
    picture = {"id": "b2", "kind": "image", "alt": "The <back>", "url": "/pictures/1/", "width": 4, "height": 3}
    message = turn.messages.get(role="assistant")
    Message.objects.filter(pk=message.pk).update(blocks=[*message.blocks, picture])
    page = html(anonymous.get(url(link)))
    assert "[The &lt;back&gt;]" in page and "/pictures/" not in page and "<img" not in page


def test_search_engines_and_caches_are_excluded(anonymous: Client, link: ShareLink) -> None:
    response = anonymous.get(url(link))
    assert '<meta name="robots" content="noindex, nofollow">' in html(response)
    assert response["X-Robots-Tag"] == "noindex, nofollow" and response["Referrer-Policy"] == "no-referrer"
    assert anonymous.head(f"/shared/{link.pk}/").status_code == 200  # as for link previews
    assert "no-store" in response["Cache-Control"] and "script-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son[a-z]+=\"|\sstyle=\"", html(response))


def test_later_turns_and_other_branches_are_not_shared(
    anonymous: Client, session: ChatSession, turn: Turn, link: ShareLink
) -> None:
    make_turn(session, "Another version", parent=turn.parent_turn)
    make_turn(session, "A later question", parent=turn)
    page = html(anonymous.get(url(link)))
    assert "Another version" not in page and "A later question" not in page


def test_branch_is_shared_up_to_the_requested_turn(anonymous: Client, session: ChatSession, turn: Turn) -> None:
    left = make_turn(session, "Left", parent=turn).turn
    make_turn(session, "Right", parent=turn)
    page = html(anonymous.get(url(links.create_link(session, left.pk))))
    assert "Left" in page and "Right" not in page and page.count('class="turn"') == 2


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted", "streaming"])
def test_incomplete_answer_is_marked(anonymous: Client, link: ShareLink, status: str) -> None:
    now = timezone.now()
    Message.objects.filter(role="assistant").update(status=status, heartbeat_at=now, stream_log=[])
    words = {"stopped": "Stopped", "failed": "Broken off", "interrupted": "Interrupted", "streaming": "still being"}
    assert words[status] in html(anonymous.get(url(link)))


def test_revoked_link_is_not_found(anonymous: Client, as_owner: Client, link: ShareLink) -> None:
    response = as_owner.post(reverse("revoke-link", args=[link.pk]), headers=HTMX)
    assert response.status_code == 200 and response.content == b""
    assert anonymous.get(url(link)).status_code == as_owner.get(url(link)).status_code == 404
    assert as_owner.post(reverse("revoke-link", args=[link.pk])).status_code == 404
    assert anonymous.get(reverse("shared", args=[uuid.uuid4()])).status_code == 404


def test_link_of_a_deleted_chat_or_deactivated_account_is_not_found(
    anonymous: Client, link: ShareLink, owner: User
) -> None:
    services.delete_session(link.session)
    assert anonymous.get(url(link)).status_code == 404
    services.restore_session(owner, link.session_id)
    assert anonymous.get(url(link)).status_code == 200
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert anonymous.get(url(link)).status_code == 404


def test_sharing_twice_returns_the_same_link(session: ChatSession, turn: Turn, link: ShareLink) -> None:
    assert links.create_link(session, turn.pk) == link
    links.revoke(link)
    assert links.create_link(session) != link


def test_turns_of_others_can_not_be_shared(session: ChatSession, turn: Turn, stranger: User) -> None:
    theirs = make_session(stranger)
    for last_turn in (turn.pk, None):
        with pytest.raises(links.NothingToShare):
            links.create_link(theirs, last_turn)


def test_popover_creates_and_lists_links(as_owner: Client, session: ChatSession, turn: Turn) -> None:
    address = reverse("share", args=[session.pk])
    popover = html(as_owner.get(address, {"parent_turn_id": turn.pk}, headers=HTMX))
    assert "data-popover" in popover and "<html" not in popover and f'value="{turn.pk}"' in popover
    made = html(as_owner.post(address, {"parent_turn_id": turn.pk}, headers=HTMX))
    link = ShareLink.objects.get()
    assert f"http://testserver{url(link)}" in made and made.count("<li") == 1 and 'id="links"' in made
    page = html(as_owner.get(address))
    assert "<html" in page and url(link) in page
    everything = html(as_owner.get(reverse("share-links")))
    assert url(link) in everything and "Of &lt;switches&gt;" in everything


def test_an_empty_chat_has_nothing_to_share(as_owner: Client, session: ChatSession) -> None:
    assert "nothing to share" in html(as_owner.get(reverse("share", args=[session.pk]), headers=HTMX))
    assert as_owner.post(reverse("share", args=[session.pk]), headers=HTMX).status_code == 409


def test_the_api_shares_lists_and_revokes(
    as_owner: Client, as_stranger: Client, anonymous: Client, session: ChatSession, turn: Turn
) -> None:
    address = reverse("api-share-links", args=[session.pk])
    made = as_owner.post(address, {"last_turn_id": turn.pk}, content_type="application/json")
    assert made.status_code == 201
    body = made.json()
    assert body["last_turn_id"] == turn.pk and body["session_id"] == session.pk
    assert "Hold the button" in html(anonymous.get(body["url"]))
    assert as_owner.get(address).json()["results"] == [body]
    assert as_owner.post(address, {"last_turn_id": 0}, content_type="application/json").status_code == 400
    one = reverse("api-share-link", args=[body["id"]])
    assert as_stranger.delete(one).status_code == 404
    assert as_owner.delete(one).status_code == 204 and as_owner.delete(one).status_code == 404
    assert anonymous.get(body["url"]).status_code == 404
    assert as_owner.get(address).json()["results"] == []


def test_links_use_the_configured_address(as_owner: Client, session: ChatSession, turn: Turn, settings: Any) -> None:
    link = links.create_link(session, turn.pk)
    settings.PUBLIC_URL = "https://ask.example.com"
    settings.ALLOWED_HOSTS = ["*"]
    listed = as_owner.get(
        reverse("api-share-links", args=[session.pk]), headers={"Host": "evil.example"}
    ).content.decode()
    page = as_owner.get(reverse("share-links"), headers={"Host": "evil.example"}).content.decode()
    for text in (listed, page):
        assert f"https://ask.example.com{url(link)}" in text and "evil.example" not in text
