"""Books: chapters with their names and numbers in the table of contents."""

from pathlib import Path

import pytest

from knowledge.parsing.elements import Element, PageBreak, Picture, Title
from knowledge.parsing.epub.contents import number_of
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import ParseContext, format_of
from tests.knowledge.reading import make_archive, message_of, outline, png, read, refused

_CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    b'<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)


def make(path: Path, chapters: dict[str, str], toc: str = "", ncx: str = "", **parts: bytes) -> Path:
    """Write a book with chapters by file name, and a table of contents as list items or in the older format."""
    items = "".join(f'<item id="{name}" href="text/{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Pump</dc:title><dc:creator>Ann Oil</dc:creator></metadata><manifest>"
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f'<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>{items}</manifest>'
        f'<spine toc="ncx"><itemref idref="nav"/>{spine}</spine></package>'
    )
    files = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OPS/book.opf": package.encode(),
    }
    files |= {
        f"OPS/text/{name}": f"<html><head><title>unknown</title></head><body>{body}</body></html>".encode()
        for name, body in chapters.items()
    }
    if toc:
        files["OPS/nav.xhtml"] = f'<html><body><nav epub:type="toc"><ol>{toc}</ol></nav></body></html>'.encode()
    if ncx:
        files["OPS/toc.ncx"] = (
            f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'.encode()
        )
    return make_archive(path, files | parts)


def _link(file: str, label: str, inside: str = "") -> str:
    return f'<li><a href="text/{file}">{label}</a>{f"<ol>{inside}</ol>" if inside else ""}</li>'


def _places(elements: list[Element]) -> list[tuple[int | None, str]]:
    texts = [element for element in elements if not isinstance(element, PageBreak | Title)]
    return [(element.page, line) for element, line in zip(texts, outline(texts), strict=True)]


def test_sections_named_by_their_titles_are_no_furniture(tmp_path: Path) -> None:
    body = (
        '<section id="sec-nav"><h2>The navigation document</h2><p>It is <a href="#x">required</a> in each book.</p>'
        "</section>"
        '<div class="section" id="sec-metadata"><h2>元数据</h2><p>每本书都有标题。</p></div>'
        '<section id="toc"><h2>Contents</h2><ol><li><a href="#a">The navigation document</a></li></ol></section>'
        '<section class="sidebar" id="more"><h2>More</h2><p>Buy it.</p></section>'
    )
    lines = outline(read(make(tmp_path / "a.epub", {"c.xhtml": body})))
    assert lines[1:] == ["# The navigation document", "It is required in each book.", "# 元数据", "每本书都有标题。"]


def test_chapters(tmp_path: Path) -> None:
    chapters = {
        "preface.xhtml": "<p>Thanks.</p>",
        "c1.xhtml": "<h2>Chapter 1: Oil</h2><p>Oil it.</p><h3>Kinds</h3><p>Many.</p><aside>A note.</aside>",
        "c1b.xhtml": "<p>More on oil. <img src='../img/a.png' alt='The can'/></p>",
        "c2.xhtml": "<p>No heading here.</p>",
    }
    toc = (
        _link("preface.xhtml", "Preface")
        + _link("c1.xhtml", "Chapter 1", _link("c1.xhtml#k", "Kinds"))
        + _link("c2.xhtml", "Chapter 2. Water")
    )
    path = make(tmp_path / "a.epub", chapters, toc, **{"OPS/img/a.png": png()})
    found = list(format_of("a.epub").load()(path, ParseContext(tmp_path / "out", "a.epub")))
    assert _places(found) == [
        (None, "The Pump, Ann Oil"), (None, "# Preface"), (None, "Thanks."),
        (1, "# Chapter 1: Oil"), (1, "Oil it."), (1, "## Kinds"), (1, "Many."), (1, "A note."), (1, "More on oil."),
        (1, "picture: The can"), (2, "# Chapter 2. Water"), (2, "No heading here."),
    ]  # fmt: skip
    assert [element for element in found if isinstance(element, PageBreak)] == [
        PageBreak(page=1, total=2),
        PageBreak(page=2, total=2),
    ]
    assert any(isinstance(element, Picture) for element in found)
    assert found[-1] == Title(text="The Pump")


def test_chapters_within_a_file_and_parts_of_an_older_book(tmp_path: Path) -> None:
    def point(file: str, label: str, inside: str = "") -> str:
        return f'<navPoint><navLabel><text>{label}</text></navLabel><content src="text/{file}"/>{inside}</navPoint>'

    ncx = point("all.xhtml", "第一部", point("all.xhtml#a", "第一章 水") + point("all.xhtml#b", "第二章 油"))
    body = "<h1>第一部</h1><h2>第一章 水</h2><p>冷。</p><h2>第二章 油</h2><p>热。</p>"
    assert _places(read(make(tmp_path / "a.epub", {"all.xhtml": body}, ncx=ncx)))[1:] == [
        (None, "# 第一部"), (1, "## 第一章 水"), (1, "冷。"), (2, "## 第二章 油"), (2, "热。"),
    ]  # fmt: skip


def test_unnumbered_chapters_are_counted_unless_numbers_restart(tmp_path: Path) -> None:
    pages = {name: f"<h1>{name}</h1><p>Text of {name}.</p>" for name in ("cover", "oil", "water")}
    toc = _link("cover", "Cover") + _link("oil", "Oil") + _link("water", "Water")
    assert _places(read(make(tmp_path / "a.epub", pages, toc)))[1:] == [
        (None, "# cover"), (None, "Text of cover."), (1, "# oil"), (1, "Text of oil."), (2, "# water"),
        (2, "Text of water."),
    ]  # fmt: skip
    toc = _link("cover", "1. Cover") + _link("oil", "1. Oil") + _link("water", "2. Water")
    assert {page for page, _ in _places(read(make(tmp_path / "b.epub", pages, toc)))} == {None}


def test_a_page_that_lists_the_others_is_left_out(tmp_path: Path) -> None:
    listing = "".join(f"<p><a href='c{number}'>Chapter {number}</a></p>" for number in range(9))
    path = make(tmp_path / "a.epub", {"list": f"<h1>Contents</h1>{listing}", "c": "<p>Text.</p>"})
    assert outline(read(path)) == ["The Pump, Ann Oil", "Text."]


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Chapter IV", 4), ("CHAPTER I. Down the Rabbit-Hole", 1), ("Chapter Two", 2), ("3. Oil", 3), ("7", 7),
        ("第十二章 水", 12), ("第三百二十一回", 321), ("XIV. Oil", 14), ("1.2 Kinds", None), ("Introduction", None),
        ("I am", None), ("2024: a year", None), ("C. Notes", None), ("第二部分", None),
    ],
)  # fmt: skip
def test_the_number_of_a_chapter(label: str, number: int | None) -> None:
    assert number_of(label) == number


def test_books_that_cannot_be_read(tmp_path: Path) -> None:
    def lock(algorithm: str) -> bytes:
        return f'<e><EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></e>'.encode()

    chapters = {"c": "<p>Text.</p>"}
    path = make(tmp_path / "a.epub", chapters, **{"META-INF/encryption.xml": lock("http://aes")})
    with pytest.raises(ParseError) as caught:
        read(path)
    assert caught.value.code == "encrypted" and "DRM" in message_of(caught.value)
    fonts = lock("http://www.idpf.org/2008/embedding")  # hides fonts only
    assert "Text." in outline(read(make(tmp_path / "b.epub", chapters, **{"META-INF/encryption.xml": fonts})))
    assert refused(make_archive(tmp_path / "c.epub", {"mimetype": b"application/epub+zip"})) == "broken"
