"""Reading a PDF in the page: highlighting citations and finding words, also in scans."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, make_pdf, new_chat, sign_in, upload
from tests.knowledge.pdf_files import scan, text
from tests.site import Site

pytestmark = pytest.mark.browser

WICK = "The wick of the Orrin beacon is trimmed by hand every eleventh night."
OIL = "The oil of the Orrin beacon is brought by boat in the first week of May."


# Whether a highlight covers the words in the browser's layout; both are redrawn once the width is stable.
_COVERED = """() => {
    const large = document.querySelector(".pdf-reader:popover-open");
    const spans = [...large.querySelectorAll(".textLayer span")];
    const words = spans.find((span) => span.textContent.includes("wick of the Orrin"));
    const under = words?.getBoundingClientRect();
    return under && [...large.querySelectorAll(".textLayer mark.said-words")].some((mark) => {
        const over = mark.getBoundingClientRect();
        return Math.abs(over.x - under.x) < 12 && Math.abs(over.y - under.y) < 12 && over.width > 0.8 * under.width;
    });
}"""


def test_a_cited_sentence_is_highlighted_in_the_pdf(page: Page, site: Site, tmp_path: Path) -> None:
    sign_in(page, site, NO_PAGE)
    upload(page, site, make_pdf(tmp_path / "orrin.pdf", OIL, WICK, "Nothing else is kept there."))
    page.goto(site.url)
    page.wait_for_load_state("load")
    ask(page, "How often is the wick of the Orrin beacon trimmed?")
    page.locator("section.answer").last.locator(".prose a[data-citation]").first.click()
    shown = page.locator("#drawer .pdf-reader")
    expect(shown).to_have_attribute("data-live", "")
    expect(shown.locator(".textLayer mark.said-words").first).to_be_in_viewport()
    expect(page.locator("#drawer .reading mark.said", has_text="wick")).to_be_in_viewport()
    shown.get_by_role("button", name="Full screen").click()

    large = page.locator(".pdf-reader:popover-open")
    expect(large).to_have_attribute("data-live", "")
    words = large.locator(".textLayer span", has_text="wick of the Orrin")
    said = large.locator(".textLayer mark.said-words")
    expect(said.first).to_be_in_viewport()
    page.wait_for_function(_COVERED)
    assert (
        page.evaluate(
            "s => { getSelection().selectAllChildren(s); return String(getSelection()) }", words.element_handle()
        )
        == WICK
    )
    page.keyboard.press("Escape")
    expect(large).to_have_count(0)
    expect(shown.locator("canvas")).to_be_visible()

    page.get_by_role("link", name="Open in the document").click()
    beside = page.locator(".pdf-reader[data-live]")
    expect(beside.locator("mark.said-words").first).to_be_visible()
    beside.get_by_label("Find in the document").fill("ORRIN beacon")
    expect(beside.locator("output")).to_have_text(re.compile("^[12] of 2$"))
    expect(beside.locator(".textLayer .highlight")).to_have_count(2)
    beside.get_by_label("Find in the document").fill("lighthouse")
    expect(beside.locator("output")).to_have_text("Not found")
    wide = beside.locator(".page").bounding_box()
    beside.get_by_label("Zoom in").click()
    expect(beside.locator("canvas")).to_be_visible()
    page.wait_for_function("w => document.querySelector('.page').offsetWidth > w", arg=(wide or {})["width"])


@pytest.mark.nightly
def test_words_of_a_scan_are_selected_and_found(page: Page, site: Site, tmp_path: Path) -> None:
    sign_in(page, site, NO_PAGE)
    upload(page, site, scan(tmp_path / "tarran.pdf", lambda canvas: text(canvas, 72, 90, "Tarran buoy log", size=22)))
    page.get_by_role("link", name="Tarran").first.click()
    reader = page.locator(".pdf-reader[data-live]")
    words = reader.locator(".textLayer span", has_text="Tarran buoy log")
    expect(words).to_be_visible()
    box, sheet = words.bounding_box(), reader.locator(".page").bounding_box()
    assert box is not None and sheet is not None
    assert abs((box["x"] - sheet["x"]) / sheet["width"] - 72 / 595) < 0.03
    assert abs((box["y"] + box["height"] - sheet["y"]) / sheet["height"] - 90 / 842) < 0.03
    reader.get_by_label("Find in the document").fill("buoy log")
    expect(reader.locator("output")).to_have_text("1 of 1")


@pytest.mark.nightly
def test_a_pdf_that_cannot_be_rendered_is_shown_as_images(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.route(
        re.compile("/static/pdfjs/build/pdf.min.mjs"),
        lambda route: route.fulfill(body="export {}", content_type="text/javascript"),
    )
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    page.get_by_role("link", name="LS-2400").first.click()
    expect(page.locator("#page-viewer img.page-image")).to_be_visible()
    page.get_by_label("Next page").click()
    expect(page.locator(".viewer-bar")).to_contain_text("Page 2 of")
    expect(page.get_by_label("Find in the document")).to_be_visible()

    page.goto(site.url)
    page.wait_for_load_state("load")
    new_chat(page)
    ask(page, "How long does a firmware update take?")
    page.locator("section.answer").last.locator(".prose a[data-citation]").first.click()
    shown = page.locator("#drawer img.page-image")
    expect(shown).to_be_visible()
    before = shown.get_attribute("src")
    page.locator("#drawer").get_by_label(re.compile("(Previous|Next) page")).first.click()
    expect(shown).not_to_have_attribute("src", before or "")
