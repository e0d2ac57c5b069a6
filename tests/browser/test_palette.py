"""The command palette, by keyboard and by its button."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_the_palette_is_operated_by_keyboard_and_by_its_button(page: Page, other: Page, any_site: Site) -> None:
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/account/")
    page.wait_for_load_state("load")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    page.keyboard.type("员工")
    option = page.get_by_role("option", name="云雀网络员工手册")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "")
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/*/")
    page.wait_for_load_state("load")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Account")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()

    # On a phone.
    other.context.add_cookies(page.context.cookies())
    other.goto(f"{any_site.url}/account/")
    other.wait_for_load_state("load")
    other.get_by_role("button", name="Menu").click()
    other.get_by_role("button", name="Go to").click()
    other.get_by_role("combobox", name="Go to").fill("new")
    other.get_by_role("option", name="New chat").last.click()
    expect(other.get_by_label("Your question")).to_be_visible()
