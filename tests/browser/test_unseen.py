"""Answers that end while their reader is elsewhere: the list of chats, the tab's title and notifications."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, ask, new_chat, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser

RECORD = """window.told = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title, options) { window.told.push(`${title}: ${options.body}`); }
  };"""


def hide(page: Page, hidden: bool) -> None:
    """Let a page believe that another tab is in front of it, since Playwright's pages are all visible."""
    value = "true" if hidden else "false"
    page.evaluate(f"Object.defineProperty(document, 'hidden', {{ configurable: true, get: () => {value} }})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_an_unseen_answer_is_marked_and_told(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    page.add_init_script(RECORD)
    sign_in(page, site_with_model, NEW_CHAT)
    page.goto(f"{site_with_model.url}/account/")
    page.get_by_label("Notify me on this device").check()
    page.go_back()
    provider.reply("Slowly " + "more " * 40 + "[1].", delay=0.03)
    ask(page, "How long does a firmware update of the LS-2448P take?")
    expect(page.locator(".prose")).to_contain_text("Slowly more")
    row = page.locator(f"#session-{page.url.split('/')[4]}")
    new_chat(page)
    expect(row.get_by_text("New answer")).to_be_attached()
    expect(page).to_have_title(re.compile(r"^\(1\) New chat"))
    page.reload()
    expect(row.get_by_text("New answer")).to_be_attached()
    expect(page).to_have_title(re.compile(r"^\(1\) New chat"))
    row.get_by_role("link").click()
    expect(page.locator(".turn .outcome")).to_have_count(1)
    expect(row.get_by_text("New answer")).to_have_count(0)
    expect(page).to_have_title(re.compile(r"^[^(].*firmware"))

    # An answer on this page is unseen while another tab is in front of it.
    page.wait_for_load_state("load")
    provider.reply("Two kilograms [1].", delay=0.03)
    ask(page, "How heavy is it?")
    hide(page, True)
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    page.wait_for_timeout(1500)  # the answer may be seen on another page first
    assert page.evaluate("told") == ["An answer is complete: " + (page.locator("#session-title").text_content() or "")]
    with page.expect_response("**/seen/"):
        hide(page, False)
    expect(page).to_have_title(re.compile(r"^[^(]"))
    assert page.evaluate("told.length") == 1
