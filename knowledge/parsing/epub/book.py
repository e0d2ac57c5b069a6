"""Books (epub): each chapter is a page under its title in the table of contents."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from knowledge.parsing.elements import Element, Heading, Notice, PageBreak, Paragraph, Title
from knowledge.parsing.epub.contents import FRONT, Contents, Entry, read, read_contents
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.document import elements_of, source_of
from knowledge.parsing.limits import check_archive
from knowledge.parsing.ooxml import BROKEN, broken
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext

_HEAD_TITLE = re.compile(r"<title\b.*?</title\s*>", re.S | re.I)
# Unlike on a web page, headers and side notes are part of a book.
_ASIDE = re.compile(r"<(/?)(?:aside|header|footer)\b", re.I)
_LINK = re.compile(r"<a\b[^>]*href=[^>]*>(.*?)</a\s*>", re.S | re.I)
_TAG = re.compile(r"<[^>]*>")
_WORD = re.compile(r"\w+")
_LISTED = 0.7  # least share of words in links on a page that only lists the others
_MOST_LISTED = 5000  # characters of such a page


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a book's elements chapter by chapter; raises `ParseError` if it is locked, broken or empty."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive)
            contents = read_contents(archive)
            found = False
            for element in _Book(archive, contents, PictureStore(context.output_dir)).run():
                found = found or not isinstance(element, Notice | PageBreak)
                yield element
    except BROKEN as error:
        raise broken(error) from error
    if not found:
        raise ParseError("no_text.document")
    yield Title(text=contents.title)


class _Book:
    """Walks a book's files and, within them, the headings listed in the table of contents."""

    def __init__(self, archive: zipfile.ZipFile, contents: Contents, pictures: PictureStore) -> None:
        self.archive, self.contents, self.pictures = archive, contents, pictures
        self.chapter: Entry | None = None

    def run(self) -> Iterator[Element]:
        """Yield the book's elements."""
        for text in self.contents.about:
            if text:
                yield Paragraph(text=text)
        for file in self.contents.files:
            yield from self._file(file, [entry for entry in self.contents.entries if entry.file == file])

    def _file(self, file: str, entries: list[Entry]) -> Iterator[Element]:
        data = read(self.archive, file)
        if not data.strip():
            return
        source = _ASIDE.sub(r"<\1div", _HEAD_TITLE.sub("", source_of(data)))
        if all(FRONT.match(entry.label) for entry in entries) and _is_list_of_links(source):
            return
        elements = list(elements_of(source, self.pictures, partial(self._picture, posixpath.dirname(file))))
        levels = [element.level for element in elements if isinstance(element, Heading)]
        top = min(levels, default=1)
        waiting = [(entry, _words(entry.label)) for entry in entries]
        headings = [_words(element.text) for element in elements if isinstance(element, Heading)]
        if waiting and not any(_is_called(words, waiting[0][1]) for words in headings):
            first = waiting[0][0]
            yield from self._turn(first)
            if elements:
                yield Heading(page=self._page, text=first.label, level=first.depth + 1)
                top = min(levels, default=1) - 1
            waiting = waiting[1:]
        for element in elements:
            if isinstance(element, Heading):
                words = _words(element.text)
                named = next((place for place, entry in enumerate(waiting) if _is_called(words, entry[1])), None)
                depth = self.chapter.depth if self.chapter else 0
                level = element.level - top + 1 + depth
                if named is not None:
                    entry = waiting[named][0]
                    yield from self._turn(entry)
                    level, waiting = entry.depth + 1, waiting[named + 1 :]
                element = replace(element, level=max(level, 1))
            yield replace(element, page=self._page)

    @property
    def _page(self) -> int | None:
        return self.chapter.number if self.chapter else None

    def _turn(self, entry: Entry) -> Iterator[Element]:
        """Move on to an entry's chapter; an unnumbered section of a chapter is part of that chapter."""
        if entry.number is None and self.chapter is not None and entry.depth > self.chapter.depth and self._page:
            return
        self.chapter = entry
        if entry.number is not None:
            yield PageBreak(page=entry.number, total=self.contents.total)

    def _picture(self, folder: str, source: str) -> bytes:
        return read(self.archive, posixpath.normpath(posixpath.join(folder, unquote(source))).lstrip("/"))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _is_called(heading: str, label: str) -> bool:
    """Return whether a heading matches an entry's label, ignoring a number before it or a subtitle after it."""
    short, long = (heading, label) if len(heading) < len(label) else (label, heading)
    return bool(short.strip()) and (long.startswith(short) or long.endswith(short))


def _is_list_of_links(source: str) -> bool:
    body = source[source.lower().find("<body") :]
    words = len(_TAG.sub("", body).split())
    linked = sum(len(_TAG.sub("", text).split()) for text in _LINK.findall(body))
    return len(body) < _MOST_LISTED * 20 and linked > 4 and linked >= words * _LISTED
