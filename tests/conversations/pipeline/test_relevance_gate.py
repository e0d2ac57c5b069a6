"""What an answer from some passages would be: answered, nearest or nothing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.pipeline.relevance_gate import Judgement, judge, judge_result, similarity
from conversations.pipeline.understanding.question_terms import coverage, question_words
from knowledge.models import KnowledgeBase
from retrieval.engine.analysis import terms
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.fusion import Query, Ranking
from retrieval.search import Hit, SearchRequest, search


def hit(content: str, heading: str = "", filename: str = "manual.pdf") -> Hit:
    return Hit(1, 1, 1, content, "text", filename, heading, None, 1.0, [])


def judged(question: str, hits: Sequence[Hit], nearest: float | None, size: int = 10_000) -> Judgement:
    """Judge as in a base of so many passages, of which those that hold a term are one in a hundred."""
    held = {term for each in hits for term in terms(f"{each.heading} {each.content}")}
    holding = {term: size // 100 if term in held else 0 for term in terms(question)}
    return judge(question, hits, Frequencies(size, holding), nearest)


RESET = hit("Hold the reset button for ten seconds to restore the factory settings of the switch.", "Factory settings")
ZH_RESET = hit("长按复位键十秒可恢复交换机的出厂设置。", "出厂设置")


def test_passages_that_hold_what_is_asked_answer() -> None:
    assert judged("How do I restore the factory settings?", [RESET], 0.6).state == "answered"
    assert judged("怎么恢复交换机的出厂设置？", [ZH_RESET], None).state == "answered"


def test_passages_about_something_else_are_nothing() -> None:
    assert judged("What is the capital of France?", [RESET], 0.2).state == "nothing"
    assert judged("法国的首都是哪里？", [ZH_RESET], None).state == "nothing"
    assert judged("What is the capital of France?", [], None).state == "nothing"


def test_a_name_that_no_passage_holds_makes_them_the_closest() -> None:
    judgement = judged("Can I restore the factory settings of the switch with Plivo?", [RESET], 0.55)
    assert (judgement.state, judgement.evidence.missing_names) == ("nearest", ("Plivo",))


def test_a_thing_of_the_kind_that_is_asked_for_must_stand_near() -> None:
    price = hit("The reset button is at the back. Spare parts cost 12 EUR.")
    near = judged("How much does the reset button cost?", [price], 0.5).evidence.near_thing
    none = judged("How much does the reset button cost?", [RESET], 0.5).evidence.near_thing
    assert near > 0.3 and none == 0.0
    assert judged("How do I restore the factory settings?", [RESET], 0.5).evidence.near_thing == 1.0


def test_among_more_passages_more_is_asked_of_the_nearest() -> None:
    small, large = (judged("Is there a lamp on the switch?", [RESET], 0.3, size) for size in (50, 50_000))
    assert small.evidence.relevance > large.evidence.relevance


def test_a_passage_that_holds_the_whole_question_speaks_of_it_however_far_in_meaning() -> None:
    row = hit("Article | Price (EUR) Spare fan of the steel case | 29")
    assert judged("How much is a spare fan of a steel case?", [row], 0.1, 50_000).state == "answered"
    assert judged("How much is a spare lamp of a steel case?", [row], 0.1, 50_000).state == "nothing"
    assert judged("Is there a fan?", [row], 0.1, 50_000).state == "nothing"  # one word is there by chance


def test_a_table_that_holds_most_of_the_question_speaks_of_it() -> None:
    row = "Name | Age | Date of death\nDavid Bowie | 69 | 2016-01-10\nCarrie Fisher | 60 | 2016-12-27"
    table, rare = replace(hit(row), kind="table"), {"david": 20, "bowi": 5}
    die = Frequencies(10_000, rare | {"die": 500})
    assert judge("When did David Bowie die?", [table], die, 0.26).state == "answered"
    assert judge("When did David Bowie die?", [hit(row)], die, 0.26).state == "nothing"
    albums = Frequencies(10_000, rare | {"album": 9, "record": 90})
    assert judge("Which albums did David Bowie record?", [table], albums, 0.26).state == "nothing"


def test_thresholds_are_settings(settings: Settings) -> None:
    settings.ANSWER_THRESHOLD = 100.0
    assert judged("How do I restore the factory settings?", [RESET], 0.6).state == "nearest"
    settings.RELEVANCE_THRESHOLD = 100.0
    assert judged("How do I restore the factory settings?", [RESET], 0.6).state == "nothing"


def test_words_weigh_by_their_rarity_and_count_in_parts() -> None:
    asked = question_words(
        "Which pg_basebackup option sets the speed?", Frequencies(1000, {"option": 500, "speed": 10})
    )
    whole, part, common = ({"pg_basebackup"}, {"basebackup"}, {"option"})
    assert coverage(asked, whole) > coverage(asked, part) > coverage(asked, common) > 0
    assert coverage((), whole) == 0.0


def test_chinese_words_that_name_nothing_weigh_less() -> None:
    weights = {word.text: word.weight for word in question_words("交换机恢复", Frequencies(1000, {}))}
    assert weights["恢复"] < weights["交换机"]


def test_parts_of_a_chinese_word_that_only_its_cut_made_do_not_count() -> None:
    (word,) = question_words("加班费", Frequencies(1000, {"加班": 5}))
    assert "班费" not in word.rarity and word.held_by({"加班"}) > question_words("加班费", Frequencies(1000, {}))[
        0
    ].held_by({"加班"})
    both = question_words("加班费", Frequencies(1000, {"加班": 5, "班费": 5}))[0]
    assert {"加班", "班费"} <= set(both.rarity)


def test_the_nearest_of_the_wordings_counts_where_the_model_knows_the_language() -> None:
    def ranking(text: str, score: float, understood: float = 1.0) -> Ranking:
        return Ranking("vector", Query(text), 1.0, [(1, score)], 1.0, understood=understood)

    rankings = [ranking("a", 0.3), ranking("b", 0.6), ranking("c", 0.9, understood=0.2)]
    assert similarity(rankings, {"a"}) == 0.3
    assert similarity(rankings, {"a", "b"}) == 0.6
    assert similarity(rankings, {"c"}) is None


@pytest.mark.django_db(transaction=True)
async def test_what_an_evaluation_found_is_judged_alike(owner: User, handbook: KnowledgeBase) -> None:
    async def state(question: str) -> str:
        request = SearchRequest((Query(question),), (handbook.pk,), k=5)
        return await judge_result(question, request, await search(request))

    assert await state("How do I restore the factory settings?") == "answered"
    assert await state("Who painted the Mona Lisa?") == "nothing"
