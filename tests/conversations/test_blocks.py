"""Kinds of blocks: one that a test adds is handled everywhere, and unknown ones are shown as code."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations import blocks, queries
from conversations.api.frame_schema import add_frames
from conversations.api.frames import PrefixFrames
from conversations.citations.verifiers import texts_of
from conversations.events import Answer, BlockEnd, BlockStart, Delta, DoneEvent, Event, fold, plain_text
from conversations.rendering.answer import AnswerPage
from conversations.rendering.fragments import Stream, answer_html, messages
from conversations.sharing import export
from tests.conversations.oob import Page, squeeze
from tests.conversations.records import make_session, make_turn


class Proverb(blocks.Kind):
    """A saying, of which each line is a verse."""

    name = "proverb"

    def plain_text(self, block: Mapping[str, Any]) -> str:
        return f"« {block['text']} »"

    def cited(self, block: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        yield (block["text"],)

    def markdown(self, block: Mapping[str, Any], words: Callable[[str], str], site: str) -> str:
        return f"> {words(block['text'])}"

    def opening(self, given: Mapping[str, Any]) -> str:
        return "> "

    def html(self, block: Mapping[str, Any], name: str, renderer: blocks.Renderer, *, is_open: bool) -> SafeString:
        return format_html('<blockquote class="block" id="{}">{}</blockquote>', name, renderer.inline(block["text"]))


SAYINGS = ["Haste makes <waste> [1]", "欲速则不达 [1]"]


def written(kind: str, text: str) -> list[Event]:
    events = [
        BlockStart(id="b1", kind=kind),
        Delta(id="b1", text=text[:5]),
        Delta(id="b1", text=text[5:]),
        BlockEnd(id="b1"),
        DoneEvent(status="completed"),
    ]
    return [event.numbered(seq) for seq, event in enumerate(events, 1)]


@pytest.fixture
def proverb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(blocks.KINDS, "proverb", Proverb())


@pytest.mark.usefixtures("proverb")
@pytest.mark.parametrize("saying", SAYINGS)
def test_an_added_kind_is_folded_read_and_streamed(saying: str) -> None:
    answer = fold(written("proverb", saying))
    assert answer.blocks == [{"id": "b1", "kind": "proverb", "text": saying}]
    assert plain_text(answer.blocks) == f"« {saying} »"
    assert list(texts_of(answer.blocks)) == [saying] == list(blocks.texts(answer.blocks))
    frames = PrefixFrames()
    sent = "".join(frame for event in written("proverb", saying) for frame in frames.feed(event))
    content = [line.removeprefix("data: CONTENT:") for line in sent.splitlines() if "CONTENT:" in line]
    assert "".join(content) == f"> {saying}"
    schema = add_frames({"components": {"schemas": {}}}, None)["components"]["schemas"]["BlockStartEvent"]
    assert "proverb" in schema["properties"]["kind"]["enum"]


@pytest.mark.django_db
@pytest.mark.usefixtures("proverb")
@pytest.mark.parametrize("saying", SAYINGS)
def test_an_added_kind_is_shown_and_exported(owner: User, saying: str) -> None:
    events = written("proverb", saying)
    stored = fold(events)
    message = make_turn(make_session(owner), blocks=stored.blocks, content=plain_text(stored.blocks))
    (view,) = queries.transcript(message.turn.session)
    whole = BeautifulSoup(answer_html(AnswerPage.of(view)), "html.parser").select("blockquote.block")[0]
    assert whole.get_text() == saying.replace(" [1]", "1") and whole.select("sup.citation a")
    assert f"> {saying}" in export.markdown(message.turn.session)

    page = AnswerPage.of(view, Answer(citations=AnswerPage.of(view).answer.citations))
    shown, stream = Page(answer_html(page)), Stream(page)
    for event in events:
        for frame in messages(stream.feed(event)):
            shown.apply(frame)
        if isinstance(event, Delta):  # it grows while it is written
            assert shown.soup.select("blockquote")[0].get_text()[:5] == saying[:5]
    assert squeeze(str(shown.soup.select("blockquote")[0])) == squeeze(str(whole))


@pytest.mark.parametrize("text", ["graph TD\n  A --> B", "甲 → 乙"])
def test_an_unknown_kind_is_handled_as_code(text: str) -> None:
    (block,) = fold(written("sketch", text)).blocks
    assert block == {"id": "b1", "kind": "sketch", "language": "", "text": text}
    assert plain_text([block]) == f"```\n{text}\n```" and list(texts_of([block])) == []
    assert blocks.kind_of(block).markdown(block, str, "") == f"```\n{text}\n```"


@pytest.mark.django_db
def test_an_unknown_kind_without_text_shows_its_fields(owner: User) -> None:
    later = {"id": "b1", "kind": "chart", "价格": [1, 2]}
    message = make_turn(make_session(owner), blocks=[later], content="")
    (view,) = queries.transcript(message.turn.session)
    shown = BeautifulSoup(answer_html(AnswerPage.of(view)), "html.parser").select("figure.code code")[0]
    assert shown.get_text() == '{"价格": [1, 2]}'
    assert '```\n{"价格": [1, 2]}\n```' in export.markdown(message.turn.session)
    assert plain_text([later]).startswith("```")
