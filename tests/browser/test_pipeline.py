"""The pipeline page: its graph is drawn like diagrams in answers."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser

NAME = "The nodes of the pipeline and the edges between them"


def test_the_graph_is_drawn_and_its_source_is_shown_and_copied(page: Page, any_site: Site) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/pipeline/")
    picture, source = page.get_by_role("img", name=NAME), page.locator("figure.diagram pre")
    expect(picture).to_be_visible()
    expect(source).to_be_hidden()
    page.get_by_role("button", name="Source code").click()
    expect(source).to_contain_text('search["Search"]')
    expect(picture).to_be_hidden()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator(".copied")).to_have_count(1)
    assert page.evaluate("navigator.clipboard.readText()") == source.text_content()


@pytest.mark.nightly
def test_a_phone_shows_the_middle_of_the_graph_at_a_readable_size(other: Page, any_site: Site) -> None:
    sign_in(other, any_site)
    other.goto(f"{any_site.url}/pipeline/")
    picture = other.get_by_role("img", name=NAME)
    expect(picture).to_be_visible()
    expect(other.locator("figure.diagram.drawn")).to_be_visible()
    place = other.locator(".diagram-picture")
    left, hidden = place.evaluate("(place) => [place.scrollLeft, place.scrollWidth - place.clientWidth]")
    assert hidden > 0 and abs(left - hidden / 2) <= 1
    assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.nightly
def test_without_scripts_the_source_is_there(browser: Browser, page: Page, any_site: Site) -> None:
    sign_in(page, any_site)
    with browser.new_context(storage_state=page.context.storage_state(), java_script_enabled=False) as context:
        plain = context.new_page()
        plain.goto(f"{any_site.url}/pipeline/")
        expect(plain.locator("figure.diagram pre")).to_contain_text("flowchart TD")
        expect(plain.get_by_role("button", name="Source code")).to_be_hidden()
