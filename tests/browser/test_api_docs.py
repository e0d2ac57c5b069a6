"""The API's pages: the list of operations, and the page for trying them under its content security policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_an_operation_in_the_list_opens_for_trying(page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/api/docs/")
    page.get_by_role("link", name="Try POST /api/search").click()
    operation = page.locator("#operations-search-search")
    expect(operation).to_be_visible()
    expect(operation.get_by_text("Parameters", exact=True)).to_be_visible()  # it is expanded
