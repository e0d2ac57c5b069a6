"""The content of a Word paragraph: its visible text, and the pictures, boxes, charts and notes anchored in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from docx.oxml.ns import nsmap, qn
from lxml import etree

from knowledge.parsing.decoding import as_shown, raised
from knowledge.parsing.limits import number_in
from knowledge.parsing.ooxml import COMPATIBILITY, MATH
from ragsite.markup import tex

_VML = "{urn:schemas-microsoft-com:vml}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_RELATION = f"{{{nsmap['r']}}}"
_WRAPPERS = frozenset(
    {qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:moveTo"), qn("w:smartTag"), qn("w:customXml")}
)
_SKIPPED = frozenset(
    {qn("w:del"), qn("w:moveFrom"), qn("w:instrText"), qn("w:delText"), qn("w:pPr"), qn("w:rPr"), qn("w:rt")}
    | {f"{COMPATIBILITY}Fallback", qn("w:sdtPr"), qn("w:sdtEndPr")}
)
_SIGNS = {qn("w:tab"): "\t", qn("w:ptab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_LONGEST_ADDRESS = 100  # characters
_DEEPEST = 60
_CODE = re.compile("[0-9A-Fa-f]{2,4}")


@dataclass(slots=True)
class Run:
    """The content of a paragraph."""

    text: str = ""
    bold: bool = False  # whether all of its text is bold
    pictures: list[tuple[str, str]] = field(default_factory=list)  # relation, alternative text
    charts: list[str] = field(default_factory=list)  # relations
    boxes: list[etree._Element] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class RunReader:
    """Reads paragraphs, and numbers notes in the order of their references."""

    def __init__(
        self,
        part: Any,
        footnotes: dict[str, etree._Element],
        endnotes: dict[str, etree._Element],
        comments: dict[str, etree._Element],
    ) -> None:
        self.part, self.comments = part, comments
        self.sources = {qn("w:footnoteReference"): footnotes, qn("w:endnoteReference"): endnotes}
        self.count = 0
        self.has_struck_out = False

    def read(self, paragraph: etree._Element) -> Run:
        """Return the content of a `w:p`."""
        run = Run()
        parts: list[str] = []
        self._gather(paragraph, run, parts, 0)
        run.text = "".join(parts)
        spoken = [item for item in paragraph.iter(qn("w:r")) if plain_text(item).strip()]
        run.bold = bool(spoken) and all(_is_on(item.find(f"{qn('w:rPr')}/{qn('w:b')}")) for item in spoken)
        return run

    def _gather(self, node: etree._Element, run: Run, parts: list[str], depth: int) -> None:
        for child in node:
            tag = child.tag
            if tag in _SKIPPED or not isinstance(tag, str):
                continue
            if depth > _DEEPEST:
                parts.append(plain_text(child))
            elif tag == f"{MATH}oMath":
                parts.append(tex.of_office(child))
            elif tag == qn("w:t"):
                fonts = node.find(f"{qn('w:rPr')}/{qn('w:rFonts')}")
                parts.append(as_shown(child.text or "", fonts.get(qn("w:ascii"), "") if fonts is not None else ""))
            elif tag == qn("w:sym"):
                code = child.get(qn("w:char"), "")
                char = chr(int(code, 16)) if _CODE.fullmatch(code) else ""
                parts.append(as_shown(char, child.get(qn("w:font"), "")))
            elif tag == qn("w:ffData"):
                parts.append(_field_without_text(child))
            elif tag in _SIGNS:
                if child.get(qn("w:type")) != "page":
                    parts.append(_SIGNS[tag])
            elif tag == qn("w:r"):
                if any(_is_on(child.find(f"{qn('w:rPr')}/{qn(name)}")) for name in ("w:strike", "w:dstrike")):
                    self.has_struck_out = self.has_struck_out or bool(plain_text(child).strip())
                elif not _is_on(child.find(f"{qn('w:rPr')}/{qn('w:vanish')}")):
                    before = len(parts)
                    self._gather(child, run, parts, depth + 1)
                    place = child.find(f"{qn('w:rPr')}/{qn('w:vertAlign')}")
                    if place is not None and place.get(qn("w:val")) == "superscript":
                        parts[before:] = [raised("".join(parts[before:]), parts[:before])]
            elif tag in self.sources:
                note = self.sources[child.tag].get(child.get(qn("w:id"), ""))
                text = "" if note is None else " ".join(plain_text(note).split())
                if text:
                    self.count += 1
                    parts.append(f"[{self.count}]")
                    run.notes.append(f"[{self.count}] {text}")
            elif tag == qn("w:commentReference"):
                comment = self.comments.get(child.get(qn("w:id"), ""))
                text = "" if comment is None else " ".join(plain_text(comment).split())
                if comment is not None and text:
                    run.notes.append(f"[{comment.get(qn('w:author'), '').strip() or 'Comment'}] {text}")
            elif tag == qn("w:hyperlink"):
                before = len(parts)
                self._gather(child, run, parts, depth + 1)
                shown = "".join(parts[before:]).strip()
                relation = self.part.rels.get(child.get(f"{_RELATION}id", ""))
                address = str(relation.target_ref) if relation is not None and relation.is_external else ""
                is_web = address.startswith(("http://", "https://")) and len(address) <= _LONGEST_ADDRESS
                if shown and is_web and shown not in address:
                    parts.append(f" ({address})")
            elif tag in (qn("w:drawing"), qn("w:pict"), qn("w:object")):
                _anchor(child, run)
            else:
                self._gather(child, run, parts, depth + 1)


def _anchor(drawing: etree._Element, run: Run) -> None:
    """Add the pictures, charts and boxes in a drawing or an object to the run."""
    alt = ""
    for item in drawing.iter(qn("wp:docPr")):
        alt = alt or _useful(item.get("descr", "")) or _useful(item.get("title", ""))
    stack = list(reversed(drawing))
    while stack:
        item = stack.pop()
        if item.tag not in (qn("w:txbxContent"), f"{COMPATIBILITY}Fallback"):
            stack.extend(reversed(item))
        if item.tag == qn("a:blip"):
            run.pictures.append((item.get(f"{_RELATION}embed", ""), alt))
        elif item.tag == f"{_VML}imagedata":
            shape = item.getparent()
            own = (shape.get("alt") if shape is not None else "") or item.get("title") or ""
            run.pictures.append((item.get(f"{_RELATION}id", ""), alt or _useful(own)))
        elif item.tag == _CHART:
            run.charts.append(item.get(f"{_RELATION}id", ""))
        elif item.tag == qn("w:txbxContent"):
            run.boxes.append(item)


def _field_without_text(field: etree._Element) -> str:
    """Return the state of a legacy form's checkbox or the selected item of its list, which no run contains."""
    box, choices = field.find(qn("w:checkBox")), field.find(qn("w:ddList"))
    if box is not None:
        state = box.find(qn("w:checked"))
        return "☑" if _is_on(box.find(qn("w:default")) if state is None else state) else "☐"
    if choices is None:
        return ""
    entries = [entry.get(qn("w:val"), "") for entry in choices.findall(qn("w:listEntry"))]
    chosen = choices.find(qn("w:result"))
    if chosen is None:
        chosen = choices.find(qn("w:default"))
    place = chosen.get(qn("w:val"), "") if chosen is not None else "0"
    number = number_in(place, len(entries))
    return entries[number] if number < len(entries) else ""


def plain_text(node: etree._Element) -> str:
    """Return the text of a node's runs, without breaks."""
    return "".join(item.text or "" for item in node.iter(qn("w:t")))


def children(node: etree._Element) -> Iterator[etree._Element]:
    """Yield a node's children, replacing content controls, insertions and alternatives by their children."""
    stack = list(reversed(node))
    while stack:
        child = stack.pop()
        if child.tag in _WRAPPERS:
            gallery = child.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}")
            if not (gallery is not None and gallery.get(qn("w:val")) == "Table of Contents"):
                stack.extend(reversed(child))
        elif child.tag == f"{COMPATIBILITY}AlternateContent":
            choice = child.find(f"{COMPATIBILITY}Choice")
            stack.extend(reversed(child if choice is None else choice))
        elif isinstance(child.tag, str):
            yield child


def _is_on(node: etree._Element | None) -> bool:
    return node is not None and node.get(qn("w:val"), "true") not in ("0", "false", "off")


def _useful(alt: str) -> str:
    """Return alternative text, or "" if it is a file's name."""
    text = " ".join(alt.split())
    is_file = text.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".tif", ".tiff"))
    return "" if is_file and " " not in text else text
