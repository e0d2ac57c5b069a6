"""The banner of a chat whose connection is lost."""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_a_connection_that_is_lost_silently_is_noticed(page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NEW_CHAT)
    banner = page.locator("#connection")
    page.wait_for_timeout(1500)
    expect(banner).to_be_hidden()
    # What is sent no longer arrives, as behind a router without a network: no connection is closed.
    page.evaluate("WebSocket.prototype.original = WebSocket.prototype.send; WebSocket.prototype.send = () => {}; 0")
    began = time.monotonic()
    expect(banner).to_be_visible()
    took = time.monotonic() - began
    page.evaluate("WebSocket.prototype.send = WebSocket.prototype.original; 0")
    expect(banner).to_be_hidden()
    assert 1 < took < 30, "at once would show moments, too; usually it takes two seconds"
