"""Tests of finding the sentences that support a claim, and of highlighting them in the source panel."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from conversations.citations.supporting_sentences import grounds, quoted_lines
from conversations.models import ChatSession, Citation, Message, Turn
from conversations.pipeline.writing.extractive_answer import MODEL as QUOTING
from knowledge.models import Chunk, KnowledgeBase
from tests import factories
from tests.conversations.conftest import run_turn
from tests.conversations.records import make_session, make_turn

HANDBOOK = [
    "The switch has nine ports.",
    "Hold the reset button for ten seconds to restore the factory settings.",
    "The warranty lasts three years.",
    "端口隔离可以在配置页面中启用。",
    "默认情况下端口隔离是关闭的。",
    "保修期为三年。",
]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The warranty lasts three years.", {2}),
        ("To restore factory settings, hold the button for ten seconds.", {1}),
        ("It has nine ports; its warranty lasts three years.", {0, 2}),
        ("默认时端口隔离关闭。", {4}),
        ("保修三年，端口隔离可在配置页面启用。", {3, 5}),
        ("Cats purr when they are content.", set()),
        ("Its warranty covers lightning, floods and theft abroad.", set()),
        ("", set()),
    ],
)
def test_supporting_sentences_of_a_claim(claim: str, expected: set[int]) -> None:
    assert grounds([claim], HANDBOOK) == expected


def test_empty_inputs() -> None:
    assert grounds(["The warranty lasts three years."], []) == set()
    assert grounds([], HANDBOOK) == set()


def test_quotation_precedes_its_marker() -> None:
    blocks = [
        {"id": "b1", "kind": "text", "text": "First.\n- Steps:  \nHold *it*. [1]\n\n**Ports** [2]\n\n"},
        {"id": "b2", "kind": "table", "columns": ["Port"], "rows": [["one", 1], ["two", 2]]},
        {"id": "b3", "kind": "text", "text": "Last of all [3][2] a note"},
    ]
    assert quoted_lines(blocks, 1) == ["First.", "Steps:", "Hold it."]
    assert quoted_lines(blocks, 2) == ["Ports", "one | 1", "two | 2"]
    assert quoted_lines(blocks, 3) == ["Last of all"] and quoted_lines(blocks, 4) == []


def test_quotation_of_several_sentences_is_highlighted(
    as_owner: Client, session: ChatSession, chunks: list[Chunk]
) -> None:
    answer = make_turn(session, answer=" ".join(HANDBOOK[:2]) + " [1]\n\n*Quoted.*", chunk=chunks[0])
    Turn.objects.filter(pk=answer.turn_id).update(model=QUOTING)
    assert re.findall("<mark[^>]*>([^<]*)", passage_of(as_owner, answer)) == HANDBOOK[:2]


@pytest.fixture
def chunks(owner: User) -> list[Chunk]:
    document = factories.make_document(factories.make_knowledge_base(owner), "handbook.txt")
    passages = (" ".join(HANDBOOK[:2]), " ".join(HANDBOOK[2:4]), "Something else.")
    return [factories.make_chunk(document, passage) for passage in passages]


@pytest.fixture
def session(owner: User) -> ChatSession:
    return make_session(owner)


def answer_from(session: ChatSession, chunk: Chunk, claim: str, status: str = "supported") -> Message:
    checks = [
        {"text": claim, "sources": [1], "status": status, "coverage": 1.0, "problems": []},
        {"text": HANDBOOK[0], "sources": [2], "status": "supported", "coverage": 1.0, "problems": []},
    ]
    return make_turn(session, answer=f"{claim} [1]", chunk=chunk, checks=checks)


def passage_of(client: Client, answer: Message) -> str:
    """Return the passage that the panel of the answer's first source links to."""
    panel = client.get(reverse("citation", args=[answer.pk, 1]), headers={"HX-Request": "true"}).content.decode()
    found = re.search(r'hx-get="(/knowledge/passages/[^"]+)"', panel)
    assert found
    return client.get(found[1].replace("&amp;", "&").partition("#")[0]).content.decode()


def test_panel_highlights_the_joined_passage_and_the_claim(
    as_owner: Client, session: ChatSession, chunks: list[Chunk]
) -> None:
    first, second, other = chunks
    answer = answer_from(session, second, "Hold the reset button for ten seconds.")
    Citation.objects.filter(message=answer).update(merged=[first.pk, second.pk])
    passage = passage_of(as_owner, answer)
    cited = passage.partition('class="cited"')[2].partition("</section>")[0]
    assert all(sentence in re.sub("</?mark[^>]*>", "", cited) for sentence in HANDBOOK[:4])
    assert other.content not in cited
    assert re.findall("<mark[^>]*>([^<]*)", cited) == [HANDBOOK[1]]


def test_unsupported_claims_are_not_highlighted(as_owner: Client, session: ChatSession, chunks: list[Chunk]) -> None:
    answer = answer_from(session, chunks[0], "Hold the reset button for ten seconds.", "not_found")
    passage = passage_of(as_owner, answer)
    assert "Hold the reset button" in passage and "<mark" not in passage


def test_deleted_passage_leaves_the_quotation(as_owner: Client, session: ChatSession, chunks: list[Chunk]) -> None:
    answer = answer_from(session, chunks[1], "The warranty lasts three years.")
    Citation.objects.filter(message=answer).update(merged=[chunks[0].pk, chunks[1].pk])
    chunks[0].document.delete()
    panel = as_owner.get(reverse("citation", args=[answer.pk, 1]), headers={"HX-Request": "true"}).content.decode()
    assert 'hx-get="/knowledge' not in panel
    assert "the quotation is kept" in panel


@pytest.mark.django_db(transaction=True)
async def test_citation_stores_the_joined_passages(owner: User, session: ChatSession, handbook: KnowledgeBase) -> None:
    await run_turn(owner, session, "How long lasts the warranty, and how many ports has the TL-SE2109 switch?")
    chunks = [chunk.pk async for chunk in Chunk.objects.order_by("ordinal")]
    citation = await Citation.objects.aget(message__turn__session=session, index=1)
    assert citation.chunk_id in citation.merged
    assert citation.merged == [chunk for chunk in chunks if chunk in citation.merged] and len(citation.merged) > 1
