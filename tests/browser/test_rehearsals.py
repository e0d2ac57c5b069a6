"""An administrator changes an assistant, reviews the effect on its answers, and makes it live."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.browser.test_evaluation import make_set
from tests.site import Site

pytestmark = pytest.mark.browser

QUESTION = "How long does a firmware update take?"


def test_a_change_is_rehearsed_edited_and_made_live(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/playground/")
    page.get_by_label("Query").fill(QUESTION)
    page.get_by_label("Query").press("Enter")
    page.locator('[data-side="a"] .hit').first.get_by_label("relevant").check()
    page.get_by_role("button", name="Add to a question set").click()
    make_set(page.locator("#add-popover"), "Firmware")

    page.goto(f"{site.url}/assistants/new/")
    page.get_by_label("Name").fill("Rehearsed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Version 1 applies from the next question.")).to_be_visible()
    page.get_by_label("Question set").select_option("Firmware")
    page.locator(".advanced > summary").click()
    page.get_by_text("Setting overrides").click()
    page.locator("[name=option_RELEVANCE_THRESHOLD]").fill("100")
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("heading", name="Rehearsal")).to_be_visible()
    expect(page.get_by_text("worse on 1")).to_be_visible()
    page.locator(".result summary").click()
    expect(page.locator(".answer-side")).to_have_count(2)
    expect(page.locator(".answer-side mark").first).to_be_visible()

    page.get_by_role("link", name="Back to editing").click()
    expect(page.get_by_label("Question set")).to_contain_text("Firmware")
    bound = page.locator("[name=option_RELEVANCE_THRESHOLD]")
    expect(bound).to_have_value("100")
    bound.fill("")
    page.get_by_label("Greeting").fill("Ask me.")
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_text("Every question scores the same as before.")).to_be_visible()
    page.get_by_role("button", name="Make live").click()
    expect(page.get_by_text("Version 2 applies from the next question.")).to_be_visible()
    expect(page.get_by_label("Greeting")).to_have_value("Ask me.")


@pytest.mark.nightly
def test_an_assistant_answers_beside_the_search_in_the_playground(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/playground/")
    with page.expect_response(f"{site.url}/playground/"):
        page.get_by_label("Answered by").first.select_option(label="Ragsite · 1")
    page.get_by_label("Query").fill(QUESTION)
    page.get_by_label("Query").press("Enter")
    expect(page.locator('[data-side="a"] .side-answer')).to_contain_text("Ragsite · 1")
    expect(page.locator('[data-side="b"] .hit').first).to_be_visible()
    page.locator('.side-settings[data-side="b"] .mode').get_by_text("Meaning").click()
    expect(page.get_by_text("answers when you press Search")).to_be_visible()
    # Right after a search, but not during it, for which htmx would report an error.
    with page.expect_request_finished(lambda request: request.method == "POST"):
        page.get_by_label("Query").press("Enter")
    page.locator('.side-settings[data-side="b"] .mode').get_by_text("Words").click()
    expect(page).to_have_url(re.compile("b-mode=fulltext"))
