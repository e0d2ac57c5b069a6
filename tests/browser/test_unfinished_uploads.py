"""Uploads that weren't finished when the page was left are listed when one returns."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_unfinished_uploads_are_listed_on_return(page: Page, any_site: Site, tmp_path: Path) -> None:
    for name in ("barley", "rye", "wheat"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} is cut in August.\n")
    sign_in(page, any_site, NO_PAGE)
    page.goto(f"{any_site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    expect(page.locator("#unfinished")).to_be_hidden()
    held: list[Route] = []
    page.route(re.compile("/upload/$"), lambda route: held.append(route))
    page.locator("#upload-files").set_input_files(sorted(tmp_path.glob("*.md")))
    expect(page.locator("tr.uploading")).to_have_count(3)
    base = page.url
    other = page.context.new_page()
    other.goto(base)
    expect(other.get_by_role("button", name="Ask about these documents")).to_be_visible()
    expect(other.locator("#unfinished")).to_be_hidden()  # they are still being uploaded
    other.close()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(any_site.url)
    page.unroute(re.compile("/upload/$"))
    page.goto(base)
    notice = page.locator("#unfinished")
    expect(notice).to_contain_text("Not uploaded when you left this page: 3")
    expect(notice).to_contain_text("barley.md · rye.md · wheat.md")
    # Chosen again, a file is no longer listed; what is dismissed isn't listed again.
    page.locator("#upload-files").set_input_files(tmp_path / "rye.md")
    expect(notice).to_contain_text("barley.md · wheat.md")
    expect(page.locator("#rows tr", has_text="rye").first).to_contain_text("Ready")
    page.reload()
    expect(notice).to_contain_text("Not uploaded when you left this page: 2")
    notice.get_by_role("button", name="Dismiss").click()
    expect(notice).to_be_hidden()
    page.reload()
    expect(page.get_by_role("button", name="Ask about these documents")).to_be_visible()
    expect(notice).to_be_hidden()
