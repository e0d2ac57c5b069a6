"""`bench parsing FOLDER`: our reading of the PDFs in a folder, compared with `pdftotext -layout` and pdfplumber.

Words are runs of letters and digits, and single Chinese characters. The reference for a file are the words of
`pdftotext -layout` (which reads some Chinese only with poppler-data), without running heads and tables of contents,
which we leave out on purpose: if we have words of these, they are neither right nor wrong, but *left in*. A word
hyphenated at the end of a line may be joined or split, and so may superscripts and subscripts.

If a file has a twin with the same name in another supported format (`report.docx` beside `report.pdf`), the twin's
tables are the reference for the cells, as far as their words are printed. All pages of such a file are read.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, product, repeat, zip_longest
from pathlib import Path

import pdfplumber
import pypdfium2 as pdfium

from knowledge.chunking.chunking import chunk
from knowledge.models import KnowledgeBase
from knowledge.parsing.elements import Element, Heading, Table, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import ParseContext, extensions, format_of
from knowledge.parsing.titles import titled
from ragsite.llm.passage_tokens import count_tokens
from tests.benchmarks.retrieval.measuring import table

EDGE_LINES = 3  # lines at a page's top and bottom that may be running heads
EDGE_PAGES = 3  # pages that must contain such a line
LONGEST_FORMULA = 4  # pieces
WORST = 10  # number of pages shown

_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]|[^\W_\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]+")
# A line of a table of contents, which we leave out too: an entry and its page.
_CONTENTS = re.compile(r"\S.*?(\s{2,}|[.·…\s]{3,})(\d{1,4}|[ivxlc]+)\s*$")
_HYPHENATED = re.compile(r"(\w+)[-\u2010\u00ad](?=\s*\n|\s{2,})")
# Numbers, superscripts and subscripts don't count as glued: "x2" is one word or two.
_LETTERS = re.compile(r"(?:(?!_)[^\W\d]){4,}")
# Superscripts and subscripts that one reader joins and another doesn't: "x2" and "Hn", but no words or numbers.
_FORMULA = re.compile(r"(?!\d+$)(?!.*[^\W\d_]{4})\w+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


class NoFiles(Exception):
    """There is nothing to measure. The message is for users."""


@dataclass
class Reference:
    """The words that `pdftotext` reads from a file by page, their order, and the first halves of hyphenated words."""

    pages: list[list[str]]
    pairs: set[tuple[str, str]]
    halves: set[str]
    aside: Counter[str] = field(default_factory=Counter)  # words of the lines left out

    @property
    def words(self) -> Counter[str]:
        """All words, counted."""
        return Counter(word for page in self.pages for word in page)


@dataclass
class Score:
    """Counts of one parser on one file, compared with its reference."""

    words: int = 0
    expected: int = 0
    matched: int = 0
    glued: Counter[str] = field(default_factory=Counter)
    split: Counter[str] = field(default_factory=Counter)
    ordered: int = 0
    pairs: int = 0
    cells: int = 0
    true_cells: int = 0
    matched_cells: int = 0
    seconds: float = 0.0
    aside: int = 0  # words of lines that the reference leaves out

    def __iadd__(self, other: "Score") -> "Score":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


@dataclass
class Reading:
    """The result of a parser for a file: words by page, and the cells of its tables."""

    pages: list[list[str]]
    cells: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def run(folder: Path, pages: int, say: Callable[[str], None], plumber: bool = True) -> None:
    """Measure up to `pages` pages of each PDF below a folder, and print tables; raises `NoFiles`."""
    files = sorted(path for path in folder.rglob("*.pdf") if path.is_file())
    if not files:
        raise NoFiles(f"There is no PDF in {folder}.")
    if shutil.which("pdftotext") is None:
        raise NoFiles("pdftotext is missing; it comes with poppler-utils.")
    rows: list[list[str]] = []
    worst: list[tuple[float, str, int, list[str], list[str]]] = []
    failed: list[str] = []
    totals: dict[str, Score] = {"ours": Score(), "pdfplumber": Score()}
    base = KnowledgeBase()
    passages = bare = bookmarks = found_bookmarks = 0
    for path in files:
        twin = _twin(path)
        most = sys.maxsize if twin else pages
        try:
            elements, seconds = elements_of(path, most)
        except ParseError as error:
            failed.append(f"- {path.name}: {error.key}")
            continue
        reference = _reference(path, most)
        truth = _twin_cells(twin, path) if twin else None
        ours = _ours(elements, len(reference.pages), seconds)
        readings = {"ours": ours} | ({"pdfplumber": _plumber(path, most)} if plumber else {})
        scores = {name: _score(reading, reference, truth) for name, reading in readings.items()}
        for name, score in scores.items():
            totals[name] += score
        headings = {_letters(element.text) for element in elements if isinstance(element, Heading)}
        marks = _bookmarks(path, most)
        bookmarks += len(marks)
        found_bookmarks += len(marks & headings)
        drafts = list(chunk(elements, size=base.chunk_size, overlap=base.chunk_overlap, count_tokens=count_tokens))
        drafts = [draft for draft in drafts if draft.kind == "text"]
        lone = sum(not _WORD.search(_without_headings(draft.content, headings)) for draft in drafts)
        passages, bare = passages + len(drafts), bare + lone
        title = next((element.text for element in reversed(elements) if isinstance(element, Title)), "")
        rows.append(
            [
                path.name[:40],
                str(len(reference.pages)),
                *_figures(scores["ours"]),
                f"{len(marks & headings)}/{len(marks)}",
                f"{lone}/{len(drafts)}",
                title[:48],
            ]
        )
        worst += _worst(path, ours, reference)
    columns = ["file", "pages", *_HEADS, "bookmarks", "bare", "title"]
    say(table(columns, rows) if rows else "Nothing could be read.")
    say("")
    say(table(["all files", *_HEADS, "s"], [[name, *_figures(s), f"{s.seconds:.0f}"] for name, s in totals.items()]))
    say("")
    say(
        f"Bookmarks that are headings: {found_bookmarks} of {bookmarks}. "
        f"Passages that are only headings: {bare} of {passages}."
    )
    for title, counts in (("Glued", totals["ours"].glued), ("Split", totals["ours"].split)):
        say(f"{title}: " + ", ".join(f"{word} ×{n}" if n > 1 else word for word, n in counts.most_common(40)))
    say("")
    say("Worst pages (share of words lost or added; some of them):")
    for share, name, page, lost, added in sorted(worst, reverse=True)[:WORST]:
        say(f"- {name} p. {page}: {share:.0%}; lost: {' '.join(lost[:12])}; added: {' '.join(added[:12])}")
    for line in failed:
        say(line)


_HEADS = ("recall", "precision", "left in ‰", "glued ‰", "split ‰", "order", "cells r", "cells p")


def _figures(score: Score) -> list[str]:
    return [
        _share(score.matched, score.expected),
        _share(score.matched, score.words),
        f"{1000 * score.aside / max(1, score.words):.2f}",
        f"{1000 * score.glued.total() / max(1, score.words):.2f}",
        f"{1000 * score.split.total() / max(1, score.words):.2f}",
        _share(score.ordered, score.pairs),
        _share(score.matched_cells, score.true_cells),
        _share(score.matched_cells, score.cells),
    ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f}" if whole else "–"


def elements_of(path: Path, pages: int) -> tuple[list[Element], float]:
    """Parse a file like an upload; for a PDF, only the first pages."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ragsite-bench-") as pictures:
        source = path
        if path.suffix == ".pdf":
            source = Path(pictures, path.name)
            _first_pages(path, source, pages)
            began = time.perf_counter()
        kind = format_of(path.name)
        found = list(titled(kind.load()(source, ParseContext(Path(pictures), path.name)), kind.titled))
    return found, time.perf_counter() - began


def _first_pages(path: Path, target: Path, pages: int) -> None:
    """Write a copy of a file, without the pages after the first ones."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError:
        target.write_bytes(path.read_bytes())
        return
    if len(document) <= pages:
        target.write_bytes(path.read_bytes())
    else:
        for number in range(len(document) - 1, pages - 1, -1):
            del document[number]
        document.save(target)
    document.close()


def _pdftotext(path: Path, pages: int, *options: str) -> list[str]:
    command = ["pdftotext", *options, "-enc", "UTF-8", "-l", str(min(pages, 2**31 - 1)), str(path), "-"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace")
    return shown.stdout.split("\f")[:-1]


def _reference(path: Path, pages: int) -> Reference:
    shown = [page.splitlines() for page in _pdftotext(path, pages, "-layout")]
    seen = Counter(key for lines in shown for key in {_key(line) for line in _edges(lines)})
    texts = []
    aside: Counter[str] = Counter()
    for lines in shown:
        running = {id(line) for line in _edges(lines) if seen[_key(line)] >= EDGE_PAGES or _key(line) == "#"}
        contents = sum(bool(_CONTENTS.search(line)) for line in lines) > sum(bool(line.strip()) for line in lines) / 3
        left_out = {id(line) for line in lines if id(line) in running or (contents and _CONTENTS.search(line))}
        aside.update(words("\n".join(line for line in lines if id(line) in left_out)))
        texts.append("\n".join(line for line in lines if id(line) not in left_out))
    read = [words(text) for text in texts]
    pairs = {pair for page in read for pair in pairwise(page)}
    for page in _pdftotext(path, pages):
        pairs.update(pairwise(words(page)))
    halves = {word for text in texts for word in _HYPHENATED.findall(unicodedata.normalize("NFKC", text))}
    return Reference(read, pairs, halves, aside)


def _edges(lines: Sequence[str]) -> list[str]:
    filled = [line for line in lines if line.strip()]
    return filled[:EDGE_LINES] + filled[max(EDGE_LINES, len(filled) - EDGE_LINES) :]


def _key(line: str) -> str:
    """Return a line without the parts that differ between pages: numbers and indentation."""
    key = re.sub(r"\b(\d+|[ivxlc]+)\b", "#", " ".join(line.split()))
    return re.sub(r"^[-–—\s]*#[-–—\s]*$", "#", key)


def words(text: str) -> list[str]:
    """Return a text's words: NFKC, without soft hyphens."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def _letters(text: str) -> str:
    return "".join(words(re.sub(r"^[\W\d]+", "", text))).lower()


def _ours(elements: Sequence[Element], pages: int, seconds: float) -> Reading:
    reading = Reading([[] for _page in range(pages)], seconds=seconds)
    for element in elements:
        if isinstance(element, Title) or not element.page or element.page > pages:
            continue
        page = reading.pages[element.page - 1]
        if isinstance(element, Table):
            page += words(element.caption)
            for row in (element.columns, *element.rows):
                page += (word for cell in row for word in words(cell))
        else:
            page += words(" ".join(getattr(element, name, "") for name in ("text", "alt", "labels")))
    reading.cells.update(_cells(_grids(element for element in elements if (element.page or 0) <= pages)))
    return reading


def _plumber(path: Path, pages: int) -> Reading:
    reading = Reading([])
    tables: list[list[list[str | None]]] = []
    began = time.perf_counter()
    with pdfplumber.open(path) as document:
        for page in document.pages[:pages]:
            reading.pages.append(words(page.extract_text() or ""))
            tables += page.extract_tables()
            page.close()
    reading.seconds = time.perf_counter() - began
    reading.cells.update(_cells(tables))
    return reading


def _grids(elements: Iterable[Element]) -> Iterator[list[tuple[str, ...]]]:
    """Yield the rows of tables. A header of several levels ("Sales / 2023") is split into its original rows."""
    for element in elements:
        if isinstance(element, Table):
            levels = zip_longest(*(cell.split(" / ") for cell in element.columns), fillvalue="")
            yield [*levels, *element.rows]


def _cells(tables: Iterable[Sequence[Sequence[str | None]]]) -> Iterator[str]:
    """Yield the cells of tables, in the order of the file, so that readers can be compared.

    A cell with the text of the one above or left of it is skipped, since some readers repeat the text of joined cells.
    Titles, which some take for captions, headers repeated on the next page, and frames (tables with one row or column)
    are left out.
    """
    header: list[str] = []
    for found in tables:
        rows = [["".join(words(text or "")) for text in row] for row in found]
        rows = [row for row in rows if any(row)]
        if sum(map(any, zip(*rows, strict=False))) < 2 or len(rows) < 2:
            continue
        if len(rows) > 2 and len(set(filter(None, rows[0]))) == 1:
            del rows[0]
        repeated = rows[0] == header
        header = rows[0]
        for above, row in pairwise([[], *rows[repeated:]]):
            for left, over, cell in zip(["", *row], chain(above, repeat("")), row, strict=False):
                if cell and cell not in (left, over):
                    yield cell


def _twin(path: Path) -> Path | None:
    twins = (twin for twin in sorted(path.parent.glob(f"{path.stem}.*")) if twin.suffix != ".pdf")
    return next((twin for twin in twins if twin.suffix[1:] in extensions()), None)


def _twin_cells(twin: Path, path: Path) -> Counter[str]:
    """Return the cells of a file's twin whose words are in the file, unlike those of charts or cut off in print."""
    printed = {word for page in _pdftotext(path, sys.maxsize) for word in words(page)}
    found, _seconds = elements_of(twin, 0)
    shown = ([[cell * printed.issuperset(words(cell)) for cell in row] for row in grid] for grid in _grids(found))
    return Counter(_cells(shown))


def _score(reading: Reading, reference: Reference, truth: Counter[str] | None) -> Score:
    expected = reference.words
    read = Counter(word for page in reading.pages for word in page)
    lost, added = expected - read, read - expected
    score = Score(words=read.total(), expected=expected.total(), seconds=reading.seconds)
    score.matched = (expected & read).total()

    def settle(ours: Sequence[str], theirs: Sequence[str], number: int = 1) -> None:
        """Count a word as right if one reader has it whole and the other in pieces."""
        for words_of, counts in ((ours, added), (theirs, lost)):
            counts.subtract({word: number * words_of.count(word) for word in words_of})
        score.words -= number * (len(ours) - 1)
        score.expected -= number * (len(theirs) - 1)
        score.matched += number

    for word, number in list(added.items()):
        for at in range(1, len(word)):
            start, end = halves = word[:at], word[at:]
            both = min(number, lost[start], lost[end]) if start != end else 0
            hyphenated = start in reference.halves and min(at, len(end)) > 1  # joined at the end of a line
            if both > 0 and (hyphenated or (halves in reference.pairs and _FORMULA.fullmatch(word))):
                settle([word], halves, both)
                break
            if (
                halves in reference.pairs
                and word not in expected
                and _LETTERS.fullmatch(word)
                and min(at, len(end)) > 1
            ):
                score.glued[f"{start}|{end}"] += number
                break
    for page in reading.pages:
        for length, first in product(range(LONGEST_FORMULA, 1, -1), range(len(page))):
            pieces = page[first : first + length]
            whole = "".join(pieces)
            if lost[whole] > 0 and _FORMULA.fullmatch(whole) and all(added[p] >= pieces.count(p) for p in pieces):
                settle(pieces, [whole])
    set_aside = (+added & reference.aside).total()
    score.words -= set_aside
    score.aside = set_aside
    for page in reading.pages:
        for pair in pairwise(page):
            score.pairs += 1
            if pair in reference.pairs:
                score.ordered += 1
            elif (whole := "".join(pair)) in expected and not _CHINESE.search(whole) and not whole.isdigit():
                score.split[" ".join(pair)] += 1
    if truth is not None:
        score.cells, score.true_cells = reading.cells.total(), truth.total()
        score.matched_cells = (reading.cells & truth).total()
    return score


def _worst(path: Path, ours: Reading, reference: Reference) -> Iterator[tuple[float, str, int, list[str], list[str]]]:
    """Yield the words that each page lost and added; words that continue over a page's end may be on the next one."""
    for at, expected in enumerate(reference.pages):
        near = slice(max(0, at - 1), at + 2)
        lost = Counter(expected) - Counter(word for page in ours.pages[near] for word in page)
        added = Counter(ours.pages[at]) - Counter(word for page in reference.pages[near] for word in page)
        wrong = lost.total() + added.total()
        if len(expected) >= 20 and wrong > 2:
            yield wrong / len(expected), path.name, at + 1, list(lost), list(added)


def _bookmarks(path: Path, pages: int) -> set[str]:
    document = pdfium.PdfDocument(path)
    try:
        items = [(item.get_dest(), item.get_title()) for item in document.get_toc()]
        found = {_letters(title) for dest, title in items if dest is not None and (dest.get_index() or 0) < pages}
    finally:
        document.close()
    return found - {""}


def _without_headings(text: str, headings: set[str]) -> str:
    return "\n".join(line for line in text.splitlines() if _letters(line) not in headings)
