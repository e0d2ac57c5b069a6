"""OpenDocument: texts, workbooks and presentations."""

import zipfile
from pathlib import Path

import pytest

from knowledge.parsing.elements import Heading, PageBreak, Picture, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import ParseContext, format_of
from knowledge.parsing.sandbox.identity import identify
from tests.knowledge.reading import message_of, outline, png, read, refused

_NAMES = "".join(
    f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"),
        ("presentation", "presentation"), ("svg", "svg-compatible"), ("chart", "chart"), ("manifest", "manifest"),
        ("meta", "meta"),
    )
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip
_KINDS = {"odt": "text", "ods": "spreadsheet", "odp": "presentation"}


def make(path: Path, body: str, styles: str = "", automatic: str = "", **parts: bytes) -> Path:
    """Write a file with a body, of the type of its extension."""
    kind = _KINDS[path.suffix[1:]]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        package.writestr(
            "content.xml",
            f"<office:document-content{_NAMES}><office:automatic-styles>{automatic}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
        package.writestr("styles.xml", f"<office:document-styles{_NAMES}>{styles}</office:document-styles>")
        package.writestr(
            "meta.xml",
            f"<office:document-meta{_NAMES}><office:meta><dc:title>Pump manual</dc:title></office:meta>"
            "</office:document-meta>",
        )
        for name, data in parts.items():
            package.writestr(name, data)
    return path


_STYLES = (
    '<style:style style:name="Title" style:family="paragraph"/>'
    '<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>'
    '<style:style style:name="Part" style:family="paragraph" style:default-outline-level="1"/>'
)
_AUTOMATIC = (
    '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    '<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Part"/>'
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" '
    'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    "</text:list-style>"
    '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def test_a_text(tmp_path: Path) -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        '<text:p text:style-name="P1">Handbook</text:p>'
        "<text:table-of-content><text:index-body><text:p>Pumps 1</text:p></text:index-body></text:table-of-content>"
        '<text:h text:outline-level="1">Pumps</text:h>'
        '<text:p>The <text:span>pump</text:span><text:s text:c="2"/>is<text:line-break/>blue<text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>Or teal.</text:p></text:note-body>"
        "</text:note>.<office:annotation><text:p>a remark</text:p></office:annotation></text:p>"
        '<text:list text:style-name="L1"><text:list-item><text:p>Check the oil</text:p><text:list><text:list-item>'
        "<text:p>slowly</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Start</text:p>"
        "</text:list-item></text:list>"
        '<text:list text:style-name="L2"><text:list-item><text:p>loose</text:p></text:list-item></text:list>'
        '<text:p text:style-name="Preformatted_20_Text">if x:</text:p>'
        '<text:p text:style-name="Preformatted_20_Text"><text:s text:c="4"/>run()</text:p>'
        '<text:p text:style-name="P2">Valves</text:p>'
        "<text:section><text:p>inside</text:p></text:section>"
    )
    path = make(tmp_path / "a.odt", body, _STYLES, _AUTOMATIC)
    assert outline(read(path)) == [
        "# Handbook", "## Pumps", "The pump is\nblue [1].", "[1] Or teal.", "1. Check the oil", "  a) slowly",
        "2. Start", "- loose", "code: if x:\n    run()", "## Valves", "inside",
    ]  # fmt: skip
    assert list(format_of("a.odt").load()(path, ParseContext(tmp_path, "a.odt")))[-1] == Title(
        text="Pump manual", shown=False
    )


def _cells(*texts: str, extra: str = "") -> str:
    cells = "".join(f"<table:table-cell{extra}><text:p>{text}</text:p></table:table-cell>" for text in texts)
    return f"<table:table-row>{cells}</table:table-row>"


def test_tables_pictures_and_charts_of_a_text(tmp_path: Path) -> None:
    body = (
        "<text:p>Table 1: Parts</text:p>"
        f"<table:table><table:table-header-rows>{_cells('Part', 'Colour')}</table:table-header-rows>"
        '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Pump</text:p></table:table-cell>'
        "<table:table-cell><text:p>blue</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>red</text:p></table:table-cell>"
        "</table:table-row></table:table>"
        '<text:p>See <draw:frame><draw:image xlink:href="Pictures/1.png"/><svg:title>The pump</svg:title></draw:frame>'
        "it.</text:p>"
        '<text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
        '<text:p><draw:frame><draw:image xlink:href="http://127.0.0.1:9/x.png"/></draw:frame></text:p>'
        f"<table:table>{_cells('A frame around text')}</table:table>"
    )
    chart = (
        f"<office:document-content{_NAMES}><office:body><office:chart><chart:chart><chart:title><text:p>Sales</text:p>"
        f"</chart:title><table:table>{_cells('', 'Pumps')}{_cells('2024', '7')}</table:table></chart:chart>"
        "</office:chart></office:body></office:document-content>"
    )
    parts = {"Pictures/1.png": png(), "Object 1/content.xml": chart.encode()}
    found = read(make(tmp_path / "a.odt", body, **parts))
    assert outline(found) == [
        "table: Table 1: Parts: Part,Colour | Pump,blue | Pump,red", "See it.", "picture: The pump",
        "table: Sales:  | ,Pumps | 2024,7", "A frame around text",
    ]  # fmt: skip
    picture = next(element for element in found if isinstance(element, Picture))
    assert (tmp_path / "pictures" / picture.path).read_bytes() == png()


def test_formulas_powers_and_symbols(tmp_path: Path) -> None:
    styles = "".join(
        f'<style:style style:name="{name}" style:family="text"><style:text-properties {properties}/></style:style>'
        for name, properties in (("T1", 'style:text-position="super 58%"'), ("T2", 'style:font-name="Symbol"'))
    )
    body = (
        '<text:p>Take <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> of it.</text:p>'
        '<text:p>It is <text:span text:style-name="T2">\uf0b3</text:span> 10'
        '<text:span text:style-name="T1">6</text:span></text:p>'
    )
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mfrac><mn>1</mn><mn>2</mn></mfrac>'
        '<annotation encoding="StarMath 5.0">1 over 2</annotation></semantics></math>'
    )
    path = make(tmp_path / "a.odt", body, automatic=styles, **{"Object 1/content.xml": formula.encode()})

    assert outline(read(path)) == [r"Take \(\frac{1}{2}\) of it.", "It is ≥ 10^6"]


def test_a_workbook(tmp_path: Path) -> None:
    wide = '<table:table-cell table:number-columns-repeated="16384"/>'
    empty = f'<table:table-row table:number-rows-repeated="1048000">{wide}'
    body = (
        f'<table:table table:name="Budget">{_cells("Item", "Cost")}'
        '<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>Pump</text:p></table:table-cell>'
        '<table:table-cell office:value-type="float" office:value="12.5"><text:p>12.50 €</text:p></table:table-cell>'
        f"</table:table-row>{empty}</table:table-row></table:table>"
        '<table:table table:name="Plan"><table:shapes>'
        '<draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
        "</table:shapes>"
        '<table:table-row><table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="1"><text:p>Both'
        "</text:p></table:table-cell><table:covered-table-cell/></table:table-row>"
        f"{_cells('a', 'b')}{_cells('1', '2')}</table:table>"
    )
    found = read(make(tmp_path / "a.ods", body, **{"Pictures/1.png": png()}))
    assert [element for element in found if isinstance(element, PageBreak | Heading)] == [
        PageBreak(page=1), Heading(page=1, text="Budget"), PageBreak(page=2), Heading(page=2, text="Plan"),
    ]  # fmt: skip
    assert outline(found) == [
        "# Budget", "table: Item,Cost | Pump,12.50 € | Pump,12.50 €", "# Plan", "table: Both: a,b | 1,2", "picture: ",
    ]  # fmt: skip


def test_a_workbook_with_too_many_rows_is_refused(tmp_path: Path) -> None:
    row = (
        '<table:table-row table:number-rows-repeated="9999999"><table:table-cell><text:p>x</text:p></table:table-cell>'
    )
    path = make(tmp_path / "a.ods", f'<table:table table:name="a">{row}</table:table-row></table:table>')
    assert refused(path, max_rows=100) == "too_many_rows"


def test_slides(tmp_path: Path) -> None:
    def frame(text: str, kind: str, y: str) -> str:
        return (
            f'<draw:frame presentation:class="{kind}" svg:x="1cm" svg:y="{y}"><draw:text-box><text:p>{text}</text:p>'
            "</draw:text-box></draw:frame>"
        )

    body = (
        "<draw:page>"
        + frame("below", "outline", "9cm")
        + frame("above", "outline", "5cm")
        + frame("Aims", "title", "20cm")
        + frame("7", "page-number", "1cm")
        + f"<presentation:notes>{frame('Say why.', 'notes', '1cm')}</presentation:notes></draw:page>"
        + f"<draw:page>{frame('Only this', 'outline', '1cm')}</draw:page>"
    )
    found = list(format_of("a.odp").load()(make(tmp_path / "a.odp", body), ParseContext(tmp_path, "a.odp")))
    assert found[0] == PageBreak(page=1, total=2)
    texts = [element for element in found if not isinstance(element, Title)]
    assert outline(texts) == ["# Aims", "above", "below", "Say why.", "# Slide 2", "Only this"]
    assert found[-2] == Title(text="Aims")


@pytest.mark.parametrize("extension", list(_KINDS))
def test_files_that_cannot_be_read(tmp_path: Path, extension: str) -> None:
    manifest = f"<manifest:manifest{_NAMES}><manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    parts = {"META-INF/manifest.xml": f"{manifest}</manifest:manifest>".encode()}
    path = make(tmp_path / f"locked.{extension}", "", **parts)
    assert identify(path, "docx") == extension
    with pytest.raises(ParseError) as caught:
        read(path)
    assert caught.value.code == "encrypted" and "password" in message_of(caught.value)
    assert refused(make(tmp_path / f"empty.{extension}", "")) == "no_text"
    broken = make(tmp_path / f"broken.{extension}", "</office:text>")
    assert refused(broken) == "broken"


def test_entities_are_not_followed(tmp_path: Path) -> None:
    path = make(tmp_path / "a.odt", "<text:p>fine</text:p>")
    bomb = '<!DOCTYPE a [<!ENTITY b "bang"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    with zipfile.ZipFile(path) as package:
        content = package.read("content.xml").decode().replace("fine", "fine&b;&c;")
    target = make(tmp_path / "b.odt", "", **{})
    with zipfile.ZipFile(tmp_path / "c.odt", "w") as package, zipfile.ZipFile(target) as source:
        for name in source.namelist():
            package.writestr(name, bomb + content if name == "content.xml" else source.read(name))
    assert outline(read(tmp_path / "c.odt")) == ["fine"]
