"""A file is read by the type of its bytes, whatever its name; harmful ones are refused."""

import io
import zipfile
from pathlib import Path

import docx
import olefile
import openpyxl
import pytest

from knowledge.parsing import limits as limits_module
from knowledge.parsing import registry
from knowledge.parsing.elements import Element, FileType, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice
from knowledge.parsing.registry import OLE, check_name, format_of
from knowledge.parsing.sandbox.identity import identify
from knowledge.parsing.sandbox.runner import ParseLimits, parse_file
from tests.knowledge.reading import make_archive, message_of


def _docx() -> bytes:
    document, target = docx.Document(), io.BytesIO()
    document.add_paragraph("The pump is blue.")
    document.save(target)
    return target.getvalue()


def _xlsx() -> bytes:
    book, target = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["The pump is blue."])
    book.save(target)
    return target.getvalue()


_PAGE = b"<html><head><meta charset='utf-8'></head><body><p>The pump is blue.</p></body></html>"
_TABLE = b"<table><tr><th>Part</th><th>Colour</th></tr><tr><td>pump</td><td>blue</td></tr></table>"
_CSV = b"part,colour\npump,blue\nvalve,red\n"


@pytest.mark.parametrize(
    ("name", "content", "extension"),
    [
        ("letter.doc", _docx(), "docx"),
        ("letter.pdf", _docx(), "docx"),
        ("letter.txt", _docx(), "docx"),
        ("book.docx", _xlsx(), "xlsx"),
        ("page.doc", _PAGE, "html"),
        ("page.pdf", _PAGE, "html"),
        ("report.xls", b"\xef\xbb\xbf" + _TABLE, "html"),
        ("report.xlsx", b"<!-- made by a program -->\n" + _TABLE, "html"),
        ("report.xls", _CSV, "csv"),
        ("report.xls", b"\xff\xfe" + "part\tcolour\npump\tblue\nvalve\tred\n".encode("utf-16-le"), "csv"),
        ("letter.doc", b"The pump is blue.", "txt"),
        ("letter.wps", _docx(), "docx"),
        ("book.et", _xlsx(), "xlsx"),
        ("letter.wps", b"{\\rtf1 The pump is blue.}", "rtf"),
        ("book.et", _CSV, "csv"),
        ("letter.docx", b"The pump is blue.", "txt"),
    ],
    ids=lambda value: None if isinstance(value, str) else "",  # a workbook's bytes contain the time
)
def test_a_file_is_read_by_its_actual_type(tmp_path: Path, name: str, content: bytes, extension: str) -> None:
    (tmp_path / "file").write_bytes(content)
    kind, *found = parse_file(tmp_path / "file", name, tmp_path / "out", ParseLimits())
    assert kind == FileType(media_type=format_of(f"x.{extension}").media_type)
    assert "pump" in _text(found) and "blue" in _text(found)


def test_a_correctly_named_file_yields_no_file_type(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(_docx())
    found = list(parse_file(tmp_path / "file", "letter.docx", tmp_path / "out", ParseLimits()))
    assert found == [Paragraph(text="The pump is blue.")]


def _text(elements: list[Element]) -> str:
    texts = [element.text for element in elements if isinstance(element, Paragraph)]
    tables = [element for element in elements if isinstance(element, Table)]
    return " ".join([*texts, *(cell for table in tables for row in (table.columns, *table.rows) for cell in row)])


@pytest.mark.parametrize(
    ("extension", "content", "code", "words"),
    [
        ("pdf", b"PK\x03\x04....", "broken", "ZIP"),
        ("pdf", b"\x00" * 5000, "broken", "zero bytes"),
        ("pdf", b"\x01\x02\x03\x04" * 50, "broken", "something else"),
        ("docx", b"PK\x03\x04 cut short", "broken", "damaged"),
        ("xlsx", OLE + b"\x00" * 600, "broken", "damaged"),
    ],
)
def test_unreadable_bytes_are_refused(tmp_path: Path, extension: str, content: bytes, code: str, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ParseError) as caught:
        identify(path, extension)
    assert caught.value.code == code
    assert words in message_of(caught.value)


def test_an_archive_named_as_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"7z\xbc\xaf\x27\x1c")
    with pytest.raises(ParseError) as caught:
        list(parse_file(tmp_path / "file", "notes.md", tmp_path / "out", ParseLimits()))
    assert caught.value.code == "broken"
    assert "7-Zip" in message_of(caught.value)


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        ({"word/document.xml": b"x" * 40 * 1024**2}, "too_large", "bomb"),
        ({"mimetype": b"application/epub+zip", "a.xhtml": b"x" * 40 * 1024**2}, "too_large", "bomb"),
        (
            {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"x" * 40 * 1024**2},
            "too_large",
            "bomb",
        ),
        ({"readme.txt": b"hello"}, "broken", "another kind of ZIP archive"),
        ({"word/document.xml": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'}, "broken", "entities"),
        ({"word/document.xml": '<?xml version="1.0"?><!DOCTYPE a>'.encode("utf-16")}, "broken", "entities"),
        ({"word/document.xml": b"<a/>", "word/b.VML": b" " * 4000 + b"<!DOCTYPE a><a/>"}, "broken", "entities"),
        ({"word/document.xml": b" " * 5000 + b"<!DOCTYPE a><a/>"}, "broken", "entities"),
    ],
)
def test_harmful_office_archives(tmp_path: Path, parts: dict[str, bytes], code: str, words: str) -> None:
    path = make_archive(tmp_path / "file", parts)
    with pytest.raises(ParseError) as caught:
        identify(path, "docx")
    assert caught.value.code == code
    assert words in message_of(caught.value)


def test_archives_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_archive(tmp_path / "file", {"word/document.xml": b"<a/>", "b": b"b" * 100})
    monkeypatch.setattr(limits_module, "MAX_XML", 3)
    with pytest.raises(ParseError, match=r"too_large\.office"):
        identify(path, "docx")
    monkeypatch.setattr(limits_module, "MAX_UNPACKED", 50)
    with pytest.raises(ParseError, match=r"too_large\.unpacked"):
        identify(path, "docx")
    monkeypatch.setattr(limits_module, "MAX_ENTRIES", 1)
    with pytest.raises(ParseError, match=r"too_large\.parts.*2"):
        identify(path, "docx")


def test_an_archive_with_a_password(tmp_path: Path) -> None:
    path = make_archive(tmp_path / "file", {"word/document.xml": b"<a/>"})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert zipfile.is_zipfile(path)
    with pytest.raises(ParseError) as caught:
        identify(path, "docx")
    assert caught.value.code == "encrypted"


def test_valid_files_pass(tmp_path: Path) -> None:
    assert identify(make_archive(tmp_path / "a", {"word/document.xml": b"<a/>"}), "docx") == "docx"
    (tmp_path / "b").write_bytes(b"junk before\n%PDF-1.4 ...")
    assert identify(tmp_path / "b", "pdf") == "pdf"
    (tmp_path / "c").write_text("中文，a,b\n", encoding="utf-16")
    assert identify(tmp_path / "c", "csv") == "csv"


def test_a_format_that_needs_a_program_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libreoffice, "has", lambda module: False)
    assert "doc" not in registry.extensions()
    with pytest.raises(ParseError) as caught:
        check_name("Letter.DOC")
    assert caught.value.code == "missing_tool"
    assert "libreoffice-writer-nogui" in message_of(caught.value) and ".docx" in message_of(caught.value)
    check_name("Letter.DOC", b"PK\x03\x04")  # a docx with an older extension
    with pytest.raises(ParseError):
        check_name("Letter.DOC", OLE)
    monkeypatch.setattr(libreoffice, "has", lambda module: True)
    assert "doc" in registry.extensions()
    check_name("Letter.DOC")


@pytest.mark.parametrize("name", ["tool.exe", "README", "archive.zip"])
def test_unreadable_formats_are_refused_by_name(name: str) -> None:
    with pytest.raises(ParseError) as caught:
        check_name(name)
    assert caught.value.code == "unsupported"
    assert "docx" in message_of(caught.value)


@pytest.mark.parametrize("name", ["旧文件.wps", "old.et", "old.dps"])
@pytest.mark.parametrize("stream", ["CONTENTS", ""])
def test_old_formats_of_wps_and_works_are_refused_in_words(
    tmp_path: Path, name: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Works:  # an OLE file with this stream
        def __enter__(self) -> "Works":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def listdir(self, **kinds: bool) -> list[list[str]]:
            return [[stream]]

    monkeypatch.setattr(olefile, "OleFileIO", lambda path: Works())
    (tmp_path / name).write_bytes((OLE if stream else b"WPS\x01\x02") + b"\x03" * 600)
    with pytest.raises(ParseError) as caught:
        identify(tmp_path / name, name.rpartition(".")[2])
    assert caught.value.code == "unsupported" and "has an old format" in message_of(caught.value)
