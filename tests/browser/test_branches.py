"""Switching between versions of an answer, sharing the visible one, and revoking the link."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NEW_CHAT, ask, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser


def settled(page: Page, turns: int) -> None:
    expect(page.locator(".turn .outcome")).to_have_count(turns)


def test_switching_and_sharing_versions(
    page: Page, browser: Browser, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    provider.reply("The first version [1].")
    ask(page, "How long does a firmware update take?")
    settled(page, 1)
    first = page.url
    assert re.search(r"\?turn=\d+$", first)

    provider.reply("The second version [1].")
    page.get_by_role("button", name="Regenerate").dblclick()
    expect(page.locator(".siblings .number")).to_have_text("2/2")
    settled(page, 1)
    expect(page.locator(".prose")).to_have_text(re.compile("second version"))

    page.get_by_role("link", name="Earlier version").click()
    expect(page.locator(".prose")).to_have_text(re.compile("first version"))
    expect(page).to_have_url(first)
    expect(page.get_by_role("link", name="Later version")).to_be_focused()
    expect(page.locator("#announcer")).to_have_text("Version 1 of 2")
    page.reload()
    expect(page.locator(".prose")).to_have_text(re.compile("first version"))

    # A question continues the visible branch; while it is being answered, one can switch to the other version and back.
    page.wait_for_load_state("load")
    provider.reply("Slowly " + "more " * 60 + "to the end.", delay=0.05)
    ask(page, "How heavy is the LS-2448P?")
    expect(page.locator(".prose").last).to_contain_text("Slowly more")
    page.locator(".turn").first.get_by_role("link", name="Later version").press("ArrowRight")
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".prose")).to_have_text(re.compile("second version"))
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_role("link", name="Earlier version")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".prose").last).to_have_text(re.compile(r"^\s*Slowly (more ){60}to the end\.\s*$"))
    settled(page, 2)

    page.get_by_role("link", name="Share or export").first.click()
    page.get_by_role("button", name="Create link").click()
    address = page.locator("#share-popover .link-address").inner_text()
    visitor = browser.new_context().new_page()
    visitor.goto(address)
    expect(visitor.locator(".turn")).to_have_count(2)
    expect(visitor.locator(".prose").first).to_have_text(re.compile("first version"))
    visitor.locator(".citation a").first.click()
    expect(visitor.locator(".shared-sources li:target")).to_be_in_viewport()

    page.locator("#share-popover").get_by_role("button", name="Revoke").click()
    expect(page.locator("#links .link")).to_have_count(0)
    gone = visitor.reload()
    assert gone is not None and gone.status == 404
    visitor.context.close()


def test_the_map_of_branches_by_keyboard(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    expect(page.locator("#branches")).to_be_hidden()
    provider.reply("The first version [1].")
    ask(page, "How long does a firmware update take?")
    settled(page, 1)
    provider.reply("The second version [1].")
    page.get_by_role("button", name="Regenerate").click()
    expect(page.locator(".prose")).to_have_text(re.compile("second version"))
    settled(page, 1)

    button = page.locator("#branches summary")
    expect(button).to_have_accessible_name("2 branches")
    button.press("Enter")
    parts = page.get_by_role("navigation", name="Branches").get_by_role("link")
    expect(parts).to_have_count(2)
    expect(parts.last).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(parts.last).to_be_hidden()
    expect(button).to_be_focused()

    button.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".prose")).to_have_text(re.compile("first version"))
    expect(page.locator(".turn")).to_be_focused()
    expect(parts.first).to_be_hidden()
    button.click()
    expect(parts.first).to_have_attribute("aria-current", "true")
    expect(parts.last).not_to_have_attribute("aria-current", "true")
    page.reload()
    expect(page.locator(".prose")).to_have_text(re.compile("first version"))


@pytest.mark.nightly
def test_a_title_from_the_model_appears(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    provider.reply("Four minutes [1].")
    provider.reply("Updating the firmware", purpose="title", first_delay=0.5)
    ask(page, "How long does a firmware update take?")
    settled(page, 1)
    expect(page.locator("#session-title")).to_have_text("Updating the firmware")
    expect(page.locator("#sessions [data-current]")).to_contain_text("Updating the firmware")
