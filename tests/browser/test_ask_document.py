"""Asking about a single document from its page, and about all documents again."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, NO_PAGE, ask, sign_in, upload
from tests.site import Site

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_asking_one_document_and_then_all(page: Page, site: Site, tmp_path: Path) -> None:
    (tmp_path / "velm.md").write_text("# The Velm tower\n\nThe lamp of the tower is lit an hour before sunset.\n")
    sign_in(page, site, NO_PAGE)
    upload(page, site, tmp_path / "velm.md")
    page.get_by_role("link", name="The Velm tower").click()
    page.get_by_role("button", name="Ask about this document").click()
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator("#scope-name")).to_have_text("The Velm tower")

    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_have_text("Nothing found on this")
    answer.get_by_text("Search other sources").click()
    page.get_by_role("checkbox", name="Samples").check()
    expect(page.locator("#scope-name")).to_have_text("Samples")
    expect(page.get_by_role("checkbox", name="The Velm tower")).to_have_count(0)
    page.keyboard.press("Escape")
    ask(page, "How long does a firmware update take?")
    expect(page.locator("section.answer").last.locator("a[data-citation]").first).to_be_visible()


def test_a_document_is_summarised_in_full_from_its_page(page: Page, site: Site, tmp_path: Path) -> None:
    sections = "\n\n".join(
        f"## Part {number}\n\nPart {number} is about lamps. {'It goes on. ' * 60}" for number in range(9)
    )
    (tmp_path / "lamps.md").write_text(f"# All lamps\n\nThis book is about lamps.\n\n{sections}\n")
    sign_in(page, site, NO_PAGE)
    upload(page, site, tmp_path / "lamps.md")
    page.get_by_role("link", name="All lamps").click()
    page.get_by_role("button", name="Ask about this document").click()
    expect(page.locator("#scope-name")).to_have_text("All lamps")
    ask(page, "Summarise this")
    answer = page.locator("section.answer").last
    for number in range(9):
        expect(answer.get_by_text(f"Part {number} is about lamps.").first).to_be_visible()
    answer.locator(".prose a[data-citation]").last.click()
    expect(page.locator("#drawer .cited")).to_contain_text("Part 8 is about lamps.")


def test_the_document_that_is_meant_can_be_chosen(page: Page, site: Site, tmp_path: Path) -> None:
    sign_in(page, site, NO_PAGE)
    for year in (2022, 2023):
        (tmp_path / f"Velmara lease {year}.md").write_text(f"The yearly rent of the flat is {year} euros.\n")
        upload(page, site, tmp_path / f"Velmara lease {year}.md")
    sign_in(page, site, NEW_CHAT)
    ask(page, "Summarise the Velmara lease")
    choices = page.locator(".choices button")
    expect(choices).to_have_text(["Velmara lease 2023.md", "Velmara lease 2022.md"])
    choices.last.click()
    expect(page.locator(".siblings .number")).to_have_text("2/2")
    expect(page.locator(".prose")).to_contain_text("2022 euros")
    expect(page.locator(".turn")).to_have_count(1)
