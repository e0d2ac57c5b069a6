"""OCR of scanned pages and photographs of paper, with their tables, by each program."""

import stat
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsing.elements import Element, Heading, PageBreak, Paragraph, Picture, Scanned, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.images import kept, ocr
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.sandbox.runner import Ocr, ParseLimits, parse_file
from tests.knowledge.pdf_files import WORDS, chinese, drawn, grid, prose, scan, text

ROWS = [["Model", "Ports", "Price"], ["LS-2424", "24", "340"], ["LS-2448", "48", "560"]]


def _letter(canvas: Canvas) -> None:
    text(canvas, 72, 56, "Warranty terms", size=24)
    text(canvas, 72, 80, "for all models", size=24)  # no letter has a descender
    prose(canvas, 72, 120, 80, size=11)
    grid(canvas, 72, 220, ROWS)


def _notice(canvas: Canvas) -> None:
    chinese(canvas, 72, 100, "本公司产品自购买之日起享受三年保修服务。", size=14)
    chinese(canvas, 72, 125, "保修期内出现质量问题可免费更换。", size=14)


def _parse(path: Path, mode: str = "auto", engine: str = "rapidocr") -> list[Element]:
    limits = ParseLimits(timeout_s=120)
    return list(parse_file(path, path.name, path.parent / "out", limits, ocr=Ocr(mode, engine)))


def _texts(elements: list[Element]) -> list[str]:
    return [element.text for element in elements if isinstance(element, Heading | Paragraph)]


@pytest.mark.nightly
def test_a_scanned_page_is_laid_out_like_a_page_of_text(tmp_path: Path) -> None:
    elements = _parse(scan(tmp_path / "a.pdf", _letter))
    assert [element.text for element in elements if isinstance(element, Heading)] == ["Warranty terms for all models"]
    assert "".join(_texts(elements)[1:]).replace(" ", "") == WORDS.replace(" ", "")
    (table,) = (element for element in elements if isinstance(element, Table))
    assert [list(table.columns), *map(list, table.rows)] == ROWS
    (start,) = (element for element in elements if isinstance(element, PageBreak))
    (text, x0, y0, x1, y1) = start.recognised[0]
    assert text == "Warranty terms" and 0.1 < x0 < 0.14 and x0 < x1 < 0.5 and 0.03 < y0 < y1 < 0.1


def test_chinese_and_a_skewed_page(tmp_path: Path) -> None:
    elements = _parse(scan(tmp_path / "a.pdf", _notice, angle=1.5))
    assert "".join(_texts(elements)) == "本公司产品自购买之日起享受三年保修服务。保修期内出现质量问题可免费更换。"


@pytest.mark.nightly
def test_pages_of_text_are_not_read_as_pictures_and_scans_may_wait(tmp_path: Path) -> None:
    path = scan(tmp_path / "a.pdf", _letter, texts=(_letter,))
    later = _parse(path, "later")
    assert [element.page for element in later if isinstance(element, Scanned)] == [2]
    assert [element.page for element in later if isinstance(element, Table)] == [1]
    read = _parse(path)
    assert [element.page for element in read if isinstance(element, Table)] == [1, 2]
    assert [element.page for element in _parse(path, "off") if isinstance(element, Table)] == [1]


def test_a_picture_is_a_document(tmp_path: Path) -> None:
    (picture,) = drawn(tmp_path / "a.pdf", _letter)
    picture.save(tmp_path / "photo.jpg")
    elements = _parse(tmp_path / "photo.jpg")
    assert isinstance(elements[0], PageBreak) and isinstance(elements[1], Picture)
    assert _texts(elements)[0] == "Warranty terms for all models"
    assert [type(element) for element in _parse(tmp_path / "photo.jpg", "later")] == [PageBreak, Picture, Scanned]
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path / "photo.jpg", "off")
    assert caught.value.key == "no_text.picture"
    (tmp_path / "photo.jpg").write_bytes((tmp_path / "photo.jpg").read_bytes()[:2000])
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path / "photo.jpg")
    assert caught.value.key == "broken.picture"


@pytest.mark.nightly
def test_a_tiff_has_pages(tmp_path: Path) -> None:
    first, second = drawn(tmp_path / "a.pdf", _letter, _notice)
    first.save(tmp_path / "fax.tif", save_all=True, append_images=[second])
    elements = _parse(tmp_path / "fax.tif")
    assert [(element.page, element.total) for element in elements if isinstance(element, PageBreak)] == [(1, 2), (2, 2)]
    assert any("三年保修" in text for text in _texts(elements))


def test_a_photograph_has_no_ruling_lines() -> None:
    noise = Image.effect_noise((600, 400), 90)
    assert ocr.find_rules(noise) == []
    paper = Image.new("L", (600, 400), 255)
    paper.paste(0, (50, 100, 550, 102))
    (rule,) = ocr.find_rules(paper)
    assert rule.horizontal and abs(rule.at - 101) <= 1 and rule.start <= 52 and rule.end >= 548


def test_tesseract_can_be_used_if_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["level", "page_num", "block_num", "par_num", "line_num", "word_num", "left", "top", "width", "height"]
    rows = [
        [*"51111", str(n), str(100 * n), "50", "90", "20", "96", word] for n, word in enumerate(["Two", "words"], 1)
    ]
    rows.append([*"51112", "1", "100", "90", "90", "20", "12", "~;"])  # too uncertain to be a word
    program = tmp_path / "tesseract"
    lines = "\n".join("\t".join(row) for row in [[*columns, "conf", "text"], *rows])
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null\ncase $4 in eng+chi_sim) ;; *) exit 1;; esac\ncat <<'E'\n{lines}\nE\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (line,) = ocr.read_words(Image.new("RGB", (600, 400)), "tesseract", ("en", "zh"))
    assert [(piece.text, piece.box, piece.spaced) for piece in line] == [
        ("Two", (100.0, 50.0, 190.0, 70.0), False),
        ("words", (200.0, 50.0, 290.0, 70.0), True),
    ]
    with pytest.raises(ParseError) as caught:
        ocr.read_words(Image.new("RGB", (600, 400)), "tesseract", ("xx",))
    assert caught.value.params["name"] == "tesseract-ocr (xx)"


def test_a_page_is_recognised_once_if_its_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [[ocr.Piece("茶", (1.0, 2.0, 3.0, 4.5), False), ocr.Piece("tea", (4.0, 2.0, 9.0, 4.0), True)]]
    read: list[str] = []

    def words(picture: Image.Image, engine: str, languages: tuple[str, ...]) -> list[list[ocr.Piece]]:
        read.append(engine)
        return lines

    def gone() -> Image.Image:
        raise AssertionError("The page is not rendered again.")

    monkeypatch.setattr(kept.ocr, "read_words", words)
    paper = Image.new("RGB", (600, 400), "white")
    ImageDraw.Draw(paper).line((50, 100, 550, 100), fill="black", width=3)
    context = ParseContext(tmp_path, "scan.pdf", ocr_kept=tmp_path / "kept")
    found = kept.recognise(1, lambda: paper, context)
    assert found.lines == lines and len(found.rules) == 1
    assert kept.recognise(1, gone, context) == found
    (file,) = (tmp_path / "kept").iterdir()
    file.write_text("{")  # damaged
    assert kept.recognise(1, lambda: paper, context) == found
    assert len(read) == 2
    kept.recognise(2, lambda: paper, ParseContext(tmp_path, "scan.pdf"))
    assert len(list((tmp_path / "kept").iterdir())) == 1
