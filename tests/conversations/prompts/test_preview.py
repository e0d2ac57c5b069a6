"""Tests of the preview of a prompt in the admin."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from conversations.models import Citation, Message, PromptTemplate
from conversations.prompts import templates
from conversations.prompts.defaults import DEFAULTS
from conversations.prompts.preview import preview
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

URL = "admin:conversations_prompttemplate_preview"


@pytest.fixture
def answer(owner: User) -> Message:
    """The second answer of a chat."""
    session = make_session(owner, "Routers")
    first = make_turn(session, "How many ports has it?", "Nine ports [1].")
    return make_turn(session, "How do I <reset> it?", "Hold the button [1].", parent=first.turn)


def shown(purpose: str, answer: Message, language: str = "en") -> list[tuple[str, str]]:
    prompt = templates.Prompt(*DEFAULTS[(purpose, language)], 0)
    return [
        (message.role, message.content)
        for message in preview(purpose, prompt, answer.turn, language, answer.turn.session.owner).messages
    ]


def test_answer_preview_has_history_evidence_and_question(answer: Message) -> None:
    messages = shown("answer", answer)
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user"]
    assert messages[0][1] == DEFAULTS[("answer", "en")][0]
    assert messages[1][1] == "How many ports has it?" and messages[2][1].startswith("Nine ports")
    assert '<passage number="1" from="handbook.txt' in messages[3][1] and "Hold the reset button." in messages[3][1]
    assert messages[3][1].endswith("Question: How do I <reset> it?")


def test_existing_passage_is_shown_whole(answer: Message) -> None:
    base = factories.make_knowledge_base(answer.turn.session.owner, "Handbook")
    chunk = factories.make_chunk(factories.make_document(base, "handbook.txt"), "The whole passage stands here.")
    Citation.objects.filter(message=answer).update(chunk=chunk, document=chunk.document)
    assert "The whole passage stands here." in shown("answer", answer)[-1][1]


def test_joined_passages_are_shown_together(answer: Message) -> None:
    document = factories.make_document(factories.make_knowledge_base(answer.turn.session.owner), "handbook.txt")
    chunks = [factories.make_chunk(document, text) for text in ("It begins.", "It ends.")]
    merged = [chunk.pk for chunk in chunks]
    Citation.objects.filter(message=answer).update(chunk=chunks[1], document=document, merged=merged)
    assert "It begins.\n\nIt ends." in shown("answer", answer)[-1][1]


@pytest.mark.parametrize("purpose", sorted(templates.VARIABLES))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_purpose_is_filled(answer: Message, purpose: str, language: str) -> None:
    text = "\n".join(content for _role, content in shown(purpose, answer, language))
    assert "{{" not in text
    if "question" in templates.NEEDED[purpose]:
        assert "How do I <reset> it?" in text
    if "history" in templates.NEEDED[purpose]:
        assert "How many ports has it?" in text
    if "evidence" in templates.NEEDED[purpose]:
        assert "Hold the reset button." in text


@pytest.mark.parametrize("purpose", sorted(templates.LOOPING))
def test_loop_contains_the_turns(answer: Message, purpose: str) -> None:
    loop = "{% for turn in turns %}<{{ turn.question }}|{{ turn.answer }}>{% endfor %}"
    prompt = templates.Prompt(f"At {{{{ time }}}}: {loop}", "{{ question }} {{ evidence }}", 0)
    messages = preview(purpose, prompt, answer.turn, "en", answer.turn.session.owner).messages
    assert [message.role for message in messages] == ["system", "user"], "and not beside it"
    assert "<How many ports has it?|Nine ports" in messages[0].content
    assert re.match(r"At \d{4}-\d\d-\d\d \d\d:\d\d \w+: <", messages[0].content)


def test_tokens_are_counted_and_truncation_is_reported(answer: Message, settings: Any) -> None:
    prompt = templates.Prompt("Be brief.", "{{ evidence }} {{ question }}", 0)
    whole = preview("answer", prompt, answer.turn, "en", answer.turn.session.owner)
    assert whole.tokens == sum(message.tokens for message in whole.messages) <= whole.limit
    assert all(message.tokens > 0 for message in whole.messages) and not whole.left_out
    settings.LLM_CONTEXT_WINDOW, settings.LLM_MAX_TOKENS = 80, 16
    small = preview("answer", prompt, answer.turn, "en", answer.turn.session.owner)
    assert small.left_out and small.tokens <= small.limit < whole.limit
    settings.LLM_CONTEXT_WINDOW = 32
    none = preview("answer", prompt, answer.turn, "en", answer.turn.session.owner)
    assert not none.messages and "context window" in none.problem


def post(client: Client, answer: Message, **fields: str) -> Any:
    body = {"purpose": "answer", "language": "en", "system": "Be kind.", "user": "{{ evidence }} {{ question }}"}
    return client.post(reverse(URL), body | {"preview_turn": str(answer.turn_id)} | fields)


def test_page_previews_the_form_without_saving(answer: Message, as_staff: Client) -> None:
    prompt = PromptTemplate.objects.get(purpose="answer", language="en", active=True)
    page = as_staff.get(reverse("admin:conversations_prompttemplate_change", args=[prompt.pk])).content.decode()
    assert reverse(URL) in page and f"#{answer.turn_id} How do I &lt;reset&gt; it?" in page
    seen = post(as_staff, answer, purpose="", preview_purpose="answer").content.decode()
    assert "Be kind." in seen and "How do I &lt;reset&gt; it?" in seen and "tokens" in seen
    prompt.refresh_from_db()
    assert prompt.system != "Be kind."


def test_form_errors_are_shown_with_the_preview(answer: Message, as_staff: Client) -> None:
    seen = post(as_staff, answer, user="{{ question }} {{ secret }}").content.decode()
    assert "secret" in seen and "Be kind." in seen


def test_block_instructions_are_shown_for_the_json_dialect(answer: Message, as_staff: Client, settings: Any) -> None:
    assert "block_start" not in post(as_staff, answer).content.decode()
    settings.ANSWER_DIALECT = "json"
    assert "block_start" in post(as_staff, answer).content.decode()


@pytest.mark.parametrize("fields", [{"preview_turn": ""}, {"preview_turn": "x"}, {"preview_turn": "999999"}])
def test_missing_turn(answer: Message, as_staff: Client, fields: dict[str, str]) -> None:
    assert post(as_staff, answer, **fields).status_code == 404


@pytest.mark.parametrize("fields", [{"purpose": "spy"}, {"language": "xx"}])
def test_missing_prompt(answer: Message, as_staff: Client, fields: dict[str, str]) -> None:
    response = post(as_staff, answer, **fields)
    assert response.status_code == 200 and "Be kind." not in response.content.decode()


def test_conversations_are_shown_only_to_authorised_users(answer: Message, as_stranger: Client) -> None:
    assert post(as_stranger, answer).status_code == 302
    editor = factories.make_user("editor", is_staff=True)
    editor.user_permissions.add(
        *Permission.objects.filter(codename__in=["view_prompttemplate", "change_prompttemplate"])
    )
    client = Client()
    client.force_login(editor)
    assert post(client, answer).status_code == 403
    prompt = PromptTemplate.objects.filter(active=True).first()
    assert prompt is not None
    page = client.get(reverse("admin:conversations_prompttemplate_change", args=[prompt.pk])).content.decode()
    assert "&lt;reset&gt;" not in page and 'name="system"' in page


def test_unreadable_passages_are_left_out(answer: Message, staff: User) -> None:
    prompt = templates.Prompt("Be kind.", "{{ evidence }} {{ question }}", 0)
    text = "\n".join(message.content for message in preview("answer", prompt, answer.turn, "en", staff).messages)
    assert "How do I <reset> it?" in text and "Hold the reset button." not in text
