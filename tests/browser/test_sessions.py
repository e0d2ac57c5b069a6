"""What a person does with the list of chats, beside the one that is open."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, sign_in
from tests.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def choose(page: Page, title: str, action: str) -> None:
    """Choose from the menu of a chat in the list."""
    row = page.locator("#sessions .session", has_text=title)
    row.hover()
    row.locator("summary").click()
    row.locator(".menu-items").get_by_text(action, exact=True).click()


def test_chats_are_renamed_pinned_and_deleted_beside_the_open_one(page: Page, site: Site) -> None:
    sign_in(page, site)
    for question in ("How heavy is the LS-2408?", "What does the SYS light mean when it is amber?"):
        page.get_by_role("button", name="New chat").first.click()
        expect(page.locator("#welcome")).to_be_visible()
        page.wait_for_load_state("load")
        ask(page, question)
        expect(page.locator(".turn .outcome")).to_have_count(1)
    current = page.locator("#sessions .session[data-current]")
    expect(current).to_contain_text("SYS light")

    choose(page, "SYS light", "Rename")
    field = page.get_by_label("Title")
    field.fill("Lights of the switch")
    field.press("Enter")
    expect(page.locator("#session-title")).to_have_text("Lights of the switch")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "How heavy", "Pin")
    expect(page.locator("#sessions .sessions-head").first).to_have_text("Pinned")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "How heavy", "Delete")
    expect(page.locator("#sessions .session", has_text="How heavy")).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text("is deleted")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "Lights of the switch", "Delete")
    page.wait_for_url("**deleted=*")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#session-title")).to_have_text("Lights of the switch")
    expect(current).to_contain_text("Lights of the switch")
