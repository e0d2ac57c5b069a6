"""The relevance gate: judging hits, and the consequences. The node alone, no database."""

import pytest
from pytest_django import Settings

from conversations.pipeline.nodes import relevance_gate
from conversations.pipeline.nodes.relevance_gate import RelevanceGate
from conversations.pipeline.state import Found, Plan, State
from retrieval.ranking.fusion import Query, Ranking
from retrieval.search import Hit
from tests.conversations.conftest import run_node
from tests.conversations.nodes import make_state

CHINESE = frozenset({"zh"})
SWITCH = "The TL-SE2109 switch has nine ports and a power supply of twelve volts."


def hit(content: str = SWITCH, **fields: str) -> Hit:
    return Hit(1, 1, 1, content, "text", fields.get("filename", "a.txt"), fields.get("heading", ""), None, 1.0, [])


def rankings(near: float | None = None, text: str = "q", unknown: frozenset[str] = frozenset()) -> list[Ranking]:
    """Return the rankings of both retrievers: a nearest passage, if any, and one by words."""
    query = Query(text)
    return [
        Ranking("vector", query, 1.0, [] if near is None else [(1, near), (2, 0.0)], 1.0, unknown=unknown),
        Ranking("bm25", query, 1.0, [(1, 30.0)], 1.0),
    ]


async def looked(
    question: str,
    near: float | None,
    deferred_action: str = "",
    joined: float | None = None,
    contents: tuple[str, ...] = (),
    unknown: frozenset[str] = frozenset(),
) -> State:
    hits = [hit(content) for content in contents or (SWITCH,)]
    state = make_state(question, found=Found(hits=hits), plan=Plan(deferred_action=deferred_action))
    state.plan.ranking_query = f"How many ports has it?\n{question}"
    state.found.rankings = [*rankings(near, question, unknown), *rankings(joined, state.plan.ranking_query, unknown)]
    if RelevanceGate().wanted(state):
        await run_node(RelevanceGate(), state)
    return state


@pytest.mark.parametrize(
    ("question", "near", "kept"),
    [
        ("How many ports has the TL-SE2109?", 3.2, True),
        ("How many ports has the TL-SE2109?", 0.2, True),  # its words occur
        ("How many sockets are there on it?", 1.8, True),  # its similarity is high
        ("Who won the world cup in 2018?", 0.4, False),
        ("Who won the world cup in 2018?", None, False),
        ("Who won twelve cups?", None, True),  # no similarity is known, but a word is there
    ],
)
async def test_unrelated_hits_are_dropped(question: str, near: float, kept: bool) -> None:
    state = await looked(question, near)
    assert (bool(state.found.hits), state.plan.action) == (kept, "retrieve_vector")
    assert (state.found.answer_state != "nothing") is kept
    assert state.details["relevance_gate"]["state"] == state.found.answer_state


async def test_words_of_the_conversation_prove_nothing_for_an_independent_question() -> None:
    assert not (await looked("Who painted the Mona Lisa?", 0.2, joined=3.7)).found.hits
    assert (await looked("How long does it take?", 0.2, joined=3.7)).found.hits


async def test_a_rewritten_question_counts_too() -> None:
    state = make_state("Who painted the Mona Lisa?", found=Found(hits=[hit()]))
    state.plan.rewrite, state.found.rankings = (
        "Which ports?",
        [*rankings(0.2, state.request.question), *rankings(2.8, "Which ports?")],
    )
    await run_node(RelevanceGate(), state)
    assert state.found.hits


async def test_it_can_be_switched_off(settings: Settings) -> None:
    settings.RELEVANCE_THRESHOLD = -100.0
    assert (await looked("Who won the world cup in 2018?", -0.1)).found.hits
    assert (await looked("世界杯冠军是谁？", None)).found.hits


class TestAnotherLanguage:
    """Passages in a language that the embedding model doesn't know: only a language model may find an answer there."""

    FOREIGN = (
        ("How long is the warranty?", ("保修期为三年。", "端口隔离默认关闭。"), True),
        ("保修期多久？", ("The warranty lasts three years.",), True),
        ("Who won the world cup in 2018?", (SWITCH, SWITCH, "端口隔离默认关闭。"), False),
    )

    @pytest.fixture(autouse=True)
    def model(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        async def endpoint_for(purpose: str) -> object | None:
            return getattr(request, "param", "a model")

        monkeypatch.setattr(relevance_gate, "endpoint_for", endpoint_for)

    @pytest.mark.parametrize(("question", "contents", "kept"), FOREIGN)
    async def test_with_a_model_they_stay_as_the_closest(
        self, question: str, contents: tuple[str, ...], kept: bool
    ) -> None:
        state = await looked(question, 0.05 if question.isascii() else None, contents=contents, unknown=CHINESE)
        assert (state.found.answer_state, bool(state.found.hits)) == ("nearest" if kept else "nothing", kept)

    @pytest.mark.parametrize("model", [None], indirect=True)
    @pytest.mark.parametrize(("question", "contents", "_kept"), FOREIGN)
    async def test_without_a_model_they_are_dropped(
        self, question: str, contents: tuple[str, ...], _kept: bool
    ) -> None:
        state = await looked(question, 0.05 if question.isascii() else None, contents=contents, unknown=CHINESE)
        assert (state.found.hits, state.found.answer_state) == ([], "nothing")

    async def test_a_language_that_the_model_knows_is_judged_like_the_questions_own(self) -> None:
        assert not (await looked("How long is the warranty?", 0.0, contents=("保修期为三年。",))).found.hits

    async def test_a_question_for_facts_is_not_left_to_a_chat(self) -> None:
        contents = ("保修期为三年。",)
        assert (
            await looked("How long is the warranty?", 0.05, "answer_chat", contents=contents, unknown=CHINESE)
        ).found.hits
        state = await looked("Tell me a joke.", 0.05, "answer_chat", contents=contents, unknown=CHINESE)
        assert (state.plan.action, state.found.hits) == ("answer_chat", [])


class TestOtherPlans:
    """A model that would rather chat or ask for clarification."""

    @pytest.mark.parametrize(
        ("question", "near"),
        [
            ("How many ports has the TL-SE2109?", 2.8),
            ("How many ports has the TL-SE2109?", 1.2),  # by its words
            ("And its power supply?", 2.8),
            ("How is it fed with electricity?", 2.8),  # by its meaning
        ],
    )
    @pytest.mark.parametrize("deferred_action", ["answer_chat", "clarify"])
    async def test_it_searches_if_the_documents_cover_the_question(
        self, question: str, near: float, deferred_action: str
    ) -> None:
        state = await looked(question, near, deferred_action)
        assert (state.plan.action, bool(state.found.hits)) == ("retrieve_vector", True)

    @pytest.mark.parametrize("question", ["Tell me a joke.", "Make that shorter, please.", "Recommend me a film."])
    async def test_it_chats_if_they_do_not(self, question: str) -> None:
        state = await looked(question, 0.1, "answer_chat")
        assert (state.plan.action, state.found.hits) == ("answer_chat", [])

    async def test_little_similarity_is_not_enough(self) -> None:
        assert (await looked("Translate that into French.", 1.4, "answer_chat")).plan.action == "answer_chat"

    async def test_hits_for_the_conversation_alone_prove_nothing(self) -> None:
        state = await looked("Say that more tersely, please.", 0.2, "answer_chat", joined=3.7)
        assert state.plan.action == "answer_chat"

    @pytest.mark.parametrize("question", ["What did I ask before?", "How did you find that out?", "我刚才问了什么？"])
    async def test_a_question_about_the_conversation_is_chat(self, question: str) -> None:
        assert (await looked(question, 0.1, "answer_chat")).plan.action == "answer_chat"

    async def test_a_question_about_what_was_said_is_chat(self) -> None:
        assert (await looked("What does that mean?", 0.1, "answer_chat")).plan.action == "answer_chat"

    async def test_a_question_for_facts_continues_without_hits(self) -> None:
        state = await looked("Who won the world cup in 2018?", 0.1, "answer_chat")
        assert (state.plan.action, state.found.hits) == ("retrieve_vector", [])

    @pytest.mark.parametrize("question", ["What about the thing we saw?", "Which colour has the sky?"])
    async def test_it_asks_for_clarification_if_they_do_not(self, question: str) -> None:
        state = await looked(question, 0.7, "clarify")
        assert (state.plan.action, state.found.hits) == ("clarify", [])

    async def test_it_is_followed_if_nothing_is_found(self) -> None:
        state = make_state("Tell me a joke.", plan=Plan(deferred_action="answer_chat"))
        assert RelevanceGate().wanted(state)
        await run_node(RelevanceGate(), state)
        assert state.plan.action == "answer_chat"
