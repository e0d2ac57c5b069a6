"""Office files from before 2007: read like current ones, or refused with a reason."""

import http.server
import re
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import docx
import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx import Presentation

from knowledge.parsing.elements import Heading, PageBreak, Picture, Table, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import conversion, libreoffice, xls
from knowledge.parsing.legacy.conversion import convert
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.sandbox.runner import ParseLimits, parse_file
from tests.knowledge.reading import message_of, outline, png, read, with_part

Make = Callable[[Path, str], Path]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that converts a file to an older format, by its extension."""
    profile = tmp_path_factory.mktemp("libreoffice")

    def make(path: Path, extension: str) -> Path:
        command = [libreoffice.program(), f"-env:UserInstallation={profile.as_uri()}", "--headless"]
        command += ["--infilter=HTML (StarWriter)"] if path.suffix == ".html" else []
        subprocess.run(
            [*command, "--convert-to", extension, "--outdir", path.parent, path], check=True, capture_output=True
        )
        return path.with_suffix(f".{extension.partition(':')[0]}")

    return make


@pytest.fixture(scope="session")
def letter(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("word")
    document = docx.Document()
    document.add_heading("Pumps", 1)
    document.add_paragraph("The pump is blue.")
    document.add_paragraph("Check the oil", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip((*table.rows[0].cells, *table.rows[1].cells), ("Part", "Colour", "泵", "蓝色"), strict=True):
        cell.text = text
    (folder / "a.png").write_bytes(png())
    document.add_picture(str(folder / "a.png"))
    document.save(str(folder / "letter.docx"))
    return make(folder / "letter.docx", "doc")


@pytest.fixture(scope="session")
def workbook(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Budget"
    price = CellRichText(TextBlock(InlineFont(strike=True), "old "), TextBlock(InlineFont(), "Valve"))
    for row in (("Item", "Cost", "Paid"), ("Pump", 1200.5, True), (price, 0.25, False), ("Hose", 9, True)):
        book.active.append(row)
    for cell in book.active[4]:
        cell.font = Font(strike=True)
    book.active["B2"].number_format = "#,##0.00"
    book.active["B3"].number_format = "0%"
    sheet = book.create_sheet("Plan")
    sheet["A1"], sheet["A2"], sheet["B2"] = "Merged", "left", "right"
    sheet.merge_cells("A1:B1")
    path = tmp_path_factory.mktemp("excel") / "book.xlsx"
    book.save(path)
    return make(path, "xls")


@pytest.fixture(scope="session")
def talk(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Aims"
    slide.placeholders[1].text = "Fewer leaks"
    slide.notes_slide.notes_text_frame.text = "Say why."
    path = tmp_path_factory.mktemp("powerpoint") / "talk.pptx"
    show.save(str(path))
    return make(path, "ppt")


def test_a_word_file(letter: Path, tmp_path: Path) -> None:
    found = list(parse_file(letter, letter.name, tmp_path / "out", ParseLimits()))
    assert Heading(text="Pumps", level=1) in found
    assert {"The pump is blue.", "- Check the oil", "table: Part,Colour | 泵,蓝色"} <= set(outline(found[:-1]))
    assert any(isinstance(element, Picture) for element in found)


def test_a_workbook_with_libreoffice_and_without(
    workbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = list(parse_file(workbook, workbook.name, tmp_path / "out", ParseLimits()))
    monkeypatch.setattr(libreoffice, "has", lambda module: False)
    without = read(workbook)
    assert outline(without) == outline(with_it)
    assert outline(without)[:2] == [
        "# Budget",
        "table: Item,Cost,Paid | Pump,1,200.50,TRUE | Valve,25%,FALSE",
    ]
    assert outline(without)[-1] == "notice: Text that is struck out was left out."
    assert [element.page for element in without if isinstance(element, PageBreak)] == [1, 2]
    assert [element.caption for element in without if isinstance(element, Table)][1:] == ["Merged"]


def test_slides(talk: Path, tmp_path: Path) -> None:
    found = list(parse_file(talk, talk.name, tmp_path / "out", ParseLimits()))
    assert found[:2] == [PageBreak(page=1, total=1), Heading(page=1, text="Aims", level=1)]
    assert any("Fewer leaks" in line for line in outline(found[:-1])) and "Say why." in outline(found[:-1])


@pytest.mark.parametrize(
    ("fixture", "name", "line"),
    [("letter", "说明.wps", "The pump is blue."), ("workbook", "预算.et", "# Budget"), ("talk", "计划.dps", "# Aims")],
)
def test_files_of_wps_office(
    fixture: str, name: str, line: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(request.getfixturevalue(fixture).read_bytes())
    found = list(parse_file(path, name, tmp_path / "out", ParseLimits()))
    assert line in outline([element for element in found if not isinstance(element, Title)])


def test_the_xml_of_office_2003_under_the_name_of_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "export.xls"
    path.write_text(
        '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="Budget"><Table>'
        '<Row><Cell><Data ss:Type="String">Item</Data></Cell><Cell><Data ss:Type="String">Cost</Data></Cell></Row>'
        '<Row><Cell><Data ss:Type="String">Pump</Data></Cell><Cell><Data ss:Type="Number">12</Data></Cell></Row>'
        "</Table></Worksheet></Workbook>"
    )
    found = list(parse_file(path, path.name, tmp_path / "out", ParseLimits()))
    assert outline(found) == ["# Budget", "table: Item,Cost | Pump,12"]


def _protect_word(data: bytearray) -> None:
    data[data.index(b"\xec\xa5", 512) + 11] |= 1


def _protect_workbook(data: bytearray) -> None:
    start = data.index(b"\x09\x08\x10\x00\x00\x06\x05\x00") + 20
    data[start : start + 2] = b"\x2f\x00"


def _protect_slides(data: bytearray) -> None:
    start = data.index(b"\x5f\xc0\x91\xe3")
    data[start : start + 4] = b"\xdf\xc4\xd1\xf3"


@pytest.mark.parametrize(
    ("fixture", "protect", "newer"),
    [
        ("letter", _protect_word, ".docx"),
        ("workbook", _protect_workbook, ".xlsx"),
        ("talk", _protect_slides, ".pptx"),
    ],
)
def test_files_with_a_password_are_refused_with_that_reason(
    fixture: str,
    protect: Callable[[bytearray], None],
    newer: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound: Path = request.getfixturevalue(fixture)
    data = bytearray(sound.read_bytes())
    protect(data)
    path = tmp_path / sound.name
    path.write_bytes(data)
    with pytest.raises(ParseError) as caught:
        list(parse_file(path, path.name, tmp_path / "out", ParseLimits()))
    assert caught.value.code == "encrypted" and f"preferably as {newer}" in message_of(caught.value)
    if newer == ".xlsx":
        with pytest.raises(ParseError) as caught:
            list(xls.parse(path, ParseContext(tmp_path / "other", path.name)))
        assert caught.value.code == "encrypted"


def test_a_damaged_file_ends_with_a_reason(letter: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.doc"
    path.write_bytes(letter.read_bytes()[:3000])
    with pytest.raises(ParseError) as caught:
        list(parse_file(path, path.name, tmp_path / "out", ParseLimits()))
    assert caught.value.code == "broken"


def test_a_conversion_that_hangs_is_ended(letter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = tmp_path / "soffice"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(libreoffice, "program", lambda: str(hanging))
    monkeypatch.setattr(conversion, "TIMEOUT_S", 0.2)
    with pytest.raises(ParseError) as caught:
        convert(letter, "doc", "docx", tmp_path / "out")
    assert caught.value.code == "timeout"


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """Start a web server; yield its address and the paths that are asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


def test_nothing_that_a_file_links_to_is_fetched(make: Make, tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    page = tmp_path / "page.html"
    page.write_text(f"<p>before</p><img src='{address}/linked.png' width=50 height=50><p>after</p>")
    linked = make(make(page, "odt:writer8"), "doc")
    assert address.encode() in linked.read_bytes()
    asked.clear()
    assert convert(linked, "doc", "docx", tmp_path / "out").is_file()
    assert asked == []


def test_formulas_are_calculated_without_what_they_link_to(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    other = openpyxl.Workbook()
    other.active["A1"] = "secret"
    other.save(tmp_path / "other.xlsx")
    book = openpyxl.Workbook()
    book.active.title = "Budget"
    book.active.append(["Item", "Sum"])
    book.active.append(["Lamp", "=12*40"])
    for formula in (
        f'=_xlfn.WEBSERVICE("{address}/value")',
        f"='{address}/[book.xlsx]Sheet'!A1",
        f'=_xlfn.WEBSERVICE("file://{tmp_path}/other.xlsx")',
        f"='file://{tmp_path}/[other.xlsx]Sheet'!A1",
        f"=INDIRECT(\"'file://{tmp_path}/other.xlsx'#$Sheet.A1\")",
    ):
        book.active.append(["", formula])
    book.save(tmp_path / "a.xlsx")
    heading, table = outline(read(tmp_path / "a.xlsx"))
    assert heading == "# Budget" and table.startswith("table: Item,Sum | Lamp,480 | ")
    assert "secret" not in table and asked == []


def test_formulas_of_an_open_workbook_are_calculated(make: Make, tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    book = openpyxl.Workbook()
    for row in (["Item", "Sum"], ["Lamp", "=12*40"], ["Text", f'=_xlfn.WEBSERVICE("{address}/value")']):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    path = make(tmp_path / "a.xlsx", "ods")
    asked.clear()
    with zipfile.ZipFile(path) as package:
        content = package.read("content.xml")
    values = rb' office:value-type="(?:float|string)"(?: office:(?:string-)?value="[^"]*")?| calcext:value-type="\w+"'
    cell = re.compile(rb"(<table:table-cell [^>]*table:formula=[^>]*>)(?:<text:p>[^<]*</text:p>)?")
    bare = cell.sub(lambda found: re.sub(values, b"", found[1]), content)
    assert b"480" not in bare
    with_part(path, tmp_path / "b.ods", "content.xml", bare)
    assert outline(read(tmp_path / "b.ods"))[1].startswith("table: Item,Sum | Lamp,480")
    assert asked == []


def test_relations_to_parts_that_are_missing_do_no_harm(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "a.docx"))
    document = docx.Document()
    document.add_paragraph("The pump is blue.")
    document.save(str(tmp_path / "a.docx"))
    office = "http://schemas.openxmlformats.org"
    relations = (
        f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="rId1" Target="NULL" '
        f'Type="{office}/officeDocument/2006/relationships/image"/></Relationships>'
    ).encode()
    path = with_part(tmp_path / "a.docx", tmp_path / "b.docx", "word/_rels/document.xml.rels", relations)
    assert outline(read(path)) == ["The pump is blue."]


@pytest.mark.parametrize(
    ("name", "part", "kind"),
    [
        ("a.docm", b"wordprocessingml.document.main", b"application/vnd.ms-word.document.macroEnabled.main"),
        ("a.dotx", b"wordprocessingml.document.main", b"wordprocessingml.template.main"),
        (
            "a.pptm",
            b"presentationml.presentation.main",
            b"application/vnd.ms-powerpoint.presentation.macroEnabled.main",
        ),
        ("a.ppsx", b"presentationml.presentation.main", b"presentationml.slideshow.main"),
        ("a.xlsm", b"spreadsheetml.sheet.main", b"application/vnd.ms-excel.sheet.macroEnabled.main"),
    ],
)
def test_files_with_macros_templates_and_shows(tmp_path: Path, name: str, part: bytes, kind: bytes) -> None:
    plain = tmp_path / "plain"
    if "word" in part.decode():
        document = docx.Document()
        document.add_paragraph("The pump is blue.")
        document.save(str(plain))
    elif "sheet" in part.decode():
        book = openpyxl.Workbook()
        book.active.append(["The pump is blue."])
        book.save(plain)
    else:
        show = Presentation()
        show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "The pump is blue."
        show.save(str(plain))
    with zipfile.ZipFile(plain) as package:
        types = package.read("[Content_Types].xml")
    prefix = b"" if b"vnd" not in kind else b"application/vnd.openxmlformats-officedocument."
    assert prefix + part in types
    with_part(plain, tmp_path / name, "[Content_Types].xml", types.replace(prefix + part, kind))
    found = list(parse_file(tmp_path / name, name, tmp_path / "out", ParseLimits()))
    assert any("The pump is blue." in str(element) for element in found)
