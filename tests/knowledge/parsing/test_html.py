"""HTML and Markdown."""

import base64
import struct
from pathlib import Path

import pytest
from PIL import Image

from knowledge.parsing import pictures
from knowledge.parsing.elements import Code, Picture, Table
from tests.knowledge.reading import outline, png, read_bytes, refused

DATA_URI = "data:image/png;base64," + base64.b64encode(png()).decode()


def lines(folder: Path, body: str, head: str = "") -> list[str]:
    return outline(read_bytes(folder, "a.html", f"<html><head>{head}</head><body>{body}</body></html>"))


def test_navigation_and_the_like_are_left_out(tmp_path: Path) -> None:
    body = """
      <header><a href="/">Site</a></header><nav><a href="/x">Menu</a></nav>
      <div class="navheader"><table><tr><th>Prev</th></tr></table></div>
      <main><header><h1>Title</h1></header><p>Body   text<br>second line.</p>
      <div class="toc"><a>Contents</a></div></main>
      <aside>Advertisement</aside><div class="navfooter">Next</div><footer>Imprint</footer>
      <script>alert(1)</script><style>p {}</style><p hidden>Secret</p><template><p>Later</p></template>
    """

    assert lines(tmp_path, body) == ["# Title", "Body text\nsecond line."]


def test_all_alternatives_of_a_script_are_read(tmp_path: Path) -> None:
    keys = "<span><span hidden='true'><kbd>Command</kbd></span> <span hidden='true'>Ctrl</span></span>"
    page = "<div><div hidden id='calc'><p>For sheets.</p></div><div hidden id='writer'><p>For texts.</p></div></div>"
    tabs = "<div><div><p>Shown.</p></div><div hidden><p>Not shown.</p></div></div>"

    assert lines(tmp_path, f"<p>Press {keys}+F2.</p>{page}{tabs}<p hidden>Secret</p>") == [
        "Press Command / Ctrl+F2.",
        "For sheets.",
        "For texts.",
        "Shown.",
    ]


def test_the_title_is_above_headings_of_its_level(tmp_path: Path) -> None:
    body = "<h2>CREATE THING</h2><p>Makes it.</p><h2>Parameters</h2><p>None.</p>"

    assert lines(tmp_path, body, "<title>CREATE THING</title>") == [
        "# CREATE THING",
        "Makes it.",
        "## Parameters",
        "None.",
    ]


def test_a_page_without_headings_takes_its_title(tmp_path: Path) -> None:
    assert lines(tmp_path, "<p>Text.</p>", "<title>Named</title>") == ["# Named", "Text."]


def test_lists_with_their_marks(tmp_path: Path) -> None:
    body = "<ul><li>One<ul><li>Inner</li></ul></li><li><p>Two</p><p>more</p></li></ul><ol start=3><li>A<li>B</ol>"

    assert lines(tmp_path, body) == ["- One", "  - Inner", "- Two", "more", "3. A", "4. B"]


def test_short_definitions_stay_with_their_terms(tmp_path: Path) -> None:
    body = "<h1>T</h1><dl><dt>-a</dt><dt>--all</dt><dd><p>Everything.</p></dd><dt>-q</dt><dd>Quiet.</dd></dl>"

    assert lines(tmp_path, body) == ["# T", "-a, --all: Everything.", "-q: Quiet."]


def test_long_definitions_become_sections_and_the_section_continues_after_them(tmp_path: Path) -> None:
    long = "It does very much. " * 25
    body = f"<h1>T</h1><dl><dt>work_mem</dt><dd>{long}</dd><dt>jit</dt><dd>{long}</dd></dl><p>After.</p>"

    assert lines(tmp_path, body) == ["# T", "## work_mem", long.strip(), "## jit", long.strip(), "# T", "After."]


def test_notes_do_not_open_sections(tmp_path: Path) -> None:
    body = '<h1>T</h1><div class="note"><h3>Note</h3><p>Careful.</p></div><p>On.</p>'

    assert lines(tmp_path, body) == ["# T", "Note: Careful.", "On."]


def test_code_keeps_its_lines_and_language(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "a.html", '<pre><code class="language-sql">SELECT 1,\n   2;\n</code></pre>')

    assert found == [Code(text="SELECT 1,\n   2;", language="sql")]


def test_tables_with_spans_and_two_header_rows(tmp_path: Path) -> None:
    body = """<table><caption>Sales</caption><thead>
      <tr><th rowspan=2>Region</th><th colspan=2>Year</th></tr><tr><th>2023</th><th>2024</th></tr></thead>
      <tbody><tr><td rowspan=2>North</td><td>1</td><td>2</td></tr><tr><td colspan=2>none</td></tr></tbody></table>"""

    assert lines(tmp_path, body) == ["table: Sales: Region,Year / 2023,Year / 2024 | North,1,2 | North,none,"]


def test_a_numbered_title_before_a_table_is_its_caption(tmp_path: Path) -> None:
    body = "<p>Text.</p><p>Table 2. Sizes</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"

    assert lines(tmp_path, body) == ["Text.", "table: Table 2. Sizes: A,B | 1,2"]


def test_layout_tables_are_read_as_text(tmp_path: Path) -> None:
    inner = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    body = f"<table><tr><td><h2>Left</h2><p>One.</p></td><td>{inner}</td></tr></table>"

    assert lines(tmp_path, body) == ["## Left", "One.", "table: A,B | 1,2"]


def test_only_embedded_pictures_are_read(tmp_path: Path) -> None:
    body = f'<p>See <img src="{DATA_URI}" alt="A  box"> here.</p><img src="https://example.org/x.png" alt="far">'
    found = read_bytes(tmp_path, "a.html", body)

    kept = [item for item in found if isinstance(item, Picture)]
    assert [(item.alt, item.width, item.height) for item in kept] == [("A box", 60, 40)]
    assert (tmp_path / "pictures" / kept[0].path).read_bytes() == png()


def _data_uri(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


def test_pictures_beyond_the_limit_are_reported_except_icons_and_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "_MOST_PICTURES", 1)
    shown = {"one": png(), "same": png(), "two": png(colour="red"), "icon": png(8, 8), "three": png(colour="blue")}
    body = "".join(f'<img src="{_data_uri(data)}" alt="{name}">' for name, data in shown.items())
    notice = "notice: The file contains more than 1 pictures; the rest were left out."
    assert lines(tmp_path, body) == ["picture: one", "picture: same", notice, notice]


@pytest.mark.parametrize(
    ("limit", "value", "is_left_out"),
    [("_MOST_BYTES", 100, True), ("_MOST_PIXELS", 2399, True), ("_MOST_BYTES", 10_000, False)],
)
def test_pictures_that_are_too_large_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, is_left_out: bool
) -> None:
    monkeypatch.setattr(pictures, limit, value)
    found = lines(tmp_path, f'<p>Text.</p><img src="{DATA_URI}"><img src="{_data_uri(png(8, 8) + bytes(100))}">')
    too_large = "notice: Pictures above 30 MB or 50 megapixels were left out."
    assert found == ["Text.", too_large if is_left_out else "picture: "]


def test_a_decompression_bomb_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    assert lines(tmp_path, f'Text.<img src="{DATA_URI}">')[1:] == [
        "notice: Pictures above 30 MB or 50 megapixels were left out."
    ]


def test_vector_drawings_are_left_out_without_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MOST_BYTES", 10)
    header = struct.pack("<IIiiiiiiii4sI", 1, 88, 0, 0, 900, 900, 0, 0, 9000, 9000, b" EMF", 0x10000)
    assert lines(tmp_path, f'Text.<img src="{_data_uri(header + bytes(60))}">') == ["Text."]


def test_the_declared_character_set_is_used(tmp_path: Path) -> None:
    page = '<html><head><meta charset="gb2312"></head><body><p>数据库系统概论</p></body></html>'

    assert outline(read_bytes(tmp_path, "a.html", page.encode("gb18030"))) == ["数据库系统概论"]


def test_raised_references_are_dropped_and_powers_kept(tmp_path: Path) -> None:
    assert lines(tmp_path, "<p>It is so.<sup><a>[12]</a></sup> 10<sup>6</sup> times</p>") == ["It is so. 10^6 times"]
    assert lines(tmp_path, "<p>1<sup>st</sup>, 2<sup>e</sup>, x<sup>n+1</sup>, rows<sup>a</sup></p>") == [
        "1st, 2e, x^n+1, rows[a]"
    ]
    row = "<tr><td>10<sup>6</sup></td><td>b</td></tr>"
    assert lines(tmp_path, f"<p>x</p><table><tr><th>A</th><th>B</th></tr>{row}</table>") == ["x", "table: A,B | 10^6,b"]


@pytest.mark.parametrize(
    ("before", "mark", "read"),
    [
        ("10", "6", "10^6"),
        ("3 × 10", "−9", "3 × 10^−9"),
        ("40 m", "2", "40 m^2"),
        ("25 cm", "3", "25 cm^3"),
        ("y = x", "n", "y = x^n"),
        ("E = mc", "2", "E = mc^2"),
        ("(a + b)", "2", "(a + b)^2"),
        ("2", "32", "2^32"),
        ("s", "-1", "s^-1"),
        ("1", "st", "1st"),
        ("le 2", "e", "le 2e"),
        ("45000", "3", "45000[3]"),
        ("€24", "1", "€24[1]"),
        ("12.5", "a", "12.5[a]"),
        ("15", "2", "15[2]"),
        ("grant", "3", "grant[3]"),
        ("同比增长", "2", "同比增长[2]"),
        ("It is so.", "4", "It is so.[4]"),
        ("Mary", "1,2", "Mary[1,2]"),
        ("the wages (see above)", "2", "the wages (see above)[2]"),
        ("", "3", "[3]"),
    ],
)
def test_raised_text_is_a_power_or_the_mark_of_a_note(tmp_path: Path, before: str, mark: str, read: str) -> None:
    assert lines(tmp_path, f"<p>{before}<sup>{mark}</sup></p>") == [read]


_TEX = r'<annotation encoding="application/x-tex">\frac{1}{2}</annotation>'


@pytest.mark.parametrize(
    "formula",
    [
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
        r'<span><span style="display: none;"><math alttext="\frac{1}{2}"></math></span><img src="a.svg"></span>',
        f"<span><b><math><semantics><mn>1</mn>{_TEX}</semantics></math></b><span aria-hidden=true>12</span></span>",
    ],
    ids=["elements", "an encyclopedia's", "KaTeX"],
)
def test_formulas_are_read(tmp_path: Path, formula: str) -> None:
    assert lines(tmp_path, f"<p>Take {formula} of it.</p>") == [r"Take \(\frac{1}{2}\) of it."]


def test_hostile_pages_end_soon(tmp_path: Path) -> None:
    deep = "<div>" * 1000 + "deep" + "</div>" * 1000
    assert lines(tmp_path, f"<p>top</p>{deep}<p>end</p>") == ["top", "deep", "end"]
    (tmp_path / "d.html").write_text("<div>" * 50_000 + "deep")
    assert refused(tmp_path / "d.html") == "broken"
    wide = '<table><tr><td colspan="999999999">a</td><td rowspan="65534">b</td></tr><tr><td>c</td></tr></table>'
    assert any(isinstance(item, Table) for item in read_bytes(tmp_path, "b.html", wide))
    laughs = '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><p>x &b;</p>'
    assert "aaaa" not in "".join(outline(read_bytes(tmp_path, "c.html", laughs)))


def test_a_page_without_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<html><body><script>1</script></body></html>")

    assert refused(path) == "no_text"


# Markdown


def markdown(folder: Path, text: str) -> list[str]:
    return outline(read_bytes(folder, "a.md", text))


def test_markdown_blocks(tmp_path: Path) -> None:
    text = """# Title

Some *text* with `code`,
a [link](https://example.org/a) and ![a picture](x.png).

* one
  1. inner
* two

| A | B |
|---|---|
| 1 | **2** |

Setext
------
> quoted

```python
x = 1
```
"""

    assert markdown(tmp_path, text) == [
        "# Title",
        "Some text with code, a link (https://example.org/a) and a picture.",
        "- one",
        "  1. inner",
        "- two",
        "table: A,B | 1,2",
        "## Setext",
        "quoted",
        "code: x = 1",
    ]


def test_markdown_joins_chinese_lines_and_words_after_marks(tmp_path: Path) -> None:
    assert markdown(tmp_path, "中文第一行\n第二行 and **bold**\nend") == ["中文第一行第二行 and bold end"]


def test_front_matter_gives_the_title(tmp_path: Path) -> None:
    assert markdown(tmp_path, '---\ntitle: "Guide"\ndate: 2024\n---\n\nText.') == ["# Guide", "date: 2024", "Text."]


def test_html_inside_markdown_is_read_but_not_its_scripts(tmp_path: Path) -> None:
    text = (
        "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>\n\n<script>alert(1)</script>\n\nEnd."
    )

    assert markdown(tmp_path, text) == ["table: x,y | 1,2", "End."]


def test_pictures_inside_markdown(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "a.md", f"![A box]({DATA_URI})")

    assert [type(item).__name__ for item in found] == ["Picture", "Paragraph"]


CODECS = ["punycode", "idna", "hex", "base64", "zlib", "bz2", "uu", "quopri", "rot13", "undefined", "unicode_escape"]


@pytest.mark.parametrize("name", [*CODECS, "raw_unicode_escape", "utf-7", "utf-16", "utf-32", "no-such-set", "mbcs"])
def test_an_invalid_character_set_is_ignored(tmp_path: Path, name: str) -> None:
    for text in ("C:\\new: 数据库 +AGE-", "Plain - text."):
        page = f'<html><head><meta charset="{name}"></head><body><p>{text}</p></body></html>'
        assert outline(read_bytes(tmp_path, "a.html", page)) == [text]


def test_omitted_columns_are_reported(tmp_path: Path) -> None:
    def row(cells: int) -> str:
        return "<tr>" + "".join(f"<td>c{number}" for number in range(cells))

    *_, table, notice = read_bytes(tmp_path, "a.html", f"<p>Wide</p><table>{row(1200)}{row(3)}{row(1000)}</table>")
    assert isinstance(table, Table) and len(table.rows[0]) == 1000
    assert outline([notice]) == ["notice: A table has 1,200 columns; only the first 1,000 were read."]
    (table,) = read_bytes(tmp_path, "b.html", f"<table>{row(1000)}<td> {row(2)}</table>")
    assert isinstance(table, Table) and table.columns[-1] == "c999"  # the last one that is read


@pytest.mark.parametrize("value", ["", '="1"', '=">"', "='a > b'", "=plain", "=x<b"])
def test_a_tag_with_very_many_attributes_is_read_without_most_of_them(tmp_path: Path, value: str) -> None:
    attributes = " ".join(f"a{number}{value}" for number in range(50_000))
    body = f"<p {attributes}>Green tea.</p><p hidden {attributes}>Secret.</p><p>Black tea.</p>"
    assert lines(tmp_path, body) == ["Green tea.", "Black tea."]


def test_a_long_picture_is_no_tag_with_many_attributes(tmp_path: Path) -> None:
    large = "data:image/png;base64," + base64.b64encode(png() + b"\0" * 50_000).decode()
    found = read_bytes(tmp_path, "a.html", f"<html><body><p>Tea.</p><img alt='A cup' src='{large}'></body></html>")
    assert [element.alt for element in found if isinstance(element, Picture)] == ["A cup"]
