"""The chat's pages: sessions, sources, traces and feedback, with and without scripts, and access."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from conversations import services, turn_store
from conversations.events import SourcesEvent
from conversations.models import ChatSession, Feedback, Message, TraceStep, Turn
from conversations.turns import broker
from conversations.turns.live_log import LiveLog
from conversations.web.contexts import SAMPLE_QUESTIONS
from knowledge.models import Chunk, KnowledgeBase
from ragsite.runtime import samples
from tests import factories
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

HTMX = {"HX-Request": "true"}


@pytest.fixture
def chunk(owner: User) -> Chunk:
    document = factories.make_document(factories.make_knowledge_base(owner, "Handbook"), "Handbook.pdf")
    return factories.make_chunk(document, "Paid leave is 30 days.", heading_path=["Leave"], page_from=12)


def make_turn(session: ChatSession, question: str = "How long is leave?", parent: Turn | None = None) -> Turn:
    turn = Turn.objects.create(session=session, parent_turn=parent)
    Message.objects.create(turn=turn, role="user", content=question)
    Message.objects.create(
        turn=turn,
        role="assistant",
        content="30 days [1].",
        blocks=[{"id": "b1", "kind": "text", "text": "30 days [1]."}],
        duration_ms=1800,
        last_seq=9,
    )
    return turn


def answer_of(turn: Turn) -> Message:
    return turn.messages.get(role="assistant")


def cite(turn: Turn, chunk: Chunk) -> None:
    citation = {
        "index": 1,
        "chunk_id": chunk.pk,
        "document_id": chunk.document_id,
        "filename": "Handbook.pdf",
        "heading": "Leave",
        "page": 12,
        "snippet": chunk.content,
        "score": 0.03,
        "sources": [{"type": "bm25", "rank": 1, "score": 3.0, "rrf_score": 0.016}],
    }
    turn_store.save_citations(answer_of(turn).pk, str(turn.request_id), [citation], {1})


@pytest.fixture
def turn(session: ChatSession, chunk: Chunk) -> Turn:
    turn = make_turn(session)
    cite(turn, chunk)
    return turn


def html(response: Any) -> str:
    return str(response.content.decode())


def test_the_first_visit_shows_how_to_begin(as_owner: Client) -> None:
    response = as_owner.get("/")
    address = reverse("session", args=[ChatSession.objects.get().pk])
    assert f'<link rel="canonical" href="{address}">' in html(response)
    assert "Start with a document" in html(response)
    assert "An administrator can connect one." in html(response)
    assert "quotes only" in html(response)


def test_users_who_cannot_connect_a_model_learn_whom_to_ask(as_owner: Client, staff: User) -> None:
    page = html(as_owner.get("/", follow=True))
    assert f"Ask {staff.username} to connect one." in page and "set-up/" not in page


@pytest.mark.parametrize(("models", "said"), [([], 'set-up/"'), (["llama3"], "set-up/?provider=ollama")])
def test_staff_learn_how_to_connect_a_model(
    as_staff: Client, monkeypatch: pytest.MonkeyPatch, models: list[str], said: str
) -> None:
    async def notice() -> list[str]:
        return models

    monkeypatch.setattr("conversations.web.contexts.notice_ollama", notice)
    assert said in html(as_staff.get("/", follow=True))


def test_with_documents_the_empty_chat_suggests_what_to_ask(as_owner: Client, owner: User) -> None:
    document = factories.make_document(factories.make_knowledge_base(owner))
    text = "Paid leave is thirty days a year; leave that isn't taken by March is paid with the salary of April."
    factories.make_chunk(document, text, heading_path=["Handbook", "2.1 Paid leave"])
    assert "data-suggestion>Tell me about paid leave.<" in html(as_owner.get("/", follow=True))


def test_users_without_documents_are_guided_to_add_some(as_stranger: Client) -> None:
    page = html(as_stranger.get("/", follow=True))
    assert "Start with a document" in page
    response = as_stranger.post("/knowledge/samples/", follow=True)
    assert "LS-2400 Switch Handbook.pdf" in html(response)
    assert "Your documents are being processed" in html(as_stranger.get("/", follow=True))
    again = as_stranger.post("/knowledge/samples/", follow=True)
    assert "already have a knowledge base named" in html(again)


def test_the_samples_bring_their_questions(as_owner: Client, owner: User, stranger: User) -> None:
    assert set(SAMPLE_QUESTIONS) <= set(samples.DOCUMENTS.values())
    theirs, own = factories.make_knowledge_base(stranger), factories.make_knowledge_base(owner)
    handbook, staff = SAMPLE_QUESTIONS
    factories.make_document(theirs, handbook)
    factories.make_chunk(factories.make_document(own, staff), heading_path=["Rules", "Working hours"])
    page = html(as_owner.get("/", follow=True))
    assert f"data-suggestion>{SAMPLE_QUESTIONS[staff]}<" in page
    assert SAMPLE_QUESTIONS[handbook] not in page
    assert "Working hours" not in page


def test_a_turn_shows_question_answer_and_sources(as_owner: Client, session: ChatSession, turn: Turn) -> None:
    page = html(as_owner.get(reverse("session", args=[session.pk])))
    assert "How long is leave?" in page
    assert f'href="/messages/{answer_of(turn).pk}/citations/1/" data-citation="1"' in page
    assert "Answered from 1 passage · 1.8 s" in page
    assert f'id="parent-turn" value="{turn.pk}"' in page


@pytest.mark.django_db(transaction=True)
def test_no_page_contains_inline_scripts_or_styles(as_owner: Client, session: ChatSession, turn: Turn) -> None:
    for address in (
        reverse("session", args=[session.pk]),
        reverse("trace", args=[turn.pk]),
        reverse("citation", args=[answer_of(turn).pk, 1]),
        reverse("edit-question", args=[turn.pk]),
        reverse("rename-session", args=[session.pk]),
        reverse("account"),
    ):
        response = as_owner.get(address)
        assert response.status_code == 200
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son[a-z]+=\"|\sstyle=\"", html(response)), address
        assert "script-src 'self'" in response["Content-Security-Policy"]


def test_a_hostile_title_and_question_stay_text(as_owner: Client, owner: User) -> None:
    session = services.create_session(owner, "<script>alert(1)</script>")
    make_turn(session, "<img src=x onerror=alert(1)>")
    page = html(as_owner.get(reverse("session", args=[session.pk])))
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize("count", [1, 12])
def test_the_page_takes_as_many_queries_for_any_length(
    as_owner: Client, session: ChatSession, count: int, django_assert_max_num_queries: Any
) -> None:
    parent = None
    for number in range(count):
        parent = make_turn(session, f"Question {number}", parent)
    with django_assert_max_num_queries(18):
        as_owner.get(reverse("session", args=[session.pk]))


def test_long_sessions_show_their_end_first(as_owner: Client, session: ChatSession) -> None:
    parent = None
    for number in range(45):
        parent = make_turn(session, f"Question {number}.", parent)
    address = reverse("session", args=[session.pk])
    page = html(as_owner.get(address))
    assert "Question 44." in page
    assert "Question 4." not in page
    assert "Earlier: 25 turns" in page
    assert "Question 4." in html(as_owner.get(address + "?all"))


def test_earlier_turns_are_loaded_in_steps(as_owner: Client, session: ChatSession) -> None:
    made: list[Turn] = []
    for number in range(45):
        made.append(make_turn(session, f"Question {number}.", made[-1] if made else None))
    address = reverse("session", args=[session.pk])
    step = f"before={made[25].pk}&amp;turn={made[-1].pk}"
    assert step in html(as_owner.get(address))
    earlier = html(as_owner.get(f"{address}?{step.replace('&amp;', '&')}", headers={"HX-Request": "true"}))
    assert [f"Question {number}." in earlier for number in (4, 5, 24, 25)] == [False, True, True, False]
    assert "Earlier: 5 turns" in earlier and "<html" not in earlier
    last = html(as_owner.get(f"{address}?before={made[5].pk}", headers={"HX-Request": "true"}))
    assert "Question 0." in last and "earlier turn" not in last
    assert "Question" not in html(as_owner.get(f"{address}?before=1", headers={"HX-Request": "true"}))


def test_versions_of_a_turn_can_be_switched(as_owner: Client, session: ChatSession) -> None:
    first, second = make_turn(session, "First wording"), make_turn(session, "Second wording")
    address = reverse("session", args=[session.pk])
    assert "Second wording" in html(as_owner.get(address))
    response = as_owner.get(f"{address}?turn={first.pk}", headers=HTMX | {"HX-Target": "turns"})
    assert 'class="bubble">First wording<' in html(response)
    assert 'class="bubble">Second wording<' not in html(response)
    assert f'?turn={second.pk}"' in html(response)
    assert f'id="parent-turn" value="{first.pk}" hx-swap-oob="true"' in html(response)
    assert "<html" not in html(response)


def test_an_empty_new_chat_is_reused(as_owner: Client, owner: User) -> None:
    first = as_owner.post(reverse("new-session"))
    assert as_owner.post(reverse("new-session")).url == first.url
    make_turn(ChatSession.objects.get(owner=owner))
    assert as_owner.post(reverse("new-session")).url != first.url


def test_renaming(as_owner: Client, session: ChatSession) -> None:
    address = reverse("rename-session", args=[session.pk])
    assert 'name="title"' in html(as_owner.get(address, headers=HTMX))
    response = as_owner.post(f"{address}?current={session.pk}", {"title": "Leave"}, headers=HTMX)
    assert 'id="session-title" hx-swap-oob="true">Leave<' in html(response)
    assert as_owner.post(address, {"title": "Holidays"}).url == reverse("session", args=[session.pk])
    session.refresh_from_db()
    assert session.title == "Holidays"


def test_pinning_puts_a_session_on_top(as_owner: Client, session: ChatSession) -> None:
    address = reverse("pin-session", args=[session.pk])
    assert "Pinned" in html(as_owner.post(address, headers=HTMX))
    assert "Pinned" not in html(as_owner.post(address, headers=HTMX))


def test_deleting_offers_undo(as_owner: Client, owner: User, session: ChatSession) -> None:
    other = services.create_session(owner, "Other")
    response = as_owner.post(reverse("delete-session", args=[session.pk]) + f"?current={other.pk}", headers=HTMX)
    assert f'hx-post="/c/{session.pk}/restore/"' in html(response)
    assert f'id="session-{session.pk}"' not in html(response)
    assert as_owner.post(reverse("restore-session", args=[session.pk])).url == f"/c/{session.pk}/"
    assert as_owner.get(f"/c/{session.pk}/").status_code == 200


def test_deleting_the_open_session_opens_another(as_owner: Client, session: ChatSession) -> None:
    response = as_owner.post(reverse("delete-session", args=[session.pk]) + f"?current={session.pk}", headers=HTMX)
    fresh = response["HX-Redirect"]
    assert fresh.endswith(f"?deleted={session.pk}")
    assert html(as_owner.get(fresh)).count("was deleted.") == 1


def test_searching_finds_words_of_messages(as_owner: Client, owner: User, session: ChatSession, turn: Turn) -> None:
    services.create_session(owner, "Nothing of the kind")
    found = html(as_owner.get(reverse("search-sessions"), {"q": "long leave"}, headers=HTMX))
    assert f'id="session-{session.pk}"' in found
    assert "Nothing of the kind" not in found
    assert "No chat contains" in html(as_owner.get(reverse("search-sessions"), {"q": "zebra"}, headers=HTMX))
    assert "<html" in html(as_owner.get(reverse("search-sessions"), {"q": "leave"}))


def test_choosing_knowledge_bases(as_owner: Client, owner: User, stranger: User, session: ChatSession) -> None:
    mine, theirs = factories.make_knowledge_base(owner, "Mine"), factories.make_knowledge_base(stranger, "Theirs")
    factories.make_knowledge_base(owner, "Second")
    address = reverse("choose-scope", args=[session.pk])
    response = as_owner.post(address, {"knowledge_base": [mine.pk, theirs.pk]}, headers=HTMX)
    assert '<span class="truncate" id="scope-name">Mine</span>' in html(response)
    assert list(session.knowledge_bases.all()) == [mine]
    assert "All knowledge bases" in html(as_owner.post(address, {}, headers=HTMX))


def test_asking_about_one_document(as_owner: Client, as_stranger: Client, owner: User) -> None:
    base = factories.make_knowledge_base(owner, "Mine")
    document = factories.make_document(base, "leave.md")
    text = "Long leave of up to a year is granted after ten years; long leave is asked for half a year before it."
    factories.make_chunk(document, text, heading_path=["Rules", "Long leave"])
    ask = reverse("ask-document", args=[document.pk])
    assert f'action="{ask}"' in html(as_owner.get(reverse("document", args=[document.pk])))
    page = html(as_owner.post(ask, follow=True))
    about = ChatSession.objects.get(owner=owner)
    assert list(about.documents.all()) == [document]
    assert '<span class="truncate" id="scope-name">leave.md</span>' in page
    assert "Ask about “leave.md”" in page
    assert "Tell me about long leave." in page
    assert as_stranger.post(ask).status_code == 404
    # It is reused as long as it is empty, whatever its scope.
    asked = as_owner.post(reverse("ask-knowledge-base", args=[base.pk]))
    assert asked["Location"] == reverse("session", args=[about.pk])
    assert (list(about.knowledge_bases.all()), list(about.documents.all())) == ([base], [])
    assert as_owner.post(reverse("new-session"))["Location"] == reverse("session", args=[about.pk])
    assert not about.knowledge_bases.exists()


def test_changing_what_a_chat_about_a_document_asks(as_owner: Client, owner: User, session: ChatSession) -> None:
    base = factories.make_knowledge_base(owner, "Mine")
    factories.make_knowledge_base(owner, "Second")
    first, second = (factories.make_document(base, name) for name in ("a.md", "b.md"))
    services.set_scope(owner, session, document_ids=[first.pk, second.pk])
    page = reverse("session", args=[session.pk])
    assert "a.md and 1 more" in html(as_owner.get(page))
    address = reverse("choose-scope", args=[session.pk])
    assert 'id="scope-name">b.md<' in html(as_owner.post(address, {"document": [second.pk]}, headers=HTMX))
    both = {"document": [second.pk], "knowledge_base": [base.pk]}
    changed = html(as_owner.post(address, both, headers=HTMX))
    assert 'id="scope-name">Mine<' in changed
    assert 'name="document"' not in changed
    assert not session.documents.exists()
    assert "All knowledge bases" in html(as_owner.post(address, {}, headers=HTMX))


def test_a_withdrawn_scope_is_not_shown_as_everything(
    as_owner: Client, owner: User, stranger: User, session: ChatSession
) -> None:
    factories.make_knowledge_base(owner, "Mine")
    theirs = factories.make_knowledge_base(stranger, "Theirs")
    for withdrawn in ({"documents": factories.make_document(theirs, "secret.md")}, {"knowledge_bases": theirs}):
        session.documents.clear()
        for name, value in withdrawn.items():
            getattr(session, name).add(value)
        page = html(as_owner.get(reverse("session", args=[session.pk])))
        assert 'id="scope-name">Nothing that you may read<' in page
        assert "secret.md" not in page


def test_a_source_shows_its_passage_or_the_kept_quotation(as_owner: Client, turn: Turn, chunk: Chunk) -> None:
    address = reverse("citation", args=[answer_of(turn).pk, 1])
    drawer = html(as_owner.get(address, headers=HTMX))
    assert 'id="drawer" data-open' in drawer
    said = f"?said={chunk.pk}.0#said-{chunk.pk}-0"
    assert f'hx-get="{reverse("passage", args=[chunk.pk])}{said}"' in drawer
    assert "found by words" in drawer
    chunk.document.delete()
    page = html(as_owner.get(address))
    assert "<html" in page
    assert "Paid" in page
    assert "has since been deleted" in page
    assert as_owner.get(reverse("citation", args=[answer_of(turn).pk, 2])).status_code == 404


def test_a_source_is_shown_while_its_answer_is_being_written(
    as_owner: Client, turn: Turn, chunk: Chunk, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = answer_of(turn)
    citations = [turn_store.citation_dict(citation) for citation in message.citations.all()]
    message.citations.all().delete()
    Message.objects.filter(pk=message.pk).update(status="streaming")
    live = LiveLog()
    live.append(SourcesEvent(seq=1, citations=citations))
    monkeypatch.setitem(broker.running, message.pk, live)
    drawer = html(as_owner.get(reverse("citation", args=[message.pk, 1]), headers=HTMX))
    assert f'hx-get="{reverse("passage", args=[chunk.pk])}' in drawer


def test_the_trace_shows_the_nodes_that_ran(as_owner: Client, as_staff: Client, turn: Turn, chunk: Chunk) -> None:
    hits = [{"chunk_id": chunk.pk, "score": 0.7}, {"chunk_id": 999_999, "score": 0.1}]
    details: dict[str, dict[str, Any]] = {
        "understand": {"action": "retrieve_vector", "reason": "rules", "queries": [{"text": "leave", "weight": 0.5}]},
        "search": {"rankings": [{"type": "vector", "query": "leave", "ms": 3, "note": "", "hits": hits}]},
        "fusion": {"hits": [hits[0] | {"sources": [{"type": "vector", "rank": 1}]}]},
        "compose_prompt": {
            "tokens": 10,
            "limit": 20,
            "kept": {"evidence": 1, "recent": 0},
            "cuts": [{"kind": "evidence", "position": 2, "tokens": 9, "left": 3}],
        },
        "generate": {"model": "extractive", "cited": [1], "usage": {"completion_tokens": 5}},
        "house_node": {"anything": ["at", "all"]},
    }
    for order, (key, detail) in enumerate(details.items()):
        TraceStep.objects.create(
            turn=turn, order=order, key=key, status="completed", started_at=timezone.now(), ms=5, detail=detail
        )
    address = reverse("trace", args=[turn.pk])
    page = html(as_owner.get(address, headers=HTMX))
    for words in ("leave × 0.5", "Handbook.pdf", "not available", "10 of 20 tokens", "extractive", "anything"):
        assert words in page
    assert as_staff.get(address).status_code == 200


def test_feedback(as_owner: Client, turn: Turn) -> None:
    message = answer_of(turn)
    address = reverse("feedback", args=[message.pk])
    assert "What was wrong?" in html(as_owner.post(address, {"value": "-1"}, headers=HTMX))
    said = {"value": "-1", "reason": "wrong", "comment": "It has two buttons."}
    assert "What was wrong?" not in html(as_owner.post(address, said, headers=HTMX))
    given = Feedback.objects.get()
    assert (given.reason, given.comment) == ("wrong", "It has two buttons.")
    asked = html(as_owner.get(address, headers=HTMX))
    assert "It has two buttons.</textarea>" in asked and 'value="wrong" checked' in asked
    assert "<textarea" not in html(as_owner.get(address + "?closed", headers=HTMX))
    assert "It has two buttons.</textarea>" in html(as_owner.get(address)), "without scripts on a page of its own"
    assert as_owner.post(address, {"value": "1"}).status_code == 302
    assert Feedback.objects.get().value == 1
    as_owner.post(address, {"value": "0"}, headers=HTMX)
    assert not Feedback.objects.exists()
    assert as_owner.get(address).status_code == 302


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted"])
def test_an_empty_answer_cannot_be_rated_or_continued(as_owner: Client, turn: Turn, status: str) -> None:
    message = answer_of(turn)
    page, address = reverse("session", args=[turn.session_id]), reverse("feedback", args=[message.pk])
    Message.objects.filter(pk=message.pk).update(status=status)
    shown = html(as_owner.get(page))
    assert 'aria-label="Helpful"' in shown and reverse("continue", args=[message.pk]) in shown
    Message.objects.filter(pk=message.pk).update(blocks=[], content="")
    shown = html(as_owner.get(page))
    assert 'aria-label="Helpful"' not in shown and reverse("continue", args=[message.pk]) not in shown
    assert as_owner.post(address, {"value": "1"}, headers=HTMX).status_code == 409
    assert not Feedback.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_editing_a_question_can_be_cancelled(as_owner: Client, turn: Turn) -> None:
    form = html(as_owner.get(reverse("edit-question", args=[turn.pk]), headers=HTMX))
    assert "ws-send" in form
    assert "How long is leave?" in form
    assert "bubble" in html(as_owner.get(reverse("question", args=[turn.pk]), headers=HTMX))
    assert as_owner.get(reverse("question", args=[turn.pk])).status_code == 302


@pytest.mark.django_db(transaction=True)
async def test_asking_without_scripts(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    client = AsyncClient()
    await client.aforce_login(owner)
    response = await client.post(reverse("ask", args=[session.pk]), {"question": "How many ports has the switch?"})
    await wait_for_all()
    page = await client.get(response.url.partition("#")[0])
    assert "nine ports" in html(page)
    message = await Message.objects.aget(role="assistant")
    again = await client.post(reverse("regenerate", args=[message.pk]))
    await wait_for_all()
    assert "2/2" in html(await client.get(again.url.partition("#")[0]))
    edited = await client.post(reverse("edit-question", args=[message.turn_id]), {"question": "What of the warranty?"})
    await wait_for_all()
    assert "three years" in html(await client.get(edited.url.partition("#")[0]))
    await Message.objects.filter(pk=message.pk).aupdate(status="interrupted")
    onwards = await client.post(reverse("continue", args=[message.pk]))
    await wait_for_all()
    assert "Please continue." in html(await client.get(onwards.url.partition("#")[0]))


@pytest.mark.django_db(transaction=True)
async def test_a_refusal_without_scripts_is_shown(owner: User, session: ChatSession) -> None:
    client = AsyncClient()
    await client.aforce_login(owner)
    response = await client.post(reverse("ask", args=[session.pk]), {"question": " "}, follow=True)
    assert "Enter a question." in html(response)


@pytest.mark.django_db(transaction=True)
async def test_stopping_without_scripts(owner: User, session: ChatSession, fake_llm: FakeLLM) -> None:
    fake_llm.enqueue([30.0])
    client = AsyncClient()
    await client.aforce_login(owner)
    response = await client.post(reverse("ask", args=[session.pk]), {"question": "Tell me a long story please"})
    page = html(await client.get(response.url.partition("#")[0]))
    assert 'http-equiv="refresh"' in page
    await client.post(reverse("stop", args=[session.pk]))
    assert (await Message.objects.aget(role="assistant")).status == "stopped"


def test_an_answer_whose_server_died_says_so(as_owner: Client, session: ChatSession) -> None:
    turn = make_turn(session)
    Message.objects.filter(turn=turn, role="assistant").update(status="streaming", heartbeat_at=None)
    page = html(as_owner.get(reverse("session", args=[session.pk])))
    assert "Interrupted" in page
    assert "Retry" in page


@pytest.mark.parametrize("method", ["get", "post"])
def test_strangers_find_nothing(
    as_stranger: Client, as_colleague: Client, anonymous: Client, session: ChatSession, turn: Turn, method: str
) -> None:
    message = answer_of(turn)
    addresses = {
        "get": [
            reverse("session", args=[session.pk]),
            reverse("rename-session", args=[session.pk]),
            reverse("edit-question", args=[turn.pk]),
            reverse("question", args=[turn.pk]),
            reverse("trace", args=[turn.pk]),
            reverse("citation", args=[message.pk, 1]),
        ],
        "post": [
            *(reverse(name, args=[session.pk]) for name in ("rename-session", "pin-session", "delete-session")),
            *(reverse(name, args=[session.pk]) for name in ("choose-scope", "ask", "stop")),
            *(reverse(name, args=[message.pk]) for name in ("regenerate", "continue", "feedback")),
            reverse("edit-question", args=[turn.pk]),
        ],
    }
    for address in addresses[method]:
        for client in (as_stranger, as_colleague):
            response = getattr(client, method)(address, {"question": "x", "title": "x", "value": "1"})
            assert response.status_code == 404, address
        assert getattr(anonymous, method)(address).url.startswith("/login/"), address


def test_the_account_page(as_owner: Client, owner: User) -> None:
    made = html(as_owner.post(reverse("add-token"), {"name": "script"}))
    assert "can&#x27;t be shown again" in made or "can't be shown again" in made
    token = owner.api_tokens.get()  # type: ignore[attr-defined]
    as_owner.post(reverse("revoke-token", args=[token.pk]))
    assert not owner.api_tokens.exists()  # type: ignore[attr-defined]
    wrong = as_owner.post(reverse("change-password"), {"old_password": "x"})
    assert wrong.status_code == 422
    words = {"old_password": "password", "new_password1": "larks-at-dawn-7", "new_password2": "larks-at-dawn-7"}
    assert as_owner.post(reverse("change-password"), words).status_code == 302
    assert as_owner.get(reverse("account")).status_code == 200


def test_the_theme_is_remembered(as_owner: Client) -> None:
    response = as_owner.post(reverse("set-theme"), {"theme": "dark", "next": "https://evil.example/"})
    assert response.url == "/"
    assert 'data-theme="dark"' in html(as_owner.get(reverse("account")))


@pytest.mark.parametrize("noise", ["\x00", "²", "٣", "9" * 30, "-1", "1e3", "%00", "<b>"])
def test_random_urls_and_forms_are_harmless(as_owner: Client, session: ChatSession, turn: Turn, noise: str) -> None:
    address = reverse("session", args=[session.pk])
    for query in ({"turn": noise}, {"deleted": noise}, {"all": noise}):
        assert "How long is leave?" in html(as_owner.get(address, query))
    assert as_owner.get(reverse("search-sessions"), {"q": f"leave {noise}", "current": noise}).status_code == 200
    assert as_owner.get(reverse("export-markdown", args=[session.pk]), {"turn": noise}).status_code == 200
    for name, form in (
        ("choose-scope", {"knowledge_base": noise}),
        ("rename-session", {"title": f"Named {noise}"}),
        ("share", {"parent_turn_id": noise}),
    ):
        assert as_owner.post(reverse(name, args=[session.pk]), form).status_code in (200, 302, 409), name
    form = {"value": "-1", "reason": f"wrong{noise}"}
    assert as_owner.post(reverse("feedback", args=[answer_of(turn).pk]), form).status_code == 302
