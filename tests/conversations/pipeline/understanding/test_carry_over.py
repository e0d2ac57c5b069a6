"""Passages that connect a question to the conversation before it, and the words carried over."""

import pytest

from conversations.pipeline.understanding.carry_over import CARRIED, DECISIVE, Known, agreement, joint_query, needed
from conversations.pipeline.understanding.scope import look_up
from knowledge.models import KnowledgeBase
from ragsite.language.content_words import content_terms
from retrieval.engine.fulltext import Frequencies
from tests.conversations.conftest import index_document

HELD = {term: 5 for text in ("warranty period", "rack kit") for term in content_terms(text)}


def known(*passages: str, held: dict[str, int] = HELD) -> Known:
    return Known(Frequencies(1000, held), [set(content_terms(passage)) for passage in passages])


def agreed(question: str, earlier: str, *passages: str) -> float:
    return agreement(question, [earlier], known(*passages))


def test_one_passage_must_contain_both() -> None:
    assert agreed("warranty period?", "the rack kit", "The warranty period of the rack kit") == pytest.approx(1.0)
    assert agreed("warranty period?", "the rack kit", "The warranty period", "A rack kit") == 0.0
    assert agreed("warranty period?", "the rack kit", "The warranty of the rack kit") == pytest.approx(0.5)


def test_words_that_no_passage_contains_are_connected_to_nothing() -> None:
    assert agreed("warranty period?", "the gadget", "The warranty period") == 0.0
    assert agreed("gizmo?", "the rack", "The rack") == 0.0
    assert agreed("warranty?", "the gadget's rack", "The warranty of the rack") == pytest.approx(0.45, abs=0.02)
    assert agreed("warranty?", "the warranty", "The warranty") == 0.0
    assert agreed("warranty?", "???", "The warranty") == agreed("warranty?", "the rack") == 0.0


def test_terms_that_a_name_shares_with_the_question_prove_nothing() -> None:
    assert agreed("kit warranty?", "the rack-kit", "The warranty of the kit") == 0.0
    assert agreed("kit warranty?", "the rack-kit", "The warranty of the rack kit") > 0.9


def test_words_in_the_passages_of_the_question_are_needed() -> None:
    together = known("The period of the rack", "The period of the rack", "The warranty of the kit", "A kit")
    assert needed("Which period?", ["the warranty of the rack kit"], together) == ("rack",)
    assert needed("Which warranty?", ["the period of the rack kit"], together) == ("kit",)


def test_of_words_equally_often_with_the_question_the_latest_come_first() -> None:
    together = known("The period of the rack kit", "The period of the kit's rack")
    assert needed("Which period?", ["the rack", "the kit"], together) == ("kit", "rack")
    assert needed("Which period?", ["A", "the rack", "B", "C", "the kit"], together) == ("kit",)


def test_without_passages_a_few_rare_words_are_needed() -> None:
    words = ["alpha", "bravo", "delta", "echo", "foxtrot"]
    held = {term: 5 + place for place, word in enumerate(words) for term in content_terms(word)}
    assert needed("Which?", [" ".join(words)], known(held=held)) == tuple(words[:CARRIED])
    everywhere = known(" ".join(["period", *words]), held=held | HELD)
    assert len(needed("Which period?", [" ".join(words)], everywhere)) == CARRIED


CHAT = {term: 20 for text in ("多大", "厉害", "东西", "天气", "周末", "钓鱼") for term in content_terms(text)}


@pytest.mark.parametrize(
    ("question", "earlier", "first"),
    [
        ("他多大了？", "梅西是谁？", "梅西"),
        ("他厉害吗？", "觉得梅西怎么样？", "梅西"),
        ("他厉害吗？", "梅西周末会去钓鱼吗？", "梅西"),
        ("How old is he?", "Who is Messi?", "Messi"),
    ],
)
@pytest.mark.parametrize("passages", [(), ("多大的东西", "天气很厉害", "周末多大的天气")])
def test_names_that_the_documents_do_not_contain_are_carried_over_too(
    question: str, earlier: str, first: str, passages: tuple[str, ...]
) -> None:
    assert needed(question, [earlier], known(*passages, held=CHAT))[0] == first
    assert needed(question, [earlier], Known(Frequencies(0, {})))[0] == first


def test_passages_with_little_of_both_do_not_decide_alone() -> None:
    held = dict.fromkeys(content_terms("喜欢，漂亮，颜色，工作，房子，天气，钓鱼"), 20)
    question, earlier = "颜色漂亮工作房子天气怎么样？", ["梅西喜欢钓鱼吗？"]
    little, more = known("喜欢漂亮", held=held), known("喜欢漂亮颜色工作房子钓鱼", held=held)
    assert 0 < agreement(question, earlier, little) < DECISIVE < agreement(question, earlier, more)
    assert "梅西" in needed(question, earlier, little)
    assert "梅西" not in needed(question, earlier, more)


def test_without_evidence_from_passages_a_word_counts_by_its_kind_and_position() -> None:
    held = {term: 20 for text in ("钓鱼", "喜欢", "黄河", "鲤鱼", "颜色", "漂亮") for term in content_terms(text)}
    assert needed("好吗？", ["喜欢黄河"], known(held=held)) == ("黄河",), "no verbs"
    assert needed("好吗？", ["黄河的鲤鱼"], known(held=held)) == ("黄河", "鲤鱼"), "the topic is named first"
    assert needed("好吗？", ["漂亮的黄河鲤鱼的颜色"], known(held=held))[:2] == ("黄河", "鲤鱼"), "side by side"
    together = known("钓鱼的颜色", "钓鱼的颜色", held=held)
    assert needed("什么颜色？", ["黄河的钓鱼"], together) == ("钓鱼",), "passages know better"


def test_passages_are_searched_for_the_rarest_words_of_the_conversation() -> None:
    held = Frequencies(1000, HELD | dict.fromkeys(content_terms("lights"), 500))
    assert joint_query("Which period?", ["the lights of the rack kit"], held) == "rack kit lights Which period?"
    assert joint_query("What?", ["the rack"], held) == joint_query("Which rack?", ["the rack"], held) == ""


@pytest.mark.django_db(transaction=True)
def test_the_index_returns_words_that_occur_together(handbook: KnowledgeBase) -> None:
    texts = ("微软收购了暴雪，花了很多美元。", "他在超市花了五元。", *(f"第{number}条新闻。" for number in range(20)))
    index_document(handbook, texts, "news.txt")
    for question in ("花了多少美元？", "它花了多少美元？"):
        found = look_up(question, ["微软什么时候收购了暴雪？"], [handbook.pk])
        assert any({"花", "美元", "微软", "收购", "暴雪"} <= passage for passage in found.passages)
    clear = "微软在哪一年花了多少亿美元收购了暴雪公司的全部股票？"
    assert look_up(clear, ["第一条新闻"], [handbook.pk]).passages == ()
