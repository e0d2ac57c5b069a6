"""The example conversation on the samples, as a newcomer meets it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_a_newcomer_sees_what_answers_look_like(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    with site.database() as database:
        database.execute("UPDATE knowledge_knowledgebase SET created_at = now() WHERE name = 'Samples'")
    page.goto(site.url)
    page.get_by_role("button", name="New chat").first.click()
    expect(page.locator("#welcome")).to_be_visible()
    page.get_by_role("link", name="See an example conversation").click()
    answers = page.locator("section.answer")
    expect(answers).to_have_count(4)
    expect(page).to_have_title("Example: what answers look like · Ragsite")
    expect(answers.nth(0).locator("a[data-citation]").first).to_be_visible()
    expect(answers.nth(2)).to_contain_text("The closest passages")
    expect(answers.nth(3)).to_contain_text("Nothing found on this")
    expect(answers.first).to_be_in_viewport()  # it begins at its beginning
