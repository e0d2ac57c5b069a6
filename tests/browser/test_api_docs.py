"""The page of the API works under its content security policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_the_api_page_shows_the_operations(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.goto(f"{site.url}/api/docs/")
    operation = page.locator("#operations-search-search")
    expect(operation).to_be_visible()
    operation.click()
    expect(operation.get_by_text("Parameters", exact=True)).to_be_visible()
