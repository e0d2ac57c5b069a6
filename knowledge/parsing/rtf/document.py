"""Rich text (rtf): headings, lists, tables, pictures and notes in reading order."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from knowledge.parsing.elements import Element, Heading, Paragraph, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import STRUCK_OUT
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.rtf.reader import NEAR, CellProperties, Reader, Row, Text
from knowledge.parsing.tables.layout import Cell, table_of, with_captions
from knowledge.parsing.text import chapter_level, looks_like_title

_START = "{\\rtf"
_BULLETS = frozenset("·•●○■▪◦–—-*o§\uf0b7\uf0a7\uf0d8\uf076\uf0fc\uf06c\uf06e")
_DEEPEST_INDENT = 8


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a rich text's elements; raises `ParseError` if it isn't one, is nested too deeply, or empty."""
    source = path.read_bytes().decode("latin-1")
    if not source.lstrip("\ufeffï»¿ \r\n").startswith(_START):
        raise ParseError("broken.not_office", kind="RTF (.rtf)")
    reader = Reader(source)
    blocks = list(reader.blocks())
    has_headings = any(isinstance(block, Text) and (block.level or block.is_title) for block in blocks)
    has_title = any(isinstance(block, Text) and block.is_title for block in blocks)
    pictures = PictureStore(context.output_dir)

    def elements() -> Iterator[Element]:
        for is_row, group in groupby(blocks, lambda block: isinstance(block, Row)):
            if is_row:
                yield from _table([block for block in group if isinstance(block, Row)])
                continue
            for block in group:
                if isinstance(block, bytes):
                    yield from pictures.save(block)
                elif isinstance(block, Text):
                    yield _element(block, has_headings, has_title)

    found = list(with_captions(elements()))
    if not found:
        raise ParseError("no_text.document")
    return iter([*found, *([STRUCK_OUT] if reader.has_struck else []), Title(text=reader.title, shown=False)])


def _element(block: Text, has_headings: bool, has_title: bool) -> Element:
    if block.is_title:
        return Heading(text=block.text, level=1)
    level = block.level + 1 if block.level and has_title else block.level
    if not has_headings and block.is_bold and looks_like_title(block.text) and not block.marker:
        # In a document without heading styles, short bold lines are meant as headings.
        level = chapter_level(block.text) or 2
    marker = "-" if block.marker and set(block.marker) <= _BULLETS else block.marker
    if level:
        return Heading(text=" ".join(f"{'' if marker == '-' else marker} {block.text}".split()), level=level)
    indent = "  " * min(block.indent, _DEEPEST_INDENT)
    return Paragraph(text=f"{indent}{marker} {block.text}" if marker else block.text)


def _table(rows: list[Row]) -> Iterator[Element]:
    """Yield the table; a cell spans the columns up to its right edge, and the rows whose cells are merged with it."""
    edges: list[int] = []
    for edge in sorted(properties.edge for row in rows for properties in row.properties):
        if not edges or edge - edges[-1] > NEAR:
            edges.append(edge)
    lines: list[list[Cell]] = []
    above: dict[int, tuple[int, int]] = {}  # by column, the position of the cell that those below it may be merged with
    for row in rows:
        line: list[Cell] = []
        column = 0
        declared = row.properties if len(row.properties) == len(row.cells) else []
        for number, text in enumerate(row.cells):
            properties = declared[number] if declared else CellProperties(0)
            last = bisect_left(edges, properties.edge - NEAR)
            width = max(1, last - column + 1) if declared else 1
            if properties.joins_left and line and not text:
                line[-1] = Cell(line[-1].text, line[-1].columns + width, line[-1].rows)
            elif properties.joins_above and column in above:
                top, place = above[column]
                merged = lines[top][place]
                lines[top][place] = Cell(merged.text, merged.columns, len(lines) - top + 1)
            else:
                above[column] = (len(lines), len(line))
                line.append(Cell(text, width))
            column += width
        lines.append(line)
    header = 0
    while header < len(rows) - 1 and rows[header].is_header:
        header += 1
    yield from table_of(lines, header_rows=header or None)
