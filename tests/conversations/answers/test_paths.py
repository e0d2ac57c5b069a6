"""Turns without hits, from general knowledge, asking for clarification and chatting.

They run with and without a model, in both languages, and their results are read both from the page and from the API.
"""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext
from pytest_django import Settings

from conversations.events import StepEvent, fold
from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.rendering import trace
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.language.detection import language_of
from ragsite.llm.errors import Unreachable
from retrieval.engine import spaces
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.replies import chat, clarify, plan
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING = {"en": "Your documents contain nothing about this.", "zh": "您的文档中没有相关内容。"}
GENERAL = {
    "en": "**From general knowledge, not from your documents:**",
    "zh": "**以下来自通用知识，而非您的文档：**",
}
# A question that the handbook doesn't cover, and the language of a user interface in the other language.
ELSEWHERE = [("en", "Who painted the Mona Lisa?", "zh-hans"), ("zh", "蒙娜丽莎是谁画的？", "en")]
NAME_IT = "Please name the subject or the document you mean."
PORTS = "How many ports has the TL-SE2109 switch?"


async def asked(user: User, session: ChatSession, client: Client, question: str, language: str = "en") -> Message:
    """Ask and return the stored answer; check that the folded events, the stored blocks and the API agree."""
    events = await run_turn(user, session, question, language=language)
    message = await Message.objects.select_related("turn").filter(turn__session=session, role="assistant").alatest("id")
    assert fold(events).blocks == message.blocks
    shown = await in_database(lambda: client.get(f"/api/chat/messages/{message.pk}").json())
    assert (shown["blocks"], shown["content"], shown["status"]) == (message.blocks, message.content, "completed")
    stored = await Message.objects.aget(turn=message.turn, role="user")
    assert stored.content == question
    return message


async def detail(message: Message, key: str) -> dict[str, object]:
    step = await TraceStep.objects.aget(turn=message.turn_id, key=key)
    return step.detail | {"status": step.status}


def in_language(code: str, msgid: str) -> str:
    with translation.override("zh-hans" if code == "zh" else "en"):
        return gettext(msgid)


class TestNoHits:
    """The documents contain nothing about the question."""

    @pytest.mark.parametrize(("code", "question", "interface"), ELSEWHERE)
    async def test_without_a_model(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession,
        code: str, question: str, interface: str,
    ) -> None:  # fmt: skip
        message = await asked(owner, session, as_owner, question, interface)
        assert message.content.startswith(NOTHING[code]) and GENERAL[code] not in message.content
        assert message.turn.model == "extractive" and not await message.citations.aexists()
        assert (await detail(message, "relevance_gate"))["state"] == "nothing"

    @pytest.mark.parametrize(("code", "question", "interface"), ELSEWHERE)
    async def test_with_a_model_the_answer_is_marked_as_general_knowledge(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        code: str, question: str, interface: str,
    ) -> None:  # fmt: skip
        fake_llm.enqueue("Leonardo.")
        message = await asked(owner, session, as_owner, question, interface)
        assert message.content == f"{NOTHING[code]}\n\n{GENERAL[code]}\n\nLeonardo."
        assert message.turn.model == "fake-model" and not await message.citations.aexists()
        system, user = fake_llm.calls[0].messages
        assert ("general knowledge" if code == "en" else "通用知识") in system.content
        assert user.content == question

    @pytest.mark.parametrize(("code", "question", "interface"), ELSEWHERE)
    async def test_a_knowledge_base_that_forbids_it(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        code: str, question: str, interface: str,
    ) -> None:  # fmt: skip
        await KnowledgeBase.objects.filter(pk=handbook.pk).aupdate(answer_from_general_knowledge=False)
        message = await asked(owner, session, as_owner, question, interface)
        assert message.content.startswith(NOTHING[code]) and GENERAL[code] not in message.content
        assert not fake_llm.calls and message.turn.model == "extractive"

    async def test_one_of_two_that_forbids_it_is_enough(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        await KnowledgeBase.objects.acreate(owner=owner, name="Strict", answer_from_general_knowledge=False)
        await asked(owner, session, as_owner, ELSEWHERE[0][1])
        assert not fake_llm.calls

    @pytest.mark.parametrize(("code", "question", "interface"), ELSEWHERE)
    async def test_nothing_to_search(
        self, owner: User, as_owner: Client, session: ChatSession, code: str, question: str, interface: str
    ) -> None:
        message = await asked(owner, session, as_owner, question, interface)
        words = "There is nothing to search. Add documents, or change the selection below."
        assert message.content == in_language(code, words) and language_of(message.content) == code

    @pytest.mark.parametrize(("code", "question", "interface"), ELSEWHERE)
    async def test_a_single_document_is_searched(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, code: str, question: str,
        interface: str,
    ) -> None:  # fmt: skip
        other = await in_database(factories.make_document, handbook, "other.md")
        await in_database(factories.make_chunk, other, "The TL-SE2109 stands in the cellar.")
        await in_database(factories.index_document, other.pk)
        await session.documents.aset([other])
        message = await asked(owner, session, as_owner, PORTS, interface)
        assert [citation.document_id async for citation in message.citations.all()] == [other.pk]
        assert (await detail(message, "search"))["documents"] == [other.pk]
        message = await asked(owner, session, as_owner, question, interface)
        words = (
            "The selected documents contain nothing about this. "
            "To search all your documents, change the selection below."
        )
        assert message.content == in_language(code, words)

    async def test_an_unanswered_question_is_not_left_to_chat(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("understand")
        fake_llm.enqueue(json.dumps(chat()), "Leonardo.")
        message = await asked(owner, session, as_owner, ELSEWHERE[0][1])
        assert message.content == f"{NOTHING['en']}\n\n{GENERAL['en']}\n\nLeonardo."
        assert message.turn.action == "retrieve_vector"

    async def test_a_filter_finds_that_nothing_answers(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        settings: Settings,
    ) -> None:  # fmt: skip
        settings.ENABLE_FILTER = True
        fake_llm.serves.add("filter")
        fake_llm.enqueue(*['{"keep": false, "reason": "no"}'] * 4, "Some have nine.")
        message = await asked(owner, session, as_owner, PORTS)
        assert message.content.startswith(NOTHING["en"]) and message.content.endswith("Some have nine.")
        assert [item["keep"] for item in (await detail(message, "filter"))["judged"]] == [False] * 4  # type: ignore[attr-defined]


class TestClarify:
    """Asking for clarification."""

    @pytest.mark.parametrize(
        ("question", "code", "reply"),
        [
            ("???", "en", "There is no word in your message to search for. What would you like to know?"),
            ("？！", "zh", "There is no word in your message to search for. What would you like to know?"),
            ("What is it?", "en", f"What does “it” refer to? {NAME_IT}"),
            ("它要多久？", "zh", f"What does “%(word)s” refer to? {NAME_IT}"),
            ("What?", "en", f"“What?” does not say what it is about. {NAME_IT}"),
            ("为什么？", "zh", f"“%(message)s” does not say what it is about. {NAME_IT}"),
            ("Is that included?", "en", f"What does “that” refer to? {NAME_IT}"),
            ("And in 2023?", "en", f"“And in 2023?” does not say what it is about. {NAME_IT}"),
            ("有其他的吗？", "zh", f"“%(message)s” does not say what it is about. {NAME_IT}"),
        ],
    )
    async def test_without_a_model_it_names_what_is_unclear(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession,
        question: str, code: str, reply: str,
    ) -> None:  # fmt: skip
        message = await asked(owner, session, as_owner, question, "zh-hans" if code == "zh" else "en")
        assert message.content == in_language(code, reply) % {"word": "它", "message": question}
        assert message.turn.action == "clarify" and message.turn.model == "extractive"
        assert not await TraceStep.objects.filter(turn=message.turn, key="search", status="completed").aexists()

    @pytest.mark.parametrize(
        ("question", "back"),
        [("How long does it take?", "To reset which switch?"), ("它的保修期多久？", "您指的是哪一台？")],
    )
    async def test_with_a_model_it_asks(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        question: str, back: str,
    ) -> None:  # fmt: skip
        fake_llm.serves.add("understand")
        fake_llm.enqueue(json.dumps(clarify()), back)
        message = await asked(owner, session, as_owner, question)
        assert (message.content, message.turn.action) == (back, "clarify")
        system = fake_llm.calls[1].messages[0].content
        assert ("question back" if language_of(question) == "en" else "提一个简短的问题") in system

    async def test_a_clear_question_needs_no_clarification(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("understand")
        fake_llm.enqueue(json.dumps(clarify()), "Nine ports [1].")
        message = await asked(owner, session, as_owner, PORTS)
        assert message.content == "Nine ports [1]." and message.turn.action == "retrieve_vector"
        assert (await detail(message, "understand"))["deferred_action"] == "clarify"


class TestChat:
    """Messages that need no documents."""

    @pytest.mark.parametrize(
        ("question", "code", "words"),
        [
            ("Hello!", "en", "Hello! Ask me anything about your documents."),
            ("你好", "zh", "Hello! Ask me anything about your documents."),
            ("Thank you very much!", "en", "You're welcome. Ask me anything else whenever you like."),
            ("谢谢", "zh", "You're welcome. Ask me anything else whenever you like."),
            ("Goodbye", "en", "Goodbye! This chat stays in your history."),
            ("再见", "zh", "Goodbye! This chat stays in your history."),
            ("Who are you?", "en", "I answer questions from the documents in your knowledge bases."),
            ("你能做什么？", "zh", "I answer questions from the documents in your knowledge bases."),
            ("ok", "en", "Good. What else would you like to know?"),
            ("好的", "zh", "Good. What else would you like to know?"),
        ],
    )
    async def test_without_a_model(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession,
        question: str, code: str, words: str,
    ) -> None:  # fmt: skip
        message = await asked(owner, session, as_owner, question, "en" if code == "zh" else "zh-hans")
        assert message.content.startswith(in_language(code, words))
        assert message.turn.action == "answer_chat" and not await message.citations.aexists()

    @pytest.mark.parametrize(("question", "reply"), [("Hello!", "Hi, what can I find?"), ("你好", "您好！")])
    async def test_with_a_model(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        question: str, reply: str,
    ) -> None:  # fmt: skip
        fake_llm.enqueue(reply)
        message = await asked(owner, session, as_owner, question)
        assert message.content == reply and message.turn.action == "answer_chat"
        assert fake_llm.calls[0].messages[-1].content == question

    async def test_a_request_about_the_conversation(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("understand")
        fake_llm.enqueue(json.dumps(plan(rewrite="", queries=[])), "It has nine ports [1].")
        await asked(owner, session, as_owner, PORTS)
        fake_llm.enqueue(json.dumps(chat()), "Nine.")
        message = await asked(owner, session, as_owner, "Say that more tersely, please.")
        assert (message.content, message.turn.action) == ("Nine.", "answer_chat")
        assert "It has nine ports" in " ".join(item.content for item in fake_llm.calls[-1].messages)

    async def test_a_document_question_taken_for_chat_is_answered_from_the_documents(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("understand")
        fake_llm.enqueue(json.dumps(chat(confidence=1)), "Nine ports [1].")
        message = await asked(owner, session, as_owner, PORTS)
        assert message.content == "Nine ports [1]." and message.turn.action == "retrieve_vector"
        assert await message.citations.filter(cited=True).aexists()


class TestWithAModelThatPlans:
    """The understanding, rewriting and filter calls in whole turns."""

    async def test_a_follow_up_is_searched_as_the_plan_rewrites_it(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves |= {"understand", "rewrite"}
        fake_llm.enqueue(json.dumps(plan(rewrite="", queries=[])), "Nine ports [1].")
        await asked(owner, session, as_owner, PORTS)
        rewrite = "How are the factory settings of the TL-SE2109 switch restored?"
        fake_llm.enqueue(json.dumps(plan(rewrite=rewrite, queries=[])), "Hold the button [1].")
        message = await asked(owner, session, as_owner, "And how is it reset?")
        assert message.turn.retrieval_query == rewrite and not fake_llm.left
        ranked = (await detail(message, "search"))["rankings"]
        assert {rewrite, "And how is it reset?"} <= {item["query"] for item in ranked}  # type: ignore[attr-defined]
        assert (await detail(message, "rewrite"))["status"] == "skipped"

    async def test_the_question_is_rewritten_if_understanding_fails(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves |= {"understand", "rewrite"}
        fake_llm.enqueue("no plan", "Nine ports [1].")
        await asked(owner, session, as_owner, PORTS)
        rewrite = "How is the TL-SE2109 switch reset?"
        fake_llm.enqueue("no plan", rewrite, "Hold the button [1].")
        message = await asked(owner, session, as_owner, "And how is it reset?")
        assert message.turn.retrieval_query == rewrite
        assert (await detail(message, "understand"))["fallback"] == "no JSON"
        assert (await detail(message, "rewrite"))["rewrite"] == rewrite

    async def test_a_plan_may_ask_for_more_passages(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM,
        settings: Settings,
    ) -> None:  # fmt: skip
        settings.ANSWER_TOP_K, settings.MERGE_NEIGHBOURS = 1, False
        fake_llm.serves.add("understand")
        for k, given in ((6, 1), (9, 4)):
            wants = {"action": "retrieve_vector", "args": {"k": k}}
            fake_llm.enqueue(json.dumps(plan(rewrite="", queries=[], plan=wants)), "Nine ports [1].")
            message = await asked(owner, session, as_owner, f"{PORTS} ({k})")
            assert await message.citations.acount() == given

    async def test_the_caller_may_set_the_number_of_passages(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, settings: Settings
    ) -> None:
        settings.ANSWER_TOP_K, settings.FUSED_K, settings.MERGE_NEIGHBOURS = 2, 3, False
        for number, (top_n, given) in enumerate(((None, 2), (1, 1), (4, 4))):
            fake_llm.enqueue("Nine ports [1].")
            events = await run_turn(owner, session, f"{PORTS} ({number})", top_n=top_n, as_root=True)
            assert len(fold(events).citations) == given

    async def test_without_a_model_too(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, settings: Settings
    ) -> None:
        settings.MERGE_NEIGHBOURS = False
        assert len(fold(await run_turn(owner, session, PORTS, top_n=1)).citations) == 1

    async def test_the_key_passage_of_a_verdict_is_what_a_citation_shows(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("filter")
        fake_llm.enqueue(*['{"keep": true, "key_passage": "nine ports", "reason": "x"}'] * 4, "Nine [1].")
        ask = lifecycle.Ask(session.pk, PORTS, use_filter=True)
        await lifecycle.start_turn(owner, ask)
        await wait_for_all()
        turn = await Turn.objects.aget()
        message = await Message.objects.aget(turn=turn, role="assistant")
        snippets = [item.snippet async for item in message.citations.all()]
        assert "nine ports" in snippets

    async def test_a_request_of_the_api_switches_the_filter_on(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves.add("filter")
        fake_llm.enqueue(*['{"keep": true}'] * 4, "Nine [1].")
        events = await run_turn(owner, session, PORTS, use_filter=True)
        messages = [event.message for event in events if isinstance(event, StepEvent) and event.key == "filter"]
        assert messages == [
            "",
            *(f"{done} of 4 passages judged" for done in (1, 2, 3, 4)),
            "4 of 4 passages answer directly",
        ]


class TestTrace:
    """The trace of a turn."""

    async def test_verdicts_are_shown_only_to_users_who_may_read_the_passages(
        self, owner: User, stranger: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession,
        fake_llm: FakeLLM, settings: Settings,
    ) -> None:  # fmt: skip
        fake_llm.serves.add("filter")
        settings.FILTER_CONCURRENCY = 1  # so that the first verdict is about the first passage
        verdicts = [
            '{"keep": true, "key_passage": "nine ports", "reason": "It counts them."}',
            *['{"keep": false}'] * 3,
        ]
        fake_llm.enqueue(*verdicts, "Nine [1].")
        await run_turn(owner, session, PORTS, use_filter=True)
        turn = await Turn.objects.aget()
        for reader, excerpt, sources in (
            (owner, "nine ports", "answers directly · It counts them."),
            (stranger, "", ""),
        ):
            (judged,) = (await steps(turn, reader))["Judge each passage"].lists
            assert (judged.hits[0].excerpt, judged.hits[0].sources, len(judged.hits)) == (excerpt, sources, 4)

    async def test_the_trace_shows_who_decided_and_why(
        self, owner: User, as_owner: Client, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.serves |= {"understand", "rewrite"}
        fake_llm.enqueue(json.dumps(chat()), "Nine [1].")
        await run_turn(owner, session, PORTS)
        found = await steps(await Turn.objects.aget(), owner)
        facts = found["Understand the question"].facts
        assert ("Decided by", "fake-model") in facts and ("Confidence", "90%") in facts
        assert ("Note", "the model would rather chat; the search results decide") in facts
        assert ("Found", "an answer") in found["Check whether the documents cover it"].facts
        fake_llm.enqueue("no plan", "I'm sorry.", "Hold it [1].")
        await run_turn(owner, session, "And how is it reset?")
        turn = await Turn.objects.alatest("id")
        found = await steps(turn, owner)
        assert ("No model used", "the reply contains no plan.") in found["Understand the question"].facts
        assert ("Not rewritten", "the model refused.") in found["Rewrite the question for the search"].facts
        page = await in_database(lambda: as_owner.get(reverse("trace", args=[turn.pk])).content.decode())
        assert "the reply contains no plan" in page and "the model refused" in page


async def steps(turn: Turn, reader: User) -> dict[str, trace.Step]:
    """Return the steps of a turn's trace by their names."""
    return {step.name: step for step in await in_database(trace.steps, turn, reader)}


async def test_without_the_embedding_model_quotes_are_chosen_by_words(
    owner: User, session: ChatSession, as_owner: Client, handbook: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise Unreachable

    monkeypatch.setattr(spaces, "embed_query", fail)
    message = await asked(owner, session, as_owner, PORTS)
    assert "The TL-SE2109 switch has nine ports." in message.content
    assert await message.citations.filter(cited=True).acount() == 1
