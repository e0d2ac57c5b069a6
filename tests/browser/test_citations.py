"""An opened source: the passage is highlighted, and the sentences that support the claim are in view."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser

KEEPER = "The keeper of the Skerrow lighthouse polishes the lens of the lamp with chamois leather every seventh day."
FOG = "In fog the keeper of the Skerrow lighthouse sounds the horn of the lamp room twice every ninety seconds."


def _document(path: Path) -> Path:
    """Write one section that is too long for one passage, and mentions the lighthouse in both."""
    entry = "Entry {} tells of calm weather, of a supply boat and of repairs to the pier."
    filler = [entry.format(number) for number in range(40)]
    path.write_text("# Log\n\n" + "\n\n".join([*filler[:12], KEEPER, *filler[12:24], FOG, *filler[24:]]), "utf-8")
    return path


def test_a_source_opens_at_its_quotation(page: Page, site: Site, tmp_path: Path) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    page.set_input_files("#upload-files", _document(tmp_path / "skerrow.md"))
    row = page.locator("tr.document-row", has_text="skerrow")
    expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()

    page.goto(site.url)
    page.wait_for_load_state("load")
    ask(page, "What does the keeper of the Skerrow lighthouse do with the lens of the lamp, and what in fog?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".prose")).to_contain_text("chamois leather")
    answer.locator(".prose a[data-citation]").first.click()

    cited = page.locator("#drawer .cited")
    expect(cited.locator(".passage")).to_have_count(2)
    expect(cited).to_contain_text(KEEPER)
    expect(cited).to_contain_text(FOG)
    marks = cited.locator("mark.said")
    expect(marks.filter(has_text="chamois leather")).to_be_in_viewport()
    marked = marks.all_inner_texts()
    assert {KEEPER, FOG} <= set(marked) and len(marked) < 8

    page.get_by_role("link", name="Open in the document").click()
    expect(page.locator(".passage.cited")).to_have_count(2)
    expect(page.locator("mark.said", has_text="chamois leather")).to_be_in_viewport()
    assert "said=" in page.url
