"""HTML: the main content of a page without its furniture. Nothing is ever fetched."""

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html

from knowledge.parsing.decoding import clean, decode
from knowledge.parsing.elements import Element, Notice, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.walk import HtmlWalker
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext
from knowledge.parsing.tables import with_captions

_CHARSET = re.compile(rb"""<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENTITY_DECLARATIONS = re.compile(r"<!DOCTYPE[^>\[]*\[.*?\]\s*>", re.S | re.I)
_DROPPED_TAGS = frozenset(
    {"script", "style", "noscript", "template", "nav", "svg", "math", "iframe", "object", "embed", "applet", "audio"}
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
    """Yield the elements of a page; raises `ParseError` when it is empty or holds no text."""
    data = path.read_bytes()
    if not data.strip():
        raise ParseError("empty")
    declared = _CHARSET.search(data[:4096])
    text = decode(data, _usable(declared.group(1).decode("ascii", "replace")) if declared else "")
    root = _tree(clean(text))
    found = [] if root is None else list(_elements_in(root, PictureStore(context.output_dir)))
    if root is None or all(isinstance(element, Notice) for element in found):
        raise ParseError("no_text.page")
    return iter([*found, Title(text=_title(root))])


def elements_of(source: str, pictures: PictureStore) -> Iterator[Element]:
    """Yield the elements of HTML source; none where there is nothing to read."""
    root = _tree(source)
    if root is not None:
        yield from _elements_in(root, pictures)


def _title(root: etree._Element) -> str:
    return root.findtext(".//title") or ""


def _elements_in(root: etree._Element, pictures: PictureStore) -> Iterator[Element]:
    title = _title(root)
    _show_alternatives(root)
    _drop_furniture(root)
    walker = HtmlWalker(pictures, title)
    main = _main(root)
    walker.start(main)
    walker.walk(main)
    yield from with_captions(walker.finish())


def _tree(source: str) -> etree._Element | None:
    # Entities of a document's own could grow without bound; HTML has none.
    source = _ENTITY_DECLARATIONS.sub("", _XML_DECLARATION.sub("", source), count=1)
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = lxml_html.document_fromstring(source.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    if any("depth" in entry.message for entry in parser.error_log):
        raise ParseError("broken.page_too_deep")
    return root


def _usable(declared: str) -> str:
    """The character set that browsers take for the declared one."""
    name = declared.lower()
    if name in {"gb2312", "gbk", "x-gbk"}:
        return "gb18030"
    if name in {"shift_jis", "shift-jis", "x-sjis", "sjis"}:
        return "cp932"
    if name in {"iso-8859-1", "latin1", "us-ascii", "ascii"}:
        return ""  # declared by habit; UTF-8 is tried first, then what fits
    return name


def _show_alternatives(root: etree._Element) -> None:
    """Show what a script chooses from, such as the key of each system: elements that stand together, all hidden."""
    for parent in root.iter(etree.Element):
        if not _is_choice(parent):
            continue
        spoken = [child for child in parent if _length(child)]
        for child in spoken:
            del child.attrib["hidden"]
        for child in spoken[:-1]:
            child.tail = " / " if all(node.tag in _WITHIN_LINES for node in child.iter()) else None


def _is_choice(parent: etree._Element) -> bool:
    hidden = [child.get("hidden") is not None for child in parent]
    around = (parent.text, *(child.tail for child in parent))
    return len(hidden) > 1 and all(hidden) and not any(text and text.strip() for text in around)


def _drop_furniture(root: etree._Element) -> None:
    found = [node for node in root.iter(etree.Element) if node.getparent() is not None and _is_furniture(node)]
    gone = set(found)
    for parent in {node.getparent(): None for node in found}:
        if parent is not None:
            _remove(parent, gone)


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
        return _is_page_level(node)
    names = f"{node.get('class', '')} {node.get('id', '')}"
    return len(names) > 1 and _DROPPED_NAMES.search(names) is not None and not _holds_most(node)


def _is_page_level(node: etree._Element) -> bool:
    """Whether a header, footer or aside is the page's, not an article's with the title in it."""
    if node.tag != "header":
        return True
    return next(node.iterancestors("main", "article"), None) is None and node.find(".//h1") is None


def _holds_most(node: etree._Element) -> bool:
    """Whether a badly named container holds the page itself, such as <div class="nav-layout">."""
    return node.find(".//h1") is not None or next(node.iter("main", "article"), None) is not None


def _remove(parent: etree._Element, gone: set[etree._Element]) -> None:
    """Take children out but leave the text after them, joined once: there may be very many."""
    texts = [parent.text or ""]
    kept: etree._Element | None = None
    for child in [*parent, None]:
        if child is not None and child in gone:
            texts.append(child.tail or "")
            parent.remove(child)
            continue
        if len(texts) > 1:
            _set_text(parent, kept, "".join(texts))
        if child is not None:
            kept, texts = child, [child.tail or ""]


def _set_text(parent: etree._Element, child: etree._Element | None, text: str) -> None:
    if child is None:
        parent.text = text
    else:
        child.tail = text


def _main(root: etree._Element) -> etree._Element:
    body = root.find("body")
    body = root if body is None else body
    whole = _length(body)
    for path in _MAIN_PATHS:
        found = root.xpath(path)
        nodes = [node for node in found if isinstance(node, etree._Element)] if isinstance(found, list) else []
        if len(nodes) == 1 and _length(nodes[0]) >= whole * _MAIN_SHARE:
            return nodes[0]
    return body


def _length(node: etree._Element) -> int:
    return sum(len(text.strip()) for text in node.itertext() if isinstance(text, str))
