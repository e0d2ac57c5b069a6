"""Django's scripts in the administration, which are deferred."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_filter_boxes_dates_lookups_rows_and_actions_work(page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/admin/auth/group/add/")
    page.get_by_label("Name:").fill("Doorkeepers")
    page.locator("#id_permissions_from").select_option(label="Knowledge | document | view")
    page.get_by_role("button", name="Choose selected permissions").click()
    expect(page.locator("#id_permissions_to option")).to_have_count(1)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("was added successfully")

    page.goto(f"{any_site.url}/admin/django_q/schedule/add/")
    day = page.locator("#id_next_run_0")
    day.fill("")
    page.get_by_role("link", name="Today").click()
    expect(day).not_to_be_empty()

    page.goto(f"{any_site.url}/admin/knowledge/knowledgebase/add/")
    page.get_by_label("Name:").fill("Doors")
    page.locator(".field-owner .select2-selection").click()
    page.locator(".select2-search__field").fill("dem")
    page.get_by_role("option", name="demo").click()
    page.get_by_role("button", name="Add another Membership").click()
    row = page.locator("#memberships-0")
    with page.expect_popup() as opened:
        row.locator(".field-group .add-related").click()
    opened.value.get_by_label("Name:").fill("Porters")
    opened.value.get_by_role("button", name="Save", exact=True).click()
    expect(row.locator(".field-group .select2-selection")).to_contain_text("Porters")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("was added successfully")

    page.goto(f"{any_site.url}/admin/auth/group/?q=ers")  # only Porters and Doorkeepers have it
    page.locator("#action-toggle").check()
    expect(page.locator(".action-counter")).to_have_text("2 of 2 selected")
    page.locator("select[name=action]").select_option(label="Delete selected groups")
    page.get_by_role("button", name="Go").click()
    page.get_by_role("link", name="No, take me back").click()
    page.goto(f"{any_site.url}/admin/auth/group/?q=Porters")
    page.get_by_role("link", name="Porters").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("link", name="No, take me back").click()
    expect(page.get_by_label("Name:")).to_have_value("Porters")


@pytest.mark.nightly
def test_other_lists_are_one_click_away_or_two_on_a_phone(page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/admin/auth/user/")
    lists = page.get_by_role("navigation", name="Lists")
    expect(lists.locator("[aria-current=page]")).to_have_text("Users")
    lists.get_by_role("link", name="Successful tasks").click()
    expect(lists.locator("[aria-current=page]")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    page.set_viewport_size({"width": 390, "height": 844})
    expect(lists).to_be_hidden()
    page.get_by_role("button", name="Lists").click()
    expect(lists.locator("[aria-current=page]")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(lists).to_be_hidden()
    page.get_by_role("button", name="Lists").click()
    lists.get_by_role("link", name="Groups").click()
    expect(page).to_have_url(f"{any_site.url}/admin/auth/group/")
    expect(lists).to_be_hidden()
    page.goto(f"{any_site.url}/admin/conversations/modelprofile/")
    filters = page.locator("#changelist-filter")
    assert filters.evaluate("(each) => each.scrollHeight <= each.clientHeight")  # none is truncated


@pytest.mark.nightly
def test_a_link_to_share_is_copied_with_and_without_tls(page: Page, any_site: Site) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/admin/auth/user/add/")
    expect(page.get_by_label("Password:", exact=True)).to_be_hidden()
    page.get_by_label("Username:").fill("newcomer")
    page.get_by_role("button", name="Save", exact=True).click()
    link = page.locator("#new-link").text_content()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("[data-copy].copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.evaluate("navigator.clipboard.writeText('')")
    page.evaluate("navigator.clipboard.write = undefined")  # as without TLS
    expect(page.locator("[data-copy].copied")).to_be_hidden()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("[data-copy].copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
