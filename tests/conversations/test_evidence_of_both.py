"""Whether passages join a question to the conversation before it."""

import pytest

from conversations.pipeline.bases import look_up
from conversations.pipeline.evidence import Known, agreement
from conversations.pipeline.salience import content_terms
from knowledge.models import KnowledgeBase
from retrieval.fulltext import Frequencies
from tests.conversations.conftest import index_document

HELD = {term: 5 for text in ("warranty period", "rack kit") for term in content_terms(text)}


def agreed(question: str, carried: list[str], *passages: str, held: dict[str, int] = HELD) -> float:
    known = Known(Frequencies(1000, held), [set(content_terms(passage)) for passage in passages])
    return agreement(question, carried, known)


def test_one_passage_must_hold_both() -> None:
    assert agreed("warranty period?", ["rack", "kit"], "The warranty period of the rack kit") == pytest.approx(1.0)
    assert agreed("warranty period?", ["rack", "kit"], "The warranty period", "A rack kit") == 0.0
    assert agreed("warranty period?", ["rack", "kit"], "The warranty of the rack kit") == pytest.approx(0.5)


def test_words_that_no_passage_holds_tell_nothing() -> None:
    assert agreed("warranty period?", ["gadget"], "The warranty period of the gadget") == 0.0
    assert agreed("gizmo?", ["rack"], "The rack of the gizmo") == 0.0
    assert agreed("warranty?", ["warranty"], "The warranty") == 0.0
    assert agreed("warranty?", [], "The warranty") == agreed("warranty?", ["rack"]) == 0.0


@pytest.mark.django_db(transaction=True)
def test_the_index_tells_what_passages_hold_together(handbook: KnowledgeBase) -> None:
    texts = ("微软收购了暴雪，花了很多美元。", "他在超市花了五元。", *(f"第{number}条新闻。" for number in range(20)))
    index_document(handbook, texts, "news.txt")
    known = look_up("花了多少美元？", ["微软什么时候收购了暴雪？"], [handbook.pk])
    assert any({"花", "美元", "微软", "收购", "暴雪"} <= passage for passage in known.passages)
    assert look_up("它花了多少美元？", ["微软什么时候收购了暴雪？"], [handbook.pk]).passages == ()
