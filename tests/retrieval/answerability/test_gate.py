"""The relevance gate: answered, nearest or nothing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.llm.reranking.reader import Reading
from retrieval.answerability.gate import Judgement, judge, judge_result, similarity
from retrieval.answerability.question_weights import coverage, weigh_words
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.fusion import Query, Ranking
from retrieval.search import Hit, SearchRequest, search
from tests import factories


def hit(content: str, heading: str = "", filename: str = "manual.pdf") -> Hit:
    return Hit(1, 1, 1, content, "text", filename, heading, None, 1.0, [])


def judged(question: str, hits: Sequence[Hit], nearest: float | None, size: int = 10_000) -> Judgement:
    """Judge hits as in a base where one passage in a hundred contains each term."""
    held = {term for each in hits for term in terms(f"{each.heading} {each.content}")}
    holding = {term: size // 100 if term in held else 0 for term in terms(question)}
    return judge(question, hits, Frequencies(size, holding), nearest)


RESET = hit("Hold the reset button for ten seconds to restore the factory settings of the switch.", "Factory settings")
ZH_RESET = hit("长按复位键十秒可恢复交换机的出厂设置。", "出厂设置")


def read(answers: float, related: float = 3.0, each: Hit = RESET) -> Hit:
    return replace(each, reading=Reading(1.0, answers, related))


def test_reader_scores_decide() -> None:
    question = "What must I press to get it as it came from the works?"
    assert judged(question, [read(-4.0), read(1.0)], 2.0).state == "answered"
    assert judged(question, [read(-4.0), read(-1.0)], 2.0).state == "nearest"
    assert judged(question, [read(-4.0, -4.0), read(-4.5, -5.0)], 0.5).state == "nothing"
    # Words that are all there prove nothing beside it.
    assert judged("How do I restore the factory settings?", [read(-1.0)], 3.0).state == "nearest"
    # Nor need the meaning be known.
    assert judged(question, [read(1.0)], None).state == "answered"
    assert judged(question, [read(-4.5, -4.5)], None).state == "nothing"


@pytest.mark.parametrize(
    ("question", "each", "state"),
    [
        ("the factory settings", RESET, "answered"),
        ("出厂设置", ZH_RESET, "answered"),
        ("factory lighting", RESET, "nearest"),  # not the section's name
        ("Who changed the factory settings?", RESET, "nearest"),  # more than the topic
        ("谁改了出厂设置", ZH_RESET, "nearest"),
    ],
)
def test_a_section_named_like_the_topic_answers_a_request_for_it(question: str, each: Hit, state: str) -> None:
    assert judged(question, [read(-4.0, each=each)], 2.0).state == state


def test_only_the_ten_best_read_passages_count() -> None:
    question, others = "What must I press?", [replace(read(-4.0), worth=2.0)] * 10
    assert judged(question, [replace(read(1.0), worth=1.0), *others], 2.0).state == "nearest"
    assert judged(question, [replace(read(1.0), worth=3.0), *others], 2.0).state == "answered"


def test_dissimilar_passages_need_stronger_evidence() -> None:
    assert judged("怎么恢复出厂设置？", [read(0.3)], 0.8).state == "nearest"
    assert judged("怎么恢复出厂设置？", [read(0.3)], 2.0).state == "answered"
    assert judged("怎么恢复出厂设置？", [read(0.3)], None).state == "answered"


def test_unread_passages_that_contain_the_words_answer() -> None:
    assert judged("How do I restore the factory settings?", [RESET], 2.7).state == "answered"
    assert judged("怎么恢复交换机的出厂设置？", [ZH_RESET], None).state == "answered"


def test_passages_about_something_else_are_nothing() -> None:
    assert judged("What is the capital of France?", [RESET], 0.7).state == "nothing"
    assert judged("法国的首都是哪里？", [ZH_RESET], None).state == "nothing"
    assert judged("What is the capital of France?", [], None).state == "nothing"


def test_the_trace_has_the_evidence_and_both_sums() -> None:
    trace = judged("How do I restore the factory settings?", [read(2.0)], 2.7).to_dict()
    assert trace["state"] == "answered" and trace["answers"] == 2.0 and trace["related"] == 3.0
    assert trace["similarity"] == 2.7 and trace["words"] == 3 and trace["covered"] == 1.0
    relevance = -1.6 + 1.15 * 2.7 + 0.46 * 3.0 + 0.2 * 2.0
    answering = -0.8 + 0.4 * 2.7 + 2.0
    assert (trace["relevance"], trace["answering"]) == pytest.approx((relevance, answering), abs=1e-3)


def test_thresholds_are_settings(settings: Settings) -> None:
    settings.ANSWER_THRESHOLD = 100.0
    assert judged("How do I restore the factory settings?", [RESET], 2.7).state == "nearest"
    settings.RELEVANCE_THRESHOLD = 100.0
    assert judged("How do I restore the factory settings?", [RESET], 2.7).state == "nothing"


def test_words_are_weighted_by_rarity_and_parts_count() -> None:
    asked = weigh_words("Which pg_basebackup option sets the speed?", Frequencies(1000, {"option": 500, "speed": 10}))
    whole, part, common = ({"pg_basebackup"}, {"basebackup"}, {"option"})
    assert coverage(asked, whole) > coverage(asked, part) > coverage(asked, common) > 0
    assert coverage((), whole) == 0.0


def test_chinese_function_words_weigh_less() -> None:
    weights = {word.text: word.weight for word in weigh_words("交换机恢复", Frequencies(1000, {}))}
    assert weights["恢复"] < weights["交换机"]


def test_overlapping_parts_of_a_chinese_word_do_not_count() -> None:
    (word,) = weigh_words("加班费", Frequencies(1000, {"加班": 5}))
    assert "班费" not in word.rarity and word.held_by({"加班"}) > weigh_words("加班费", Frequencies(1000, {}))[
        0
    ].held_by({"加班"})
    both = weigh_words("加班费", Frequencies(1000, {"加班": 5, "班费": 5}))[0]
    assert {"加班", "班费"} <= set(both.rarity)


def test_the_best_similarity_of_a_known_language_counts() -> None:
    def ranking(text: str, score: float) -> Ranking:
        return Ranking("vector", Query(text), 1.0, [(1, score)], 1.0, unknown=frozenset({"zh"}))

    rankings = [ranking("one", 0.3), ranking("two", 0.6), ranking("三", 0.9)]
    assert similarity(rankings, {"one"}) == 0.3
    assert similarity(rankings, {"one", "two"}) == 0.6
    assert similarity(rankings, {"三"}) is None


@pytest.mark.django_db(transaction=True)
async def test_evaluation_results_are_judged_the_same(owner: User) -> None:
    handbook = await in_database(_handbook, owner)

    async def state(question: str) -> str:
        request = SearchRequest((Query(question),), (handbook.pk,), k=5)
        return await judge_result(question, request, await search(request))

    assert await state("How do I restore the factory settings?") == "answered"
    assert await state("Who painted the Mona Lisa?") == "nothing"


def _handbook(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Handbook")
    document = factories.make_document(base, "handbook.txt")
    passages = "The switch has nine ports.", "Hold the button for ten seconds to restore the factory settings."
    factories.make_chunks(document, passages)
    factories.index_document(document.pk)
    return base
