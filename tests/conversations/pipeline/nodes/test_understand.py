"""The understanding call: how hard replies, silence and failures are handled. The node alone, no database."""

import asyncio
import json
import re
from typing import Any

import pytest
from pytest_django import Settings

from conversations.history import PastTurn
from conversations.pipeline.nodes import understand
from conversations.pipeline.nodes.understand import TERMS_WEIGHT, USUAL_K, Understand
from conversations.pipeline.state import Past, State
from conversations.pipeline.understanding.carry_over import Known
from conversations.prompts import side_calls
from conversations.prompts.defaults import en, zh
from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import BadRequest, LLMError, ProviderError, RateLimited, Unauthorized, Unreachable
from ragsite.llm.types import Endpoint, FinishPiece, TextPiece, ThinkPiece
from retrieval.engine.fulltext import Frequencies
from tests.conversations.conftest import run_node
from tests.conversations.nodes import make_state
from tests.conversations.replies import HARD_PLANS, QUESTION, REWRITE, chat, clarify, plan
from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider

HISTORY = [PastTurn(1, "How many ports has the TL-SE2109 switch?", "It has nine ports [1].")]
UNUSABLE = {"empty", "refusal", "no JSON", "no plan", "cut off"}


pytestmark = pytest.mark.usefixtures("default_prompts", "unknown_words")


@pytest.fixture
def model(fake_llm: FakeLLM) -> FakeLLM:
    fake_llm.serves.add("understand")
    return fake_llm


async def understood(question: str = QUESTION, history: list[PastTurn] | None = None) -> tuple[State, dict[str, Any]]:
    """Run the node; return the state and the trace details."""
    state = make_state(question, past=Past(turns=HISTORY if history is None else history))
    await run_node(Understand(), state)
    assert state.request.question == question
    return state, state.details["understand"]


def texts(state: State) -> list[str]:
    return [query.text for query in state.plan.queries]


class TestReplies:
    """Whatever the model writes, there is a decision, and the trace shows who made it."""

    @pytest.mark.parametrize(("reply", "action"), HARD_PLANS.values(), ids=HARD_PLANS)
    async def test_hard_replies(self, model: FakeLLM, reply: str, action: str) -> None:
        model.enqueue(reply)
        state, detail = await understood()
        assert not model.left and model.closed == 1
        if action in UNUSABLE:
            assert (state.plan.action, detail["by"], detail["fallback"]) == ("retrieve_vector", "rules", action)
            assert texts(state)[0] == QUESTION
        else:
            assert detail["by"] == "model" and "fallback" not in detail
            assert state.plan.action == "retrieve_vector"  # if the model would not search, the search results decide
            assert state.plan.deferred_action == ("" if action == "retrieve_vector" else action)

    async def test_a_good_plan_is_followed(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan()))
        state, detail = await understood()
        assert (state.plan.action, state.plan.intent, state.plan.confidence, state.plan.followup) == (
            "retrieve_vector", "kb_retrieval", 0.9, True,
        )  # fmt: skip
        assert state.plan.rewrite == REWRITE == state.plan.ranking_query == state.plan.retrieval_query
        assert state.plan.rewrite_reason == "understanding"
        assert {REWRITE, QUESTION} <= set(texts(state))
        assert detail["key_terms"] == ["TL-SE2109", "port isolation"] and detail["model"] == "fake-model"

    async def test_the_call_is_made_as_specified(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan()))
        await understood()
        (call,) = model.calls
        system, user = call.messages
        assert '"plan"' in system.content and "retrieve_vector" in system.content
        assert "How many ports has the TL-SE2109 switch?" in user.content and user.content.endswith(QUESTION)

    async def test_the_conversation_is_passed_on_abridged(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan()))
        state = make_state(QUESTION, past=Past(summary="They compare switches."))
        state.past.turns = [PastTurn(1, "Which one has fans?", "None. " + "It is cooled by air. " * 500)]
        await run_node(Understand(), state)
        prompt = model.calls[0].messages[1].content
        assert "They compare switches." in prompt and "None. It is cooled" in prompt and len(prompt) < 2500

    async def test_each_key_term_is_a_query_of_its_own(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan(queries=["VLAN segregation", "TL-SE2109", "the", "tl-se2109?"])))
        state, _detail = await understood()
        assert [(query.text, query.weight) for query in state.plan.queries] == [
            (REWRITE, 1.0), (QUESTION, 0.5), ("VLAN segregation", TERMS_WEIGHT / 2), ("tl-se2109?", TERMS_WEIGHT / 2),
        ]  # fmt: skip

    @pytest.mark.parametrize("count", [1, 3, 5])
    async def test_together_they_weigh_no_more_than_a_single_one(self, model: FakeLLM, count: int) -> None:
        found = ["VLAN", "isolation", "port", "switch", "TL-SE2109"][:count]
        model.enqueue(json.dumps(plan(queries=found)))
        state, _detail = await understood()
        weights = [query.weight for query in state.plan.queries if query.text in found]
        assert len(weights) == count and sum(weights) == pytest.approx(TERMS_WEIGHT)

    async def test_a_key_term_that_is_a_query_already_is_not_added(self, model: FakeLLM) -> None:
        question = "warranty of the TL-SE2109"
        model.enqueue(json.dumps(plan(queries=["TL-SE2109 warranty"], rewrite="", followup=False)))
        state, _detail = await understood(question, [])
        assert texts(state) == [question]

    async def test_a_first_question_is_also_searched_as_rewritten(self, model: FakeLLM) -> None:
        question = "hi, um, I wanted to ask, our fan is broken, what does the guarantee say"
        rewrite = "What does the guarantee say about a broken fan?"
        model.enqueue(json.dumps(plan(queries=[], rewrite=rewrite, followup=False)))
        state, _detail = await understood(question, [])
        assert [(query.text, query.weight) for query in state.plan.queries] == [(rewrite, 1.0), (question, 0.5)]
        assert (state.plan.rewrite, state.plan.rewrite_reason) == (rewrite, "understanding")
        assert state.plan.ranking_query == state.plan.retrieval_query == rewrite

    async def test_one_without_a_rewrite_is_searched_as_it_is(self, model: FakeLLM) -> None:
        question = "What is the warranty of the rack mounting kit?"
        for rewrite in ("", question, "What is the warranty of the TL-SE2109 kit?"):
            model.enqueue(json.dumps(plan(queries=[], rewrite=rewrite)))
            state, _detail = await understood(question, [])
            assert texts(state) == [question] and not state.plan.rewrite

    async def test_a_question_that_stands_alone_is_not_mixed_with_the_conversation(self, model: FakeLLM) -> None:
        question = "Which power supplies fit?"
        model.enqueue(json.dumps(plan(queries=[], followup=False)))
        state, _detail = await understood(question)
        assert texts(state) == [question] == [state.plan.ranking_query] and not state.plan.rewrite
        model.enqueue(json.dumps(plan(queries=[], followup=None, rewrite="")))
        state, _detail = await understood("Power supplies?")  # if the model doesn't say, the rules decide
        assert len(texts(state)) == 2 and "Power supplies?" in texts(state)

    async def test_a_question_that_refers_back_or_an_unsure_model_is_not_independent(self, model: FakeLLM) -> None:
        for question, changed in (
            ("Does it fit?", {}),
            ("Power supplies?", {"confidence": 0.4}),
        ):
            model.enqueue(json.dumps(plan(queries=[], followup=False, rewrite="", **changed)))
            state, _detail = await understood(question)
            assert texts(state) != [question] and state.plan.queries

    @pytest.mark.parametrize(
        ("k", "given"), [(1, 1), (3, 3), (5, 5), (6, None), (8, 8), (500, 10), (0, None), ("nine", None)]
    )
    async def test_a_plan_sets_the_number_of_passages(self, model: FakeLLM, k: Any, given: int | None) -> None:
        model.enqueue(json.dumps(plan(plan={"action": "retrieve_vector", "args": {"k": k}})))
        assert (await understood())[0].plan.k == given

    @pytest.mark.parametrize(("usual", "k", "given"), [(2, 4, 2), (8, 7, 8), (8, 4, 4), (12, 500, 12)])
    async def test_the_number_stays_within_the_sites_settings(
        self, model: FakeLLM, settings: Settings, usual: int, k: int, given: int
    ) -> None:
        settings.ANSWER_TOP_K = usual
        model.enqueue(json.dumps(plan(plan={"action": "retrieve_vector", "args": {"k": k}})))
        assert (await understood())[0].plan.k == given

    async def test_a_contradiction_is_noted(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan(intent="chat")))
        state, detail = await understood()
        assert state.plan.action == "retrieve_vector" and not state.plan.deferred_action
        assert detail["notes"] == ["contradiction"]


class TestNotSearching:
    """A model that would not search is not simply followed."""

    async def test_an_unsure_one_is_not_followed(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(chat(confidence=0.4)))
        state, detail = await understood()
        assert (state.plan.action, state.plan.deferred_action, detail["notes"]) == ("retrieve_vector", "", ["unsure"])

    @pytest.mark.parametrize("question", ["Make that shorter, please.", "I had a long day at work", "给我讲个笑话吧"])
    async def test_a_sure_one_is_followed_if_nothing_is_asked(self, model: FakeLLM, question: str) -> None:
        model.enqueue(json.dumps(chat(confidence=0.8)))
        state, detail = await understood(question)
        assert (state.plan.action, state.plan.intent, state.plan.deferred_action) == (
            "answer_chat",
            "chat",
            "",
        ) and not state.plan.queries
        assert (detail["action"], detail["by"]) == ("answer_chat", "model")

    @pytest.mark.parametrize(
        ("question", "confidence"), [("Make that shorter, please.", 0.7), ("Tell me the guarantee of the fan.", 0.95)]
    )
    async def test_otherwise_the_search_decides(self, model: FakeLLM, question: str, confidence: float) -> None:
        model.enqueue(json.dumps(chat(confidence=confidence)))
        state, detail = await understood(question)
        assert (state.plan.action, state.plan.deferred_action, detail["deferred_action"]) == (
            "retrieve_vector",
            "answer_chat",
            "answer_chat",
        )
        assert state.plan.queries

    async def test_a_first_question_that_refers_to_nothing_needs_clarification(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(clarify()))
        state, _detail = await understood("How long does it take?", [])
        assert (state.plan.action, state.plan.deferred_action, state.plan.queries) == ("clarify", "", [])

    @pytest.mark.parametrize(
        ("reply", "action", "queries"),
        [
            (json.dumps(plan(rewrite="", queries=[])), "retrieve_vector", ["How long does it take?"]),
            ("?", "clarify", []),
        ],
    )
    async def test_a_model_may_search_although_the_rules_would_ask_for_clarification(
        self, model: FakeLLM, reply: str, action: str, queries: list[str]
    ) -> None:
        model.enqueue(reply)
        state, _detail = await understood("How long does it take?", [])
        assert (state.plan.action, [query.text for query in state.plan.queries]) == (action, queries)

    @pytest.mark.parametrize(
        ("question", "action"), [("Hello!", "answer_chat"), ("谢谢", "answer_chat"), ("???", "clarify")]
    )
    async def test_no_model_is_asked_if_the_rules_are_certain(self, model: FakeLLM, question: str, action: str) -> None:
        state, detail = await understood(question, [])
        assert state.plan.action == action and detail["by"] == "rules" and not model.calls


class TestTranslations:
    """Documents in another language than the question."""

    @pytest.fixture
    def chinese(self, unknown_words: None, monkeypatch: pytest.MonkeyPatch) -> None:
        async def known(state: State) -> Known:
            return Known(Frequencies(0, {}), languages=frozenset({"zh", "en"}))

        monkeypatch.setattr(understand, "known_words", known)

    @pytest.mark.usefixtures("chinese")
    async def test_the_question_is_searched_in_their_language_too(self, model: FakeLLM) -> None:
        translated = "TL-SE2109 的端口隔离如何配置？"
        model.enqueue(json.dumps(plan(translations={"zh": translated}, queries=["交换机"])))
        state, detail = await understood()
        system = model.calls[0].messages[0].content
        assert '"translations": {"zh"' in system and system.startswith("You decide how a site")
        assert state.plan.translations == detail["translations"] == {"zh": translated}
        assert [(query.text, query.weight) for query in state.plan.queries] == [
            (REWRITE, 1.0), (QUESTION, 0.5), (translated, 1.0), ("交换机", TERMS_WEIGHT),
        ]  # fmt: skip
        assert state.plan.ranking_query == REWRITE

    @pytest.mark.usefixtures("chinese")
    async def test_a_chinese_question_is_translated_into_english(self, model: FakeLLM) -> None:
        english = "How long is the warranty of the fan?"
        model.enqueue(json.dumps(plan(queries=[], rewrite="", translations={"en": english}, followup=False)))
        state, _detail = await understood("风扇的保修期是多久？", [])
        assert '"translations": {"en"' in model.calls[0].messages[0].content
        assert texts(state) == ["风扇的保修期是多久？", english]

    @pytest.mark.usefixtures("chinese")
    async def test_a_reply_without_translations_is_usable(self, model: FakeLLM) -> None:
        model.enqueue(json.dumps(plan(queries=[])))
        state, _detail = await understood()
        assert texts(state) == [REWRITE, QUESTION] and not state.plan.translations

    async def test_no_translation_is_asked_for_if_all_documents_are_in_the_questions_language(
        self, model: FakeLLM
    ) -> None:
        model.enqueue(json.dumps(plan(queries=[], translations={"zh": "端口隔离如何配置？"})))
        state, _detail = await understood()
        assert "translations" not in model.calls[0].messages[0].content
        assert texts(state) == [REWRITE, QUESTION] and not state.plan.translations


class TestFailures:
    """After silence and errors, the rules decide."""

    @pytest.mark.parametrize(
        "error",
        [ProviderError("boom"), RateLimited("slow down"), Unauthorized("no"), BadRequest("bad"), Unreachable("gone")],
    )
    async def test_errors(self, model: FakeLLM, error: LLMError) -> None:
        model.enqueue(error)
        state, detail = await understood()
        assert (state.plan.action, detail["by"], detail["fallback"]) == ("retrieve_vector", "rules", "failed")
        assert detail["fallback_detail"] and model.closed == 1

    async def test_a_reply_that_is_cut_off(self, model: FakeLLM) -> None:
        model.enqueue([TextPiece('{"intent": "chat"'), ProviderError("boom")])
        _state, detail = await understood()
        assert detail["fallback"] == "failed"

    async def test_a_silent_model_takes_no_longer_than_the_timeout(self, model: FakeLLM, settings: Settings) -> None:
        settings.UNDERSTAND_TIMEOUT = 0.1
        model.enqueue([30.0, TextPiece(json.dumps(chat()))])
        async with asyncio.timeout(20):
            state, detail = await understood()
        assert (state.plan.action, detail["by"], detail["fallback"]) == ("retrieve_vector", "rules", "timed out")
        assert "0.1 s" in detail["fallback_detail"]
        assert model.stopped == 1 and model.closed == 1

    async def test_a_silent_model_is_not_asked_for_a_while(
        self, model: FakeLLM, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.UNDERSTAND_TIMEOUT = 0.1
        model.enqueue([30.0])
        await understood()
        _state, detail = await understood()
        assert detail["fallback"] == "paused" and len(model.calls) == 1
        monkeypatch.setattr(side_calls, "PAUSE", 0.0)
        side_calls.forget_slow_models()
        model.enqueue([30.0], json.dumps(plan()))
        await understood()
        assert (await understood())[1]["by"] == "model"

    async def test_without_a_model_no_fallback_is_noted(self, fake_llm: FakeLLM) -> None:
        _state, detail = await understood()
        assert detail["by"] == "rules" and "fallback" not in detail and not fake_llm.calls

    async def test_it_can_be_switched_off(self, model: FakeLLM, settings: Settings) -> None:
        settings.ENABLE_UNDERSTANDING = False
        assert (await understood())[1]["by"] == "rules" and not model.calls

    async def test_a_hanging_list_of_models(self, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
        async def client_for(purpose: str) -> None:
            await asyncio.sleep(30)

        monkeypatch.setattr("conversations.prompts.endpoints.client_for", client_for)
        settings.UNDERSTAND_TIMEOUT = 0.1
        assert (await understood())[1]["fallback"] == "timed out"


class TestThinking:
    """Models that think before they answer."""

    async def test_its_thoughts_are_ignored(self, model: FakeLLM) -> None:
        model.enqueue([ThinkPiece(json.dumps(chat())), TextPiece(json.dumps(plan()))])
        state, _detail = await understood()
        assert state.plan.intent == "kb_retrieval"

    @pytest.mark.parametrize(
        "spent",
        [
            [ThinkPiece("Let me see, "), FinishPiece("length")],
            [ThinkPiece("Let me see, "), TextPiece('{"inte'), FinishPiece("length")],
            [FinishPiece("length")],
        ],
    )
    async def test_one_that_spends_its_tokens_on_thinking_gets_more_and_keeps_them(
        self, model: FakeLLM, spent: list[Any]
    ) -> None:
        model.enqueue(spent, json.dumps(plan()), json.dumps(plan()))
        assert (await understood())[1]["by"] == "model"
        assert (await understood())[1]["by"] == "model"
        limits = [call.max_tokens or model.endpoint.max_tokens for call in model.calls]
        assert limits[0] < limits[1] == limits[2]

    async def test_one_that_only_thinks(self, model: FakeLLM) -> None:
        model.enqueue([ThinkPiece("Hm."), FinishPiece("length")], [ThinkPiece("Hm."), FinishPiece("length")])
        assert (await understood())[1]["fallback"] == "empty"
        assert len(model.calls) == 2


class TestProvider:
    """The same through a real connection."""

    @pytest.fixture
    def served(self, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
        async def client_for(purpose: str) -> ChatClient:
            return ChatClient(Endpoint(provider.base_url, model="fake-model", max_tokens=64), pause=0.01)

        monkeypatch.setattr("conversations.prompts.endpoints.client_for", client_for)
        return provider

    async def test_a_plan_by_itself(self, served: FakeProvider) -> None:
        state, detail = await understood()
        assert detail["by"] == "model" and state.plan.confidence == 0.9
        assert served.requests[0]["stream"] and served.paths == ["/v1/chat/completions"]

    @pytest.mark.parametrize("style", ["openai", "deepseek", "ollama"])
    async def test_a_fenced_one_after_thinking(self, served: FakeProvider, style: Any) -> None:
        served.reply(
            f"```json\n{json.dumps(plan())}\n```\nDone.", json.dumps(chat()), style=style, purpose="understand"
        )
        state, _detail = await understood()
        assert state.plan.rewrite == REWRITE

    async def test_tokens_spent_on_thinking(self, served: FakeProvider) -> None:
        served.reply("", "Let me think about it", finish="length", purpose="understand")
        served.reply(json.dumps(plan()), purpose="understand")
        assert (await understood())[1]["by"] == "model"
        assert [request["max_tokens"] for request in served.requests] == [64, 64 + side_calls.THINKING_ROOM]

    async def test_silence_ends_the_request(self, served: FakeProvider, settings: Settings) -> None:
        settings.UNDERSTAND_TIMEOUT = 0.3
        served.reply(json.dumps(plan()), first_delay=30.0, purpose="understand")
        async with asyncio.timeout(20):
            _state, detail = await understood()
        assert detail["fallback"] == "timed out"
        assert await asyncio.to_thread(served.wait_for_disconnect)

    async def test_an_endless_slow_reply_is_limited_too(self, served: FakeProvider, settings: Settings) -> None:
        settings.UNDERSTAND_TIMEOUT = 0.3
        served.reply(json.dumps(plan()), delay=0.2, purpose="understand")
        async with asyncio.timeout(20):
            assert (await understood())[1]["fallback"] == "timed out"

    async def test_an_overloaded_server(self, served: FakeProvider, settings: Settings) -> None:
        settings.UNDERSTAND_TIMEOUT = 30
        for _ in range(3):
            served._scripts.append(_overloaded())
        state, detail = await understood()
        assert detail["fallback"] == "failed" and re.search("busy", detail["fallback_detail"])
        assert texts(state)[0] == QUESTION

    async def test_no_endpoint_for_chat(self, served: FakeProvider) -> None:
        served.missing_paths.add("/v1/chat/completions")
        served.reply(f"{json.dumps(plan())}\nUser: another\n", purpose="")
        state, _detail = await understood()
        assert state.plan.rewrite == REWRITE and served.paths[-1] == "/v1/completions"


def _overloaded() -> Any:
    from tests.fakes.provider import Script

    return Script(status=429, body=b'{"error": {"message": "too many"}}', purpose="understand")


@pytest.mark.parametrize("prompt", [en.UNDERSTAND, zh.UNDERSTAND])
def test_the_prompt_names_the_usual_number_of_passages(prompt: str) -> None:
    assert f'"k": {USUAL_K}}}' in prompt
    assert re.search(rf'"args\.k"\D+{USUAL_K}\D', prompt)
