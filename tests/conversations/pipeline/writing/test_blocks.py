"""Citation markers across cuts, and quoting documents into Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.pipeline.writing.blocks import MarkerFilter, escape_markdown
from conversations.pipeline.writing.extractive_answer import _paragraph
from conversations.pipeline.writing.quoting.quotes import Quote
from conversations.rendering.markdown import render

ANSWER = "One [1]. Two [2][7], an array a[0] and 【3】 and [12], ［1］, [ 2 ], [ ]; `b[9]`, ``c`[1]`` `x\n[8] open [1"


def filtered(pieces: list[str]) -> tuple[str, set[int]]:
    markers = MarkerFilter({1, 2, 3})
    text = "".join(markers.feed(piece) for piece in pieces) + markers.close()
    return text, markers.cited


@pytest.mark.parametrize("cut", range(len(ANSWER) + 1))
def test_invalid_markers_are_removed_wherever_the_stream_is_cut(cut: int) -> None:
    text, cited = filtered([ANSWER[:cut], ANSWER[cut:]])
    assert text == "One [1]. Two [2], an array a and [3] and, [1], [2], [ ]; `b[9]`, ``c`[1]`` `x\n open [1"
    assert cited == {1, 2, 3}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It has nine ports [^2].", "It has nine ports [2]."),
        ("有九个端口【2†source】。", "有九个端口[2]。"),
        ("Nine ports 【1†L3-L7】【3†a b】.", "Nine ports [1][3]."),
        ("Nine ports [7].", "Nine ports."),
        ("Nine ports [7], 【8†source】 of 2.5 Gbit/s [1].", "Nine ports, of 2.5 Gbit/s [1]."),
        ("2^3 [^x] 【note】 [a†b] x[^", "2^3 [^x] 【note】 [a†b] x[^"),
        ("Code `[7]` and  two  spaces ", "Code `[7]` and  two  spaces "),
    ],
)
def test_markers_of_other_grammars_and_without_a_source(text: str, written: str) -> None:
    for cut in range(len(text) + 1):
        assert filtered([text[:cut], text[cut:]])[0] == written


@given(st.text(alphabet="[]【】［］^†0123456789ab,` \n", max_size=40))
def test_one_character_at_a_time_gives_the_same_as_the_whole(text: str) -> None:
    assert filtered(list(text)) == filtered([text])


@pytest.mark.parametrize(
    "text",
    [
        "a_b_c and *stars*",
        "# not a heading",
        "- not a list",
        "1. not a list",
        "<b>tag</b>",
        "`code` [link](x) |x|",
        "~~a~~",
        r"half of \(x_1^2\) and $y_1$, a_b_c",
        "of $5_a_ to $6_b_",
        r"an \(open formula_a_",
    ],
)
def test_a_quotation_is_shown_unchanged(text: str) -> None:
    import html
    import re

    shown = html.unescape(re.sub(r"<[^>]+>", "", str(render(escape_markdown(text)))))
    assert shown.strip() == text


def test_a_quoted_formula_is_kept() -> None:
    assert str(render(escape_markdown(r"a_b_ \(x_1\)"))) == '<p>a_b_ <span class="math">\\(x_1\\)</span></p>\n'


CODE = "```\nled off\n```\n"


@pytest.mark.parametrize(
    ("sentences", "written"),
    [
        (["It is dark. ", "Type:\n", CODE], "It is dark. [2] Type: [2]  \n\n\n```\nled off\n```\n\n"),
        (["Type:\n", CODE, "It is dark."], "Type: [2]  \n\n\n```\nled off\n```\n\nIt is dark. [2]\n\n"),
        ([CODE], "**Lights** [2]\n\n```\nled off\n```\n\n"),
    ],
)
def test_no_marker_is_alone_below_code(sentences: list[str], written: str) -> None:
    assert _paragraph(Quote(0, sentences, set()), 2, "**Lights** [2]\n\n") == written


def test_the_answer_gets_a_marker_and_gaps_an_ellipsis() -> None:
    quote = Quote(0, ["It is given in metres. ", "The radius is long. ", "It ends here."], {1})
    assert _paragraph(quote, 2, "") == "It is given in metres. [2] \n\n… The radius is long. It ends here. [2]\n\n"


def test_a_text_of_line_breaks_is_escaped_in_linear_time() -> None:
    assert escape_markdown("\n" * 200_000 + "- x") == "\n" * 200_000 + "\\- x"


@pytest.mark.parametrize("text", ["`" * 200_000 + "a", "[1" + " " * 200_000 + "a", "[1," * 60_000])
def test_beginnings_of_markers_are_recognised_in_linear_time(text: str) -> None:
    assert filtered([text]) == (text, set())


@pytest.mark.parametrize("size", [1, 2, 3, 5, 200])
def test_formulas_keep_their_brackets(size: int) -> None:
    text = "\\(x[1]\\) [1], $\\sqrt[3]{b}$ [9].\n\\[\ny[2]\n\\] [2]\n\n$$z[9]$$ \\(open [9]\n[9] \\[3\\] [1]\n"
    reader = MarkerFilter({1, 2})
    passed = "".join(reader.feed(text[at : at + size]) for at in range(0, len(text), size)) + reader.close()
    said = "\\(x[1]\\) [1], $\\sqrt[3]{b}$.\n\\[\ny[2]\n\\] [2]\n\n$$z[9]$$ \\(open [9]\n \\[3\\] [1]\n"
    assert (passed, reader.cited) == (said, {1, 2})
