"""HTML: the main content of a page without navigation and the like. Nothing is ever fetched."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html

from knowledge.parsing.decoding import clean, decode
from knowledge.parsing.elements import Element, Notice, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.walk import FindPicture, HtmlWalker
from knowledge.parsing.limits import STRUCK_OUT
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables.layout import with_captions
from ragsite.markup import tex

_CHARSET = re.compile(rb"""<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
# Character sets that browsers use for the declared ones; "" for those declared by habit, for which UTF-8 is tried.
_CHARSETS_READ = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030"}
_CHARSETS_READ |= dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis"), "cp932")
_CHARSETS_READ |= dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENTITY_DECLARATIONS = re.compile(r"<!DOCTYPE[^>\[]*\[.*?\]\s*>", re.S | re.I)
# A tag, whose quoted values may contain ">", up to its end or to where it breaks off; and one of its attributes.
_TAG = re.compile(r"""<([A-Za-z][\w:-]*)((?:[^>"']|"[^"]*"|'[^']*')*+)>?""")
_ATTRIBUTE = re.compile(r"""[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
# The parser compares each attribute with all before it; no page has more than some dozens. Shorter tags, in characters,
# have few.
_MOST_ATTRIBUTES, _LONG_TAG = 500, 20_000
_DROPPED_TAGS = frozenset(
    {"script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "embed", "applet", "audio"}
    | {"video", "canvas", "map", "button", "select", "input", "textarea", "datalist", "dialog", "link", "meta", "base"}
)
_WITHIN_LINES = frozenset({"span", "a", "b", "i", "em", "strong", "code", "kbd", "samp", "var", "u", "font"})
_DROPPED_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"}
)
_DROPPED_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav(?:header|footer|bar|box|igation|list)?|breadcrumbs?|toc|cookies?|sidebar|pagination|share"
    r"|skip-?(?:to-?)?(?:link|content|nav)|editsection|noprint|catlinks|printfooter|site-?(?:header|footer|sub)"
    r"|jump-link|headerlink|metadata|ambox|vector-(?:header|dropdown|toc|page-toolbar|sitenotice)\S*|interlanguage"
    r"|language-list|advertisement|ads|comments-form|related-posts|screen-reader-text|visually-hidden|sr-only|hidden"
    r"|index-entry|mw-hidden|related-?topics)(?:$|[\s_-])",
    re.I,
)
_MAIN_PATHS = (
    "//main",
    "//*[@role='main']",
    "//article",
    "//*[@id='mw-content-text']",
    "//*[@id='content' or @id='main' or @id='main-content' or @id='docContent' or @id='DisplayArea']",
    "//*[contains(concat(' ', @class, ' '), ' post-content ')]",
    "//*[contains(concat(' ', @class, ' '), ' entry-content ')]",
)
_MAIN_SHARE = 0.5  # of the body's text; a smaller "main" is only a part of it


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of a page; raises `ParseError` if it is empty or contains no text."""
    data = path.read_bytes()
    if not data.strip():
        raise ParseError("empty")
    root = _tree(source_of(data))
    found = [] if root is None else list(_elements_in(root, PictureStore(context.output_dir)))
    if root is None or all(isinstance(element, Notice) for element in found):
        raise ParseError("no_text.page")
    return iter([*found, Title(text=_title(root))])


def source_of(data: bytes, charset: str = "") -> str:
    """Return a page's source, decoded with `charset` or its declared one; raises `ParseError` if it isn't text."""
    if not charset and (declared := _CHARSET.search(data[:4096])):
        charset = declared.group(1).decode("ascii", "replace")
    charset = charset.lower()
    return clean(decode(data, _CHARSETS_READ.get(charset, charset)))


def elements_of(source: str, pictures: PictureStore, find_picture: FindPicture | None = None) -> Iterator[Element]:
    """Yield the elements of HTML source, none if there is nothing to read.

    `find_picture` returns the bytes for a picture's URL, or b"" if they aren't available.
    """
    root = _tree(source)
    if root is not None:
        yield from _elements_in(root, pictures, find_picture)


def title_of(source: str) -> str:
    """Return the title of HTML source, or ""."""
    root = _tree(source)
    return "" if root is None else _title(root)


def _title(root: etree._Element) -> str:
    return root.findtext(".//title") or ""


def _elements_in(
    root: etree._Element, pictures: PictureStore, find_picture: FindPicture | None = None
) -> Iterator[Element]:
    title = _title(root)
    # Show alternatives between which a script chooses, such as keys by operating system: adjacent and all hidden.
    for parent in root.iter(etree.Element):
        hidden = [child.get("hidden") is not None for child in parent]
        around = (parent.text, *(child.tail for child in parent))
        if len(hidden) < 2 or not all(hidden) or any(text and text.strip() for text in around):
            continue
        spoken = [child for child in parent if _length(child)]
        for child in spoken:
            del child.attrib["hidden"]
        for child in spoken[:-1]:
            child.tail = " / " if all(node.tag in _WITHIN_LINES for node in child.iter()) else None
    for node in [each for each in root.iter(etree.Element) if each.tag.rpartition(":")[2] == "math"]:
        # Encyclopedias hide formulas next to their pictures, and scripts that typeset formulas hide the originals.
        for span in node.iterancestors("span"):
            span.set("style", "")
        words = tex.of_mathml(node)
        tail = node.tail
        node.clear()
        node.tag, node.text, node.tail = "span", words, tail
    found = [node for node in root.iter(etree.Element) if node.getparent() is not None and _is_furniture(node)]
    struck = [
        node
        for node in root.iter(etree.Element)
        if (node.tag in ("s", "strike", "del") or "line-through" in node.get("style", "")) and _length(node)
    ]
    found += struck
    gone = set(found)
    for holder in {node.getparent(): None for node in found}:
        if holder is not None:
            _remove(holder, gone)
    body = root.find("body")
    main = root if body is None else body
    whole = _length(main)
    for path in _MAIN_PATHS:
        matches = root.xpath(path)
        nodes = [node for node in matches if isinstance(node, etree._Element)] if isinstance(matches, list) else []
        if len(nodes) == 1 and _length(nodes[0]) >= whole * _MAIN_SHARE:
            main = nodes[0]
            break
    walker = HtmlWalker(pictures, title, find_picture)
    walker.start(main)
    walker.walk(main)
    yield from with_captions(walker.finish())
    yield from [STRUCK_OUT] if struck else []


def _tree(source: str) -> etree._Element | None:
    # Entities declared by a document could expand without limit; HTML has none.
    source = _ENTITY_DECLARATIONS.sub("", _XML_DECLARATION.sub("", source), count=1)
    source = _TAG.sub(_with_few_attributes, source)
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = lxml_html.document_fromstring(source.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    if any("depth" in entry.message for entry in parser.error_log):
        raise ParseError("broken.page_too_deep")
    return root


def _with_few_attributes(tag: re.Match[str]) -> str:
    if len(tag[2]) < _LONG_TAG or not tag[0].endswith(">"):
        return tag[0]
    first = islice(_ATTRIBUTE.finditer(tag[2]), _MOST_ATTRIBUTES)
    return f"<{tag[1]} {' '.join(attribute[0] for attribute in first)}>"


def _is_furniture(node: etree._Element) -> bool:
    tag = node.tag
    if tag in ("html", "head", "body", "main", "article", "title"):
        return False
    if tag in _DROPPED_TAGS or node.get("role", "") in _DROPPED_ROLES:
        return True
    if node.get("hidden") is not None or node.get("aria-hidden") == "true":
        return True
    if re.search(r"display\s*:\s*none", node.get("style", "")):
        return True
    if tag in ("header", "footer", "aside"):
        # An article's header may contain the title.
        inside = tag == "header" and next(node.iterancestors("main", "article"), None) is not None
        return not inside and (tag != "header" or node.find(".//h1") is None)
    named = [name for name in ("class", "id") if _DROPPED_NAMES.search(node.get(name, ""))]
    if not named:
        return False
    # The id of a section is mostly made of its title, such as "metadata" in a manual; a list of links is furniture.
    is_section = tag == "section" or "section" in node.get("class", "").split()
    if named == ["id"] and is_section and next(node.iter("h1", "h2", "h3", "h4", "h5", "h6"), None) is not None:
        return sum(map(_length, node.iter("a"))) >= _length(node) / 2
    # A badly named container, such as <div class="nav-layout">, may contain the page itself.
    return node.find(".//h1") is None and next(node.iter("main", "article"), None) is None


def _remove(parent: etree._Element, gone: set[etree._Element]) -> None:
    """Remove children but keep the text after them, which is joined only once, since there may be very many."""
    texts = [parent.text or ""]
    kept: etree._Element | None = None
    for child in [*parent, None]:
        if child is not None and child in gone:
            texts.append(child.tail or "")
            parent.remove(child)
            continue
        if len(texts) > 1:
            text = "".join(texts)
            if kept is None:
                parent.text = text
            else:
                kept.tail = text
        if child is not None:
            kept, texts = child, [child.tail or ""]


def _length(node: etree._Element) -> int:
    return sum(len(text.strip()) for text in node.itertext() if isinstance(text, str))
