"""Unsent text is on every device of a user."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, ask, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser


def test_unsent_text_is_on_another_device(
    page: Page, other: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    other.context.add_cookies(page.context.cookies())
    provider.reply("Slowly " + "more " * 100 + "[1].", delay=0.05)
    ask(page, "How long does a firmware update take?")
    expect(page.locator(".prose")).to_contain_text("Slowly more")
    with page.expect_response("**/draft/"):
        ask(page, "How heavy is the LS-2408?")
    with page.expect_response("**/draft/"):
        page.get_by_label("Your question").fill("And the\nlarger one?")
    other.goto(page.url)
    other.wait_for_load_state("load")
    expect(other.get_by_label("Your question")).to_have_value("And the\nlarger one?")
    expect(other.locator("#queued")).to_contain_text("How heavy is the LS-2408?")

    # It is asked once, though it waits on both.
    provider.reply("One kilogram [1].")
    for each in (page, other):
        expect(each.locator(".turn .outcome")).to_have_count(2)
        expect(each.locator(".turn")).to_have_count(2)
        expect(each.get_by_label("Your question")).to_have_value("And the\nlarger one?")
        expect(each.locator("#queued")).to_be_hidden()

    # What was sent is gone, and so is it where it was shown, once the page is looked at again.
    provider.reply("Two kilograms [1].")
    with page.expect_response("**/draft/"):
        page.get_by_label("Your question").press("Enter")
    expect(other.locator(".turn .outcome")).to_have_count(3)
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(other.get_by_label("Your question")).to_have_value("")
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value("")
