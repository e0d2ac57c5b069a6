"""A model's output becomes blocks of the answer: tables, code, markers, pictures."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.events import Event, fold
from conversations.models import ChatSession, Message
from conversations.pipeline.state import PictureInfo
from conversations.pipeline.writing.blocks import BlockWriter, PartWriter
from conversations.pipeline.writing.dialects.parts import (
    CodeHead,
    CodeText,
    End,
    Image,
    Part,
    TableHead,
    TableRow,
    Words,
)
from knowledge.models import KnowledgeBase
from tests.conversations.conftest import run_turn
from tests.conversations.nodes import make_state
from tests.conversations.pipeline.writing.quoting.test_extractive import hit
from tests.fakes.llm import FakeLLM

QUESTION = "How many ports does the TL-SE2109 have?"


async def blocks_of(*parts: Part, pictures: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Write the parts to an answer with two passages, the numbered ones with a picture, and return its blocks."""
    state = make_state()
    state.prompt.evidence = [hit("one", chunk_id=1), hit("two", chunk_id=2)]
    state.prompt.citations = [{"index": 1}, {"index": 2}]
    state.found.pictures = {
        number: PictureInfo(f"/pictures/{number}/", f"Picture {number}", 4, 3) for number in pictures
    }
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)
        state.answer.apply(event)

    writer = PartWriter(state, BlockWriter(state, emit))
    for part in parts:
        await writer.write(part)
    await writer.finish()
    answer = fold([event.numbered(seq) for seq, event in enumerate(events, 1)])
    assert not answer.open and answer.blocks == state.answer.blocks
    return answer.blocks


def kinds(blocks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return each block's kind and contents."""
    return [(block["kind"], block.get("text") or block.get("url") or str(block.get("rows"))) for block in blocks]


async def test_markers_are_checked_in_text_and_cells_but_not_in_code() -> None:
    blocks = await blocks_of(
        Words("One [1], [1, 2] and [2,9] not [7]. [1"),
        TableHead(("a [9]", "b [2]")), TableRow(("[1]", "x [8]")), End(),
        CodeHead("c"), CodeText("a[7] = b[1];\n"), End(),
    )  # fmt: skip
    assert blocks[0]["text"] == "One [1], [1][2] and [2] not. [1"
    assert (blocks[1]["columns"], blocks[1]["rows"]) == (["a", "b [2]"], [["[1]", "x"]])
    assert (blocks[2]["language"], blocks[2]["text"]) == ("c", "a[7] = b[1];\n")


async def test_what_is_removed_is_counted() -> None:
    state = make_state()
    state.prompt.citations = [{"index": 1}]

    async def emit(event: Event) -> None:
        state.answer.apply(event)

    for text, removed in (
        ("One [1], [2, 9] and [1][7].", {"citations_removed": 3}),
        ("![A cat](https://elsewhere/cat.png) `![x](y)` <img src='//elsewhere'>", {"pictures_removed": 2}),
        ("Nothing [1]. `[7]`", {}),
    ):
        writer = PartWriter(state, BlockWriter(state, emit))
        await writer.write(Words(text))
        await writer.finish()
        assert writer.removed == removed


@pytest.mark.django_db(transaction=True)
async def test_without_citations_the_sources_are_only_listed(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, settings: Settings
) -> None:
    settings.ENABLE_SOURCE_CITATION = False
    fake_llm.enqueue("It has nine ports[1].")
    await run_turn(owner, session, QUESTION)
    answer = await Message.objects.aget(role="assistant")
    assert (answer.content, answer.checks) == ("It has nine ports.", [])
    assert {cited async for cited in answer.citations.values_list("cited", flat=True)} == {False}


async def test_empty_lines_open_no_block() -> None:
    assert await blocks_of(Words("\n \n"), End(), Words("\n\nText\n"), End(), Words("  "), End()) == [
        {"id": "b1", "kind": "text", "text": "Text\n"}
    ]


async def test_a_picture_of_a_cited_passage_appears_in_place_and_once() -> None:
    for url in ("passage:1", "Passage 1", "段落：1", "/pictures/1/"):
        blocks = await blocks_of(
            Words("See [1]."), End(), Image("mine", url), Words("After [2]."), End(), pictures=(1, 2)
        )
        assert kinds(blocks) == [
            ("text", "See [1]."), ("image", "/pictures/1/"), ("text", "After [2]."), ("image", "/pictures/2/")
        ]  # fmt: skip
        assert blocks[1]["alt"] == "Picture 1" and (blocks[1]["width"], blocks[1]["height"]) == (4, 3)


async def test_foreign_pictures_are_stored_as_their_description() -> None:
    blocks = await blocks_of(
        Words("The ![front pa"), Words("nel](https://evil.example/p.png?q=secret) has ports [1]. "), End(),
        CodeHead("md"), CodeText("![a](https://a.example)"), End(),
        Words('<img src="https://evil.example/p.png"'), End(),
        Image("Back", "https://evil.example/p.png"),
    )  # fmt: skip
    assert kinds(blocks) == [
        ("text", "The front panel has ports [1]. "), ("code", "![a](https://a.example)"),
        ("text", '\\<img src="https://evil.example/p.png"'), ("text", "*Back*\n\n"),
    ]  # fmt: skip


async def test_a_picture_that_comes_before_its_citation_waits_for_it() -> None:
    blocks = await blocks_of(Image("mine", "passage:1"), Words("See [1]."), End(), pictures=(1,))
    assert kinds(blocks) == [("text", "See [1]."), ("image", "/pictures/1/")]


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/x.png", "images/config.jpg", "passage:2", "passage:9", "passage:0", "", "/pictures/9/"],
)
async def test_other_pictures_are_replaced_by_their_alt_text(url: str) -> None:
    blocks = await blocks_of(Words("See [1]."), End(), Image("The <b>", url), pictures=(2,))
    assert kinds(blocks) == [("text", "See [1]."), ("text", "*The \\<b\\>*\n\n")]


# --- Through the whole turn ---------------------------------------------------------------------------

JSON_ANSWER = [
    {"t": "block_start", "id": "b1", "kind": "text"},
    {"t": "delta", "id": "b1", "text": "The switch has nine ports [1].\n"},
    {"t": "block_end", "id": "b1"},
    {"t": "block_start", "id": "b2", "kind": "table", "columns": ["Model", "Ports"]},
    {"t": "delta", "id": "b2", "row": ["TL-SE2109", "nine [1]"]},
    {"t": "block_end", "id": "b2"},
]
MARKDOWN_ANSWER = "The switch has nine ports [1].\n\n| Model | Ports |\n|---|---|\n| TL-SE2109 | nine [1] |\n"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("answer", [MARKDOWN_ANSWER, json.dumps(JSON_ANSWER), "\n".join(map(json.dumps, JSON_ANSWER))])
async def test_both_dialects_store_the_same_blocks_and_check_the_same_citations(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM, answer: str
) -> None:
    fake_llm.enqueue(answer)
    events = await run_turn(owner, session, QUESTION)
    message = await Message.objects.aget(turn__session=session, role="assistant")
    text, table = message.blocks
    assert text["text"].strip() == "The switch has nine ports [1]."
    assert (table["columns"], table["rows"]) == (["Model", "Ports"], [["TL-SE2109", "nine [1]"]])
    assert message.content == "The switch has nine ports [1].\n\nModel | Ports\n--- | ---\nTL-SE2109 | nine [1]"
    assert [(check["status"], check["sources"]) for check in message.checks] == [("supported", [1])] * 2
    assert fold(events).blocks == message.blocks
