"""Titles of documents, or else the paths of their files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pptx import Presentation

from knowledge import queries, services
from knowledge.ingestion import ingestion
from knowledge.models import KnowledgeBase
from knowledge.parsing.elements import Element, Heading, Paragraph, Title
from knowledge.parsing.sandbox.runner import ParseLimits, parse_file
from knowledge.parsing.titles import LONGEST, tidy, titled
from tests import factories
from tests.knowledge.conftest import add, upload_of
from tests.knowledge.pdf_files import make_pdf, prose, text

_LONG = Paragraph(text="Words before anything. " * 40)


def named(*elements: Element, by_heading: bool = True) -> list[str]:
    """Return the titles yielded after the elements, all of which have to be yielded."""
    given = list(titled(elements, by_heading))
    texts = [element for element in elements if not isinstance(element, Title)]
    assert given[: len(texts)] == texts
    return [element.text for element in given[len(texts) :] if isinstance(element, Title)]


def test_a_pages_title_precedes_its_heading_and_that_the_files_properties() -> None:
    heading, page, file = Heading(text="SELECT"), Title(text="SELECT — Manual"), Title(text="Draft", shown=False)
    assert named(heading, page, file) == ["SELECT — Manual"]
    assert named(heading, file) == ["SELECT"]
    assert named(_LONG, file) == ["Draft"]
    assert named(_LONG) == []


def test_a_title_of_two_lines_is_complete_and_meaningless_ones_are_skipped() -> None:
    lines = Heading(text="Map overlay and"), Heading(text="aggregation∗")
    assert named(*lines) == ["Map overlay and aggregation"]
    assert named(lines[0], Paragraph(text="Between."), lines[1]) == ["Map overlay and"]
    assert named(Heading(text="NAME"), Heading(text="Draw graphs")) == ["Draw graphs"]
    assert named(Heading(text="A class for"), Title(text="A Class for Series", shown=False)) == ["A Class for Series"]
    assert named(Heading(text="NAME"), Heading(text="SYNOPSIS")) == []


def test_a_heading_is_the_title_only_near_the_beginning() -> None:
    assert named(Paragraph(text="Acme Ltd."), Heading(text="Travel policy"), Heading(text="Hotels")) == [
        "Travel policy"
    ]
    assert named(_LONG, Heading(text="Appendix")) == []
    assert named(Heading(text="Sheet of March"), by_heading=False) == []


def test_a_heading_after_the_contents_is_the_title_only_without_another() -> None:
    contents, chapter = Heading(text="Contents"), Heading(text="System requirements")
    assert named(contents, chapter, Title(text="Manual of the game", shown=False)) == ["Manual of the game"]
    assert named(Heading(text="The game"), contents, chapter) == ["The game"]
    assert named(contents, chapter) == ["System requirements"]


@pytest.mark.parametrize(
    "text",
    [
        "NAME",
        "1 Introduction",
        "Chapter 3",
        "第三章",
        "12",
        "该用地指标按表中的系数进行调整。",
        "doi:10.1016/j.x.2005",
        "This is what the company has decided upon for now.",
        "Contents",
        "目 录",
        "Untitled document",
        "R Graphics Output",
        "System Requirements  3",
        "Microsoft Word - a.doc",
        "scan0001.pdf",
        "Slide 1",
        "— —",
        "",
    ],
)
def test_meaningless_text_is_not_a_title(text: str) -> None:
    assert tidy(text) == ""


def test_a_title_is_one_line_of_limited_length() -> None:
    assert tidy("  Index\n of  prices ") == "Index of prices"
    assert len(tidy("word " * 100)) <= LONGEST


def _html(folder: Path) -> Path:
    path = folder / "05060000.html"
    path.write_text("<title>Sums &amp; averages</title><h1>Functions</h1><p>They add up.</p>", encoding="utf-8")
    return path


def _front_matter(folder: Path) -> Path:
    path = folder / "a.md"
    path.write_text("---\ntitle: 部署指南\nowner: 李强\n---\n\n# 步骤\n\n每周二部署。\n", encoding="utf-8")
    return path


def _pdf(folder: Path) -> Path:
    return make_pdf(folder / "a.pdf", lambda canvas: [prose(canvas, 60, 80 + 90 * n, 80) for n in range(4)])


def _said(folder: Path) -> Path:
    def draw(canvas: object) -> None:
        canvas.setTitle("Survey of the valley")  # type: ignore[attr-defined]
        for number in range(4):
            prose(canvas, 60, 80 + 90 * number, 80)  # type: ignore[arg-type]

    return make_pdf(folder / "b.pdf", draw)


def _headed(folder: Path) -> Path:
    def draw(canvas: object) -> None:
        canvas.setTitle("untitled")  # type: ignore[attr-defined]
        text(canvas, 60, 60, "The northern valley", size=22)  # type: ignore[arg-type]
        for number in range(4):
            prose(canvas, 60, 110 + 90 * number, 80)  # type: ignore[arg-type]

    return make_pdf(folder / "c.pdf", draw)


def _slides(folder: Path) -> Path:
    show = Presentation()
    for title in ("Plan for spring", "Costs"):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = title
        slide.shapes.add_textbox(0, 0, 10, 10).text_frame.text = "Some words."
    path = folder / "d.pptx"
    show.save(str(path))
    return path


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (_html, "Sums & averages"),
        (_front_matter, "部署指南"),
        (_pdf, None),
        (_said, "Survey of the valley"),
        (_headed, "The northern valley"),
        (_slides, "Plan for spring"),
    ],
)
def test_each_format_has_its_title(tmp_path: Path, make: Callable[[Path], Path], title: str | None) -> None:
    path = make(tmp_path)
    elements = list(parse_file(path, path.name, tmp_path / "out", ParseLimits(timeout_s=60)))
    assert [element.text for element in elements if isinstance(element, Title)] == ([title] if title else [])


@pytest.mark.django_db
@pytest.mark.usefixtures("indexer")
def test_ingestion_keeps_the_title_and_a_new_one_takes_its_place(base: KnowledgeBase) -> None:
    document = add(base, "05060000.html", b"<title>Sums</title><p>They add up.</p>")
    assert document.name == "05060000.html"
    assert ingestion.ingest(document.pk)
    document.refresh_from_db()
    assert (document.title, document.name) == ("Sums", "Sums")
    assert "Sums" not in document.chunks.get().content


@pytest.mark.django_db
@pytest.mark.usefixtures("indexer")
def test_files_with_the_same_name_are_distinguished_by_their_folders(base: KnowledgeBase, as_owner: Client) -> None:
    for folder in ("guide/admin", "guide\\user/./..", ""):
        file = upload_of("index.txt", f"In {folder}.".encode())
        services.add_document(base, base.owner, "index.txt", file, folder)
    paths = sorted(document.path for document in base.documents.all())
    assert paths == ["guide/admin/index.txt", "guide/user/index.txt", "index.txt"]
    page = as_owner.get(reverse("knowledge-base", args=[base.pk])).content.decode()
    assert "guide/admin/index.txt" in page and "guide/user/index.txt" in page
    assert [document.path for document in queries.search_documents(base.documents.all(), "admin index")] == paths[:1]


@pytest.mark.django_db
def test_a_long_folder_is_cut_at_its_beginning(base: KnowledgeBase) -> None:
    file = upload_of("a.txt", b"Deep.")
    document = services.add_document(base, base.owner, "a.txt", file, "x" * 300 + "/" + "y" * 300 + "/near").document
    assert document.folder == "y" * 300 + "/near"


@pytest.mark.django_db
def test_pages_show_the_title_next_to_the_file(base: KnowledgeBase, as_owner: Client) -> None:
    document = factories.make_document(base, "sql-select.html", title="SELECT <b>")
    chunk = factories.make_chunk(document, "It reads rows.")
    for address in (
        reverse("knowledge-base", args=[base.pk]) + "?q=select%20sql-",
        reverse("document", args=[document.pk]),
        reverse("passage", args=[chunk.pk]),
    ):
        page = as_owner.get(address).content.decode()
        assert "SELECT &lt;b&gt;" in page and "sql-select.html" in page
    api = as_owner.get(reverse("api-document", args=[document.pk])).json()
    assert (api["title"], api["filename"]) == ("SELECT <b>", "sql-select.html")


@pytest.mark.django_db
def test_the_documents_page_shows_its_title_once(base: KnowledgeBase, as_owner: Client) -> None:
    document = factories.make_document(base, "a.html", title="Tea")
    for path in (["Tea"], ["Tea", "Green"]):
        factories.make_chunk(document, "Steep it.", heading_path=path)
    page = as_owner.get(reverse("document", args=[document.pk])).content.decode()
    assert page.count('role="heading"') == 1 and ">Green</p>" in page and ">Tea</h1>" in page
