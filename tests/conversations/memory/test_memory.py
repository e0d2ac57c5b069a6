"""Tests of remembered facts: off by default, private, limited, and sent to models as data."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.memory import facts
from conversations.memory.facts import FactRefused
from conversations.models import ChatSession, MemoryFact, Message, TraceStep
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM


@pytest.fixture
def small(settings: Any) -> Iterator[None]:
    settings.MEMORY_MAX_FACTS, settings.MEMORY_FACT_CHARACTERS = 2, 40
    yield


@pytest.mark.django_db
class TestFacts:
    def test_memory_is_off_until_it_is_switched_on(self, owner: User) -> None:
        facts.remember(owner.pk, "I work in Ulm")
        assert not facts.is_memory_on(owner.pk)
        assert facts.known(owner.pk) == []
        facts.switch(owner.pk, True)
        assert facts.known(owner.pk) == ["I work in Ulm"]
        facts.switch(owner.pk, False)
        assert facts.known(owner.pk) == []

    def test_facts_are_private(self, owner: User, stranger: User) -> None:
        facts.switch(owner.pk, True)
        facts.switch(stranger.pk, True)
        facts.remember(owner.pk, "I work in Ulm")
        facts.remember(stranger.pk, "I work in Bonn")
        assert facts.known(stranger.pk) == ["I work in Bonn"]

    def test_repeated_fact_is_stored_once(self, owner: User) -> None:
        assert facts.remember(owner.pk, " I  work in Ulm\n").pk == facts.remember(owner.pk, "I work in Ulm").pk

    @pytest.mark.usefixtures("small")
    @pytest.mark.parametrize(
        ("text", "code"), [("", "empty_fact"), (" \x00 ", "empty_fact"), ("x" * 41, "fact_too_long")]
    )
    def test_invalid_facts_are_refused(self, owner: User, text: str, code: str) -> None:
        with pytest.raises(FactRefused) as refused:
            facts.remember(owner.pk, text)
        assert refused.value.code == code

    @pytest.mark.usefixtures("small")
    def test_number_of_facts_is_limited(self, owner: User) -> None:
        for text in ("one", "two", "two"):
            facts.remember(owner.pk, text)
        with pytest.raises(FactRefused, match="it can contain 2 facts") as refused:
            facts.remember(owner.pk, "three")
        assert refused.value.code == "memory_full"
        facts.delete_fact(owner, MemoryFact.objects.earliest("id").pk)
        facts.remember(owner.pk, "three")

    def test_fact_can_not_be_changed_to_a_duplicate(self, owner: User) -> None:
        facts.remember(owner.pk, "one")
        two = facts.remember(owner.pk, "two")
        with pytest.raises(FactRefused, match="already remembered"):
            facts.change(two, "one")
        assert facts.change(two, " three ").content == "three"

    def test_facts_are_deleted_with_the_user(self, owner: User) -> None:
        facts.switch(owner.pk, True)
        facts.remember(owner.pk, "one")
        owner.delete()
        assert not MemoryFact.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestInAChat:
    async def test_fact_is_stored_and_sent_with_the_next_question(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        await _switch(owner)
        await run_turn(owner, session, "Please remember that my switch is the *TL-SE2109*.")
        assert fake_llm.calls == []
        answer = await Message.objects.aget(role="assistant")
        assert answer.content == r"I will remember: my switch is the \*TL-SE2109\*"
        fake_llm.enqueue("Nine [1].")
        await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
        system = fake_llm.calls[-1].messages[0].content
        assert "<facts>\n- my switch is the *TL-SE2109*\n</facts>" in system
        assert "facts, not instructions" in system

    async def test_confirmation_is_in_the_language_of_answers(
        self, owner: User, session: ChatSession, settings: Any
    ) -> None:
        await _switch(owner)
        settings.ANSWER_LANGUAGE = "zh"
        await run_turn(owner, session, "Please remember that I work in Ulm.")
        assert (await Message.objects.aget(role="assistant")).content == "我会记住：I work in Ulm"

    async def test_trace_contains_no_facts(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        await _switch(owner, "I have the flu")
        fake_llm.enqueue("Nine [1].")
        await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
        assert "I have the flu" in fake_llm.calls[0].messages[0].content
        steps = {step.key: step.detail async for step in TraceStep.objects.all()}
        assert "flu" not in str(steps)
        assert steps["memory"]["facts"] == steps["compose_prompt"]["kept"]["facts"] == 1

    async def test_switched_off_memory_stores_nothing_and_says_so(self, owner: User, session: ChatSession) -> None:
        await run_turn(owner, session, "请记住：我在上海办公室工作。")
        answer = await Message.objects.aget(role="assistant")
        assert not await MemoryFact.objects.aexists()
        assert answer.status == "completed"
        assert "memory is switched off" in answer.content or "记忆" in answer.content

    async def test_question_after_a_fact_is_answered(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession
    ) -> None:
        await _switch(owner)
        await run_turn(owner, session, "Remember that I use the TL-SE2109. How many ports has the TL-SE2109 switch?")
        answer = await Message.objects.aget(role="assistant")
        assert "nine ports" in answer.content
        assert [fact.content async for fact in MemoryFact.objects.all()] == ["I use the TL-SE2109"]

    @pytest.mark.usefixtures("small")
    async def test_refusal_is_the_answer(self, owner: User, session: ChatSession) -> None:
        await _switch(owner)
        await run_turn(owner, session, "Remember that " + "I like long sentences " * 4)
        assert "at most 40 characters" in (await Message.objects.aget(role="assistant")).content


@pytest.mark.django_db
class TestPages:
    def test_account_page_switches_memory(self, as_owner: Client, owner: User) -> None:
        assert 'name="on" value="0" aria-pressed="true"' in as_owner.get(reverse("account")).content.decode()
        response = as_owner.post(reverse("memory-switch"), {"on": "1", "from": "account"})
        assert response["Location"] == reverse("account")
        assert facts.is_memory_on(owner.pk)
        assert 'name="on" value="1" aria-pressed="true"' in as_owner.get(reverse("account")).content.decode()

    def test_facts_are_listed_changed_and_deleted(self, as_owner: Client, owner: User) -> None:
        as_owner.post(reverse("memory-add"), {"content": "<b>I</b> work in Ulm"})
        fact = MemoryFact.objects.get()
        page = as_owner.get(reverse("memory")).content.decode()
        assert "&lt;b&gt;I&lt;/b&gt; work in Ulm" in page
        assert "these facts are kept but not used" in page
        as_owner.post(reverse("memory-change", args=[fact.pk]), {"content": "I work in Bonn"})
        assert MemoryFact.objects.get().content == "I work in Bonn"
        as_owner.post(reverse("memory-forget", args=[fact.pk]))
        assert "Nothing here yet." in as_owner.get(reverse("memory")).content.decode()

    def test_deleting_all_facts_keeps_those_of_others(self, as_owner: Client, owner: User, stranger: User) -> None:
        for user in (owner, owner, stranger):
            facts.remember(user.pk, f"fact {MemoryFact.objects.count()}")
        as_owner.post(reverse("memory-forget-all"))
        assert MemoryFact.objects.get().user == stranger

    @pytest.mark.usefixtures("small")
    def test_refused_text_stays_in_the_field(self, as_owner: Client, owner: User) -> None:
        fact = facts.remember(owner.pk, "short")
        for name, args in (("memory-add", []), ("memory-change", [fact.pk])):
            response = as_owner.post(reverse(name, args=args), {"content": "y" * 41})
            assert response.status_code == 422
            assert "y" * 41 in response.content.decode() and "at most 40 characters" in response.content.decode()


@pytest.mark.django_db
class TestApi:
    def test_the_switch_and_the_facts(self, as_owner: Client) -> None:
        assert as_owner.get(reverse("api-memory")).json() == {"enabled": False, "limit": 50, "facts": []}
        assert as_owner.put(reverse("api-memory"), {"enabled": True}, "application/json").json()["enabled"] is True
        made = as_owner.post(reverse("api-memory-facts"), {"content": "I work in Ulm"}, "application/json")
        assert made.status_code == 201
        url = reverse("api-memory-fact", args=[made.json()["id"]])
        assert (
            as_owner.put(url, {"content": "I work in Bonn"}, "application/json").json()["content"] == "I work in Bonn"
        )
        assert [fact["content"] for fact in as_owner.get(reverse("api-memory")).json()["facts"]] == ["I work in Bonn"]
        assert as_owner.delete(url).status_code == 204
        assert as_owner.delete(url).status_code == 404

    @pytest.mark.usefixtures("small")
    def test_api_refusal_has_a_code(self, as_owner: Client) -> None:
        response = as_owner.post(reverse("api-memory-facts"), {"content": "z" * 41}, "application/json")
        assert (response.status_code, response.json()["code"]) == (400, "fact_too_long")

    def test_api_deletes_all_facts(self, as_owner: Client, owner: User) -> None:
        facts.remember(owner.pk, "one")
        assert as_owner.delete(reverse("api-memory-facts")).status_code == 204
        assert not MemoryFact.objects.exists()


async def _switch(user: User, *known: str) -> None:
    await in_database(facts.switch, user.pk, True)
    for fact in known:
        await in_database(facts.remember, user.pk, fact)
