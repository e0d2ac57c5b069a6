"""OpenDocument texts (odt)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from knowledge.parsing.elements import Code, Element, Notice
from knowledge.parsing.errors import ParseError
from knowledge.parsing.limits import STRUCK_OUT
from knowledge.parsing.odf.blocks import Blocks
from knowledge.parsing.odf.package import OFFICE, Package, reporting_broken
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import with_captions


@reporting_broken
def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a text's elements; raises `ParseError` if it is protected, broken or empty."""
    with Package(path, context, "OpenDocument (.odt)") as package:
        root = package.part("content.xml")
        assert root is not None
        package.styles.read(root)
        body = root.find(f"{OFFICE}body/{OFFICE}text")
        blocks = Blocks(package, PictureStore(context.output_dir))
        found = [] if body is None else list(with_captions(_join_code(blocks.read(body))))
        if all(isinstance(element, Notice) for element in found):
            raise ParseError("no_text.document")
        yield from found
        if blocks.has_struck:
            yield STRUCK_OUT
        yield package.title()


def _join_code(elements: Iterator[Element]) -> Iterator[Element]:
    """Join code, which has a paragraph for each line, into blocks."""
    block: Code | None = None
    for element in elements:
        if isinstance(element, Code):
            block = element if block is None else replace(block, text=f"{block.text}\n{element.text}")
            continue
        if block is not None and block.text.strip():
            yield block
        block = None
        yield element
    if block is not None and block.text.strip():
        yield block
