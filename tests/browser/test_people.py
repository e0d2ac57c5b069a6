"""Users' journeys: an invited newcomer, visitors with an invalid link, a member, a curator and an administrator."""

import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser
SECRET = "b1 long and new"


def invite(page: Page, site: Site, role: str = "Viewer") -> str:
    """Create an invitation to the samples as their owner, from the members page, and return its link."""
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    page.get_by_role("link", name="Members").click()
    page.get_by_role("link", name="Invite with a link").click()
    page.get_by_label("Role", exact=True).select_option(role)
    page.get_by_role("button", name="Create link").click()
    link = page.locator("#new-link").text_content()
    assert link and link.startswith(f"{site.url}/invitations/")
    return link


def join(page: Page, link: str, username: str) -> None:
    """Create an account with a link."""
    page.goto(link)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password", exact=True).fill(SECRET)
    page.get_by_label("Password (again)").fill(SECRET)
    page.get_by_role("button", name="Create account").click()


def test_an_invited_newcomer_asks_downloads_their_data_and_deletes_the_account(
    page: Page, other: Page, site: Site, tmp_path: Path
) -> None:
    sign_in(page, site, NO_PAGE)
    link = invite(page, site)
    join(other, link, "nora")
    expect(other.get_by_role("heading", name="Samples")).to_be_visible()
    expect(other.locator("#upload")).to_have_count(0)  # a viewer
    other.get_by_role("button", name="Ask about these documents").click()
    other.wait_for_load_state("load")
    ask(other, "How long does a firmware update take?")
    expect(other.locator(".answer .outcome")).to_contain_text("Quoted from")
    other.goto(f"{site.url}/account/")
    with other.expect_download() as download:
        other.get_by_role("button", name="Download my data").click()
    download.value.save_as(tmp_path / "own.zip")
    with zipfile.ZipFile(tmp_path / "own.zip") as packed:
        assert packed.testzip() is None and [name for name in packed.namelist() if name.startswith("chats/")]
    other.get_by_role("link", name="Delete my account").click()
    other.get_by_label("Password").fill(SECRET)
    other.get_by_role("button", name="Confirm").click()
    expect(other.get_by_text("This will be permanently deleted")).to_be_visible()
    other.get_by_label("Your username, to confirm").fill("nora")
    other.get_by_role("button", name="Delete my account permanently").click()
    expect(other.get_by_text("Your account was deleted.")).to_be_visible()


@pytest.mark.nightly
def test_a_used_revoked_or_expired_link_is_refused(page: Page, other: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    used, revoked = invite(page, site), invite(page, site)
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.get_by_text("The link no longer works.")).to_be_visible()
    join(other, used, "ulla")
    expect(other.get_by_role("heading", name="Samples")).to_be_visible()
    other.context.clear_cookies()
    expired = invite(page, site)
    with site.database() as database:
        database.execute(
            "UPDATE knowledge_invitation SET expires_at = now() WHERE used_at IS NULL AND revoked_at IS NULL"
        )
    spent = {
        used: "has already been used",
        revoked: "was revoked",
        expired: "has expired",
        used[:-9]: "no such invitation",
    }
    for link, words in spent.items():
        other.goto(link)
        expect(other.get_by_role("heading", name="This link doesn't work")).to_be_visible()
        expect(other.locator("main")).to_contain_text(words)
    other.goto(f"{site.url}/sign-up/")
    expect(other.get_by_role("heading", name="You don't have an account here yet")).to_be_visible()


def test_a_member_a_curator_and_an_administrator(page: Page, other: Page, site: Site) -> None:
    sign_in(page, site)
    # The administrator invites a curator, without a base.
    page.goto(f"{site.url}/admin/knowledge/invitation/add/")
    page.get_by_label("Role on the site").select_option("curator")
    page.get_by_role("button", name="Save", exact=True).click()
    link = page.locator("code.key").text_content()
    assert link
    join(other, link, "cora")
    expect(other.get_by_label("Your question")).to_be_visible()
    # The curator configures somebody else's base.
    other.goto(f"{site.url}/knowledge/")
    other.get_by_role("link", name="Samples").first.click()
    other.get_by_role("link", name="Settings", exact=True).click()
    expect(other.get_by_role("button", name="Save")).to_be_visible()
    # A member has their own base, and can't configure those of others.
    member = invite(page, site)
    other.context.clear_cookies()
    join(other, member, "mia")
    base = re.search(r"/knowledge/(\d+)/", other.url)
    assert base
    other.goto(f"{site.url}/knowledge/{base[1]}/settings/")
    expect(other.get_by_role("heading", name="You don't have permission to do this")).to_be_visible()
    expect(other.get_by_text("You are signed in as mia.")).to_be_visible()
    other.goto(f"{site.url}/account/sessions/")
    expect(other.get_by_text("This device")).to_have_count(1)


@pytest.mark.nightly
def test_fields_stay_aligned_above_an_error(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    page.get_by_role("link", name="Members").click()
    form = page.locator(".member-form").first
    # As for an unknown name, for whose status the browser logs an error.
    form.locator(".field").first.evaluate(
        "field => field.insertAdjacentHTML('beforeend', '<p class=errors>Nobody</p>')"
    )
    expect(form.locator(".errors")).to_be_visible()
    boxes = [form.locator(each).bounding_box() for each in ("[name=username]", "select", "button")]
    assert len({(round(box["y"]), round(box["height"])) for box in boxes if box}) == 1, boxes
