"""A conversation of twelve turns in each language with a model over HTTP: branches, stops, failures, an overflow.

With `-s`, a summary of each turn's trace is printed.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.memory import facts, summaries
from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.turn_store import Started
from conversations.turns import broker, lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests.conversations.replies import clarify, plan
from tests.fakes.provider import FakeProvider
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Words:
    """The texts in one language."""

    greeting: str
    ports: str
    follow_up: str
    rewritten: str
    fact: str
    place: str
    reset: str
    warranty: str
    unclear: str
    elsewhere: str
    general: str
    filler: tuple[str, ...]
    back: str


ENGLISH = Words(
    greeting="hello",
    ports="How many ports has the TL-SE2109 switch?",
    follow_up="How is it restored to the factory settings?",
    rewritten="How are the factory settings of the TL-SE2109 switch restored?",
    fact="Please remember that I look after the switches in Ulm.",
    place="Ulm",
    reset="How do I restore the factory settings of the switch?",
    warranty="How long is the warranty of the rack mounting kit?",
    unclear="Is the other one better for that?",
    elsewhere="Who painted the Mona Lisa?",
    general="From general knowledge",
    filler=("How long must the reset button of the switch be held?", "Which kit has a warranty of three years?"),
    back="How many ports did the TL-SE2109 switch have?",
)
CHINESE = Words(
    greeting="你好",
    ports="端口隔离默认是开启的吗？",
    follow_up="那它在哪里启用？",
    rewritten="端口隔离在交换机的哪里启用？",
    fact="请记住：我负责乌尔姆的交换机。",
    place="乌尔姆",
    reset="端口隔离可以在哪个页面启用？",
    warranty="交换机的端口隔离是什么状态？",
    unclear="那另一个会更好吗？",
    elsewhere="蒙娜丽莎是谁画的？",
    general="以下来自通用知识",
    filler=("交换机的配置页面可以启用什么？", "默认情况下端口隔离是关闭的吗？"),
    back="前面说的端口隔离默认情况下是什么？",
)


@dataclass
class Talk:
    """A running conversation; `lines` contains one line per turn."""

    user: User
    session: ChatSession
    provider: FakeProvider
    lines: list[str] = field(default_factory=list)

    async def ask(self, question: str, **fields: Any) -> Message:
        return await self.ended(
            await lifecycle.start_turn(self.user, lifecycle.Ask(self.session.pk, question, **fields))
        )

    async def ended(self, started: Started) -> Message:
        async for _event in broker.listen(started.assistant_message_id):
            pass
        return await self.answer(started)

    async def answer(self, started: Started) -> Message:
        await wait_for_all()
        message = await Message.objects.select_related("turn").aget(pk=started.assistant_message_id)
        self.lines.append(await self._line(message))
        return message

    def plans(self, **fields: Any) -> None:
        """Set the model's next plan."""
        self.provider.reply(json.dumps(plan(**fields), ensure_ascii=False), purpose="understand")

    async def sent(self, message: Message) -> list[dict[str, str]]:
        """Return the messages that the model was given for the answer: those of the trace, without the facts."""
        traced = (await detail(message, "compose_prompt"))["messages"]
        asked = [body["messages"] for body in self.provider.requests if body["messages"][1:] == traced[1:]]
        assert asked, "the trace shows other messages than were sent"
        return list(asked[-1])

    async def _line(self, message: Message) -> str:
        steps = TraceStep.objects.filter(turn=message.turn).exclude(status="skipped").order_by("order")
        ran = [f"{step.key} {step.ms:.0f}" async for step in steps]
        question = await Message.objects.aget(turn=message.turn, role="user")
        branch = f"under {message.turn.parent_turn_id}" if message.turn.parent_turn_id else "first"
        return (
            f"turn {message.turn_id} ({branch}) {question.content!r} → {message.turn.action} {message.status}; "
            f"searched {message.turn.retrieval_query!r}; {', '.join(ran)} ms; {message.content[:70]!r}"
        )


async def detail(message: Message, key: str) -> dict[str, Any]:
    """Return the facts that a node noted about its run."""
    step = await TraceStep.objects.aget(turn=message.turn_id, key=key)
    return dict(step.detail)


@pytest.fixture
def talk(
    owner: User, session: ChatSession, handbook: KnowledgeBase, provider: FakeProvider, settings: Settings
) -> Talk:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.MAX_RECENT_TURNS = provider.base_url, "fake-model", 3
    facts.switch(owner.pk, True)
    return Talk(owner, session, provider)


@pytest.mark.parametrize(("language", "words"), [("en", ENGLISH), ("zh-hans", CHINESE)], ids=["english", "chinese"])
async def test_twelve_turns(talk: Talk, language: str, words: Words) -> None:
    greeting = await talk.ask(words.greeting, language=language)
    assert (greeting.turn.action, greeting.status) == ("answer_chat", "completed")

    talk.plans(followup=False, rewrite=words.ports)
    ports = await talk.ask(words.ports, language=language)
    assert "[1]" in ports.content and await ports.citations.filter(cited=True).aexists()
    assert {check["status"] for check in ports.checks} == {"supported"}

    talk.plans(rewrite=words.rewritten)
    follow_up = await talk.ask(words.follow_up, language=language)
    assert follow_up.turn.retrieval_query == words.rewritten
    asked = await Message.objects.aget(turn=follow_up.turn, role="user")
    assert asked.content == words.follow_up

    remembered = await talk.ask(words.fact, language=language)
    assert remembered.status == "completed" and len(await in_database(facts.known, talk.user.pk)) == 1

    edited = await talk.ended(await lifecycle.edit(talk.user, follow_up.turn_id, words.reset, language))
    assert edited.turn.parent_turn_id == follow_up.turn.parent_turn_id == ports.turn_id
    sent = await talk.sent(edited)
    assert words.place in sent[0]["content"] and words.follow_up not in str(sent)

    again = await talk.ended(await lifecycle.regenerate(talk.user, edited.pk, language))
    assert again.turn.parent_turn_id == ports.turn_id and again.pk != edited.pk

    talk.provider.reply("One two three", thinking="Let me see.", finish="", done=False, hold_open=120)
    started = await lifecycle.start_turn(talk.user, lifecycle.Ask(talk.session.pk, words.warranty, language=language))
    async for event in broker.listen(started.assistant_message_id):
        if getattr(event, "text", "").strip().startswith("One"):
            assert await lifecycle.stop_turn(talk.user, started.assistant_message_id)
    stopped = await talk.answer(started)
    assert stopped.status == "stopped" and stopped.content.startswith("One")
    assert stopped.thinking.strip() == "Let me see."
    assert talk.provider.wait_for_disconnect()

    talk.provider.cut_after(3, "What came of it stays as it is.")
    failed = await talk.ask(words.warranty, language=language)
    assert failed.status == "failed" and failed.content and failed.error_message
    retried = await talk.ended(await lifecycle.regenerate(talk.user, failed.pk, language))
    assert (retried.status, retried.turn.parent_turn_id) == ("completed", failed.turn.parent_turn_id)

    talk.provider.reply(json.dumps(clarify()), purpose="understand")
    unclear = await talk.ask(words.unclear, language=language)
    assert unclear.status == "completed"

    elsewhere = await talk.ask(words.elsewhere, language=language)
    assert words.general in elsewhere.content and not await elsewhere.citations.aexists()

    for question in words.filler:
        await talk.ask(question, language=language)
    branch = await _branch(talk)
    summary = await in_database(summaries.summary_of, talk.session.pk, branch)
    assert summary
    back = await talk.ask(words.back, language=language)
    budget = await detail(back, "compose_prompt")
    assert budget["kept"]["summary"] == 1 and budget["kept"]["recent"] <= 3
    assert summary in (await talk.sent(back))[0]["content"]
    assert await Turn.objects.filter(session=talk.session).acount() >= 12
    print("\n".join(["", *talk.lines]))


async def _branch(talk: Talk) -> list[int]:
    parents = {turn.pk: turn.parent_turn_id async for turn in Turn.objects.filter(session=talk.session)}
    leaf: int | None = max(parents)
    found: list[int] = []
    while leaf is not None:
        found.append(leaf)
        leaf = parents[leaf]
    return found[::-1]
