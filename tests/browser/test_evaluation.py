"""Measuring search: comparing settings, collecting questions with their passages, and running them."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NO_PAGE, ask, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def make_set(popover: Locator, name: str) -> None:
    """Add to a new set; if there is none yet, its field is already visible."""
    expect(popover).to_be_visible()
    if not popover.locator(".add-new[open]").count():
        popover.get_by_text("New set").click()
    popover.get_by_label("Name of the set").fill(name)
    popover.get_by_role("button", name="Create and add").click()


def test_a_playground_query_is_added_to_a_set_and_run(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/playground/")
    page.get_by_label("Query").fill("How heavy is the LS-2448P?")
    page.get_by_label("Query").press("Enter")
    first = page.locator('[data-side="a"] .hit').first
    expect(first).to_be_visible()
    expect(page).to_have_url(f"{site.url}/playground/?q=How+heavy+is+the+LS-2448P%3F&a-mode=hybrid&b-mode=fulltext")
    page.locator('.side-settings[data-side="b"] .mode').get_by_text("Meaning").click()
    expect(page).to_have_url(re.compile("b-mode=vector"))

    first.get_by_label("relevant").check()
    page.get_by_role("button", name="Add to a question set").click()
    popover = page.locator("#add-popover")
    make_set(popover, "Weights")
    expect(popover).to_have_count(0)
    page.locator(".toast").get_by_role("link", name="Open question set").click()

    expect(page.get_by_role("heading", name="Weights")).to_be_visible()
    expect(page.locator(".question-row")).to_contain_text("How heavy is the LS-2448P?")
    page.get_by_role("button", name="Run").click()
    # Maybe not first: a search from before the samples were processed may rank differently.
    expect(page.locator(".runs-table .figure-value").first).to_have_text(re.compile(r"1\.000|0\.[1-9]"))
    page.locator(".run-when a").click()
    page.locator(".result summary").click()
    expect(page.locator(".result-hit.relevant")).to_be_visible()


@pytest.mark.nightly
def test_an_answered_question_is_added_to_a_set_in_two_clicks(page: Page, site: Site) -> None:
    sign_in(page, site)
    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".chip").first).to_be_visible()
    expect(answer.locator(".outcome")).to_be_visible()
    answer.get_by_label("Add to a question set").click()
    popover = page.locator("#add-popover")
    expect(popover.get_by_role("checkbox").first).to_be_checked()
    make_set(popover, "From a chat")
    expect(page.locator(".toast")).to_contain_text("Added to “From a chat”.")
    expect(answer.get_by_label("Add to a question set")).to_be_focused()

    answer.get_by_label("Add to a question set").click()
    page.get_by_role("button", name="From a chat").click()
    expect(popover).to_have_count(0)
    page.locator(".toast").last.get_by_role("link", name="Open question set").click()
    expect(page.locator(".question-row")).to_have_count(1)
