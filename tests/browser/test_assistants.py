"""An administrator creates an assistant and changes a setting; both apply to the next question."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, new_chat, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser

QUESTION = "How long does a firmware update take?"


def test_creating_and_choosing_an_assistant_that_its_answer_names(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/assistants/new/")
    page.get_by_label("Name").fill("Help desk")
    page.locator("summary", has_text="Advanced").click()
    page.get_by_label("Greeting").fill("Ask me about our switches.")
    page.get_by_label("Suggested questions").fill(QUESTION)
    page.get_by_label("Pipeline", exact=True).select_option("quick")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 1 applies from the next question.")).to_be_visible()

    page.goto(site.url)
    new_chat(page)
    page.get_by_title("Assistant").click()
    page.get_by_role("button", name="Help desk").click()
    expect(page.locator("#welcome")).to_contain_text("Ask me about our switches.")
    page.get_by_role("button", name=QUESTION).click()
    answer = page.locator("section.answer").last
    expect(answer.locator("a[data-citation]").first).to_be_visible()
    expect(page.get_by_title("Assistant")).to_have_text(re.compile("Help desk"))
    answer.locator("a[hx-get*='trace']").first.click()
    expect(page.locator("#drawer")).to_contain_text("Help desk, version 1")

    page.goto(f"{site.url}/assistants/")
    page.get_by_role("link", name="Help desk").click()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete assistant").click()
    expect(page.get_by_text("“Help desk” was deleted.")).to_be_visible()


@pytest.mark.nightly
def test_a_setting_applies_from_the_next_question(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/pipeline/settings/")
    page.get_by_label("ANSWER_MODE").select_option("chat")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 setting changed.")).to_be_visible()
    row = page.locator("table[aria-labelledby=changes] tbody tr").first
    expect(row).to_contain_text(re.compile("demo.*ANSWER_MODE.*default.*chat", re.DOTALL))
    page.goto(site.url)
    new_chat(page)
    ask(page, QUESTION)
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_be_visible()
    expect(answer.locator("a[data-citation]")).to_have_count(0)

    page.goto(f"{site.url}/pipeline/settings/")
    page.get_by_label("ANSWER_MODE").select_option("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 setting changed.")).to_be_visible()
    page.goto(site.url)
    new_chat(page)
    ask(page, QUESTION)
    expect(page.locator("section.answer").last.locator("a[data-citation]").first).to_be_visible()
