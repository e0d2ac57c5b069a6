"""Many documents: uploading a folder with one summary; filtering, sorting, tagging, moving, retrying and deleting."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def _make_base(page: Page, any_site: Site, name: str) -> None:
    page.goto(f"{any_site.url}/knowledge/")
    page.get_by_role("button", name="New knowledge base").first.click()
    page.locator("#new-base").get_by_label("name").first.fill(name)
    page.locator("#new-base").get_by_role("button", name="Create").click()
    expect(page.locator("#upload-folder")).to_be_enabled()


def _folder(root: Path) -> Path:
    """Write 22 readable files, two of which are identical, and files of four kinds that can't be read."""
    for number in range(22):
        path = root / ("north" if number % 2 else "south") / f"note-{number // 2}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nThe buoy {number} was painted on day {number}.")
    (root / "copy.md").write_bytes((root / "south" / "note-3.md").read_bytes())
    (root / "tool.exe").write_bytes(b"MZ")
    (root / "disk.iso").write_bytes(b"CD001")
    (root / "README").write_text("No extension.")
    for name in ("broken.pdf", "cut off.pdf"):
        (root / name).write_bytes(f"%PDF-1.7\nthis is no PDF: {name}\n".encode())
    (root / "empty.txt").write_text(" ")
    return root


@pytest.mark.nightly
def test_a_folder_of_many_files_has_one_summary(page: Page, any_site: Site, tmp_path: Path) -> None:
    sign_in(page, any_site)
    _make_base(page, any_site, "Harbour notes")
    page.set_input_files("#upload-folder", _folder(tmp_path / "notes"))
    summary = page.locator("#upload-summary")
    expect(summary.locator("[data-line]")).to_have_text(
        "Ready: 22 · Already here: 1 · Could not be read: 3 · Not added: 3"
    )
    reasons = summary.locator("li")
    expect(reasons.filter(has_text="This format can't be read").locator("[data-count]")).to_have_text("3")
    expect(reasons.filter(has_text="The file is damaged").locator("[data-count]")).to_have_text("2")
    expect(reasons.filter(has_text="The file is empty").locator("[data-count]")).to_have_text("1")
    reasons.filter(has_text="The file is damaged").locator("summary").click()
    expect(reasons.filter(has_text="The file is damaged")).to_contain_text("notes/cut off.pdf")
    expect(page.locator("tr.uploading, tr.refused")).to_have_count(0)  # reported once

    page.reload()
    expect(summary.locator("[data-line]")).to_contain_text("Ready: 22")
    summary.get_by_role("button", name="Close").click()
    expect(summary).to_be_hidden()

    # Files with the same name in two folders are two documents, and a folder filters the table.
    page.locator("nav.folders").get_by_role("link", name=re.compile("notes")).last.click()
    page.locator("nav.folders").get_by_role("link", name="notes/north 11").click()
    expect(page.locator("tr.document-row")).to_have_count(11)
    expect(page.locator("tr.document-row", has_text="notes/north/note-3.md")).to_have_count(1)
    expect(page.locator("tr.document-row", has_text="notes/south/note-3.md")).to_have_count(0)


def test_many_documents_are_filtered_sorted_tagged_moved_retried_and_deleted(
    page: Page, any_site: Site, tmp_path: Path
) -> None:
    sign_in(page, any_site)
    _make_base(page, any_site, "Lighthouse")
    _make_base(page, any_site, "Buoys")
    page.set_input_files("#upload-folder", _folder(tmp_path / "day"))
    expect(page.locator("#upload-summary [data-line]")).to_contain_text("Could not be read: 3")
    rows, said = page.locator("tr.document-row"), page.locator("#toasts")

    page.get_by_role("link", name="Name", exact=True).click()
    expect(rows.first).to_contain_text(re.compile("broken.pdf"))
    page.get_by_role("link", name="Name", exact=True).click()
    expect(page.locator("th[aria-sort='descending']")).to_contain_text("Name")
    expect(rows.first).to_contain_text("Note 9")

    page.locator("nav.narrowing").get_by_role("link", name=re.compile("^Failed")).click()
    expect(rows).to_have_count(3)
    page.get_by_label("All on this page").check()
    page.locator("#bulk").get_by_role("button", name="Retry").click()
    expect(said).to_contain_text("Documents to be read again: 0 of 3.")
    expect(said).to_contain_text("because of the files themselves")
    page.get_by_label("All on this page").check()
    page.locator("#bulk").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(said).to_contain_text("Documents deleted: 3 of 3.")

    page.goto(page.url.split("?")[0])
    for name in ("Note 1", "Note 2"):
        page.locator("tr.document-row", has=page.get_by_role("link", name=name, exact=True)).get_by_role(
            "checkbox"
        ).check()
    page.locator("#bulk").get_by_label("Tags, separated by commas").fill("painted")
    page.locator("#bulk").get_by_role("button", name="Tag", exact=True).click()
    expect(said).to_contain_text("Documents tagged: 2 of 2.")
    page.locator("nav.narrowing").get_by_role("link", name=re.compile("painted")).click()
    expect(rows).to_have_count(2)
    page.get_by_label("All on this page").check()
    page.locator("#bulk").get_by_label("Knowledge base").select_option(label="Lighthouse")
    page.locator("#bulk").get_by_role("button", name="Move").click()
    expect(said).to_contain_text("Documents moved: 2 of 2.")
    page.goto(f"{any_site.url}/knowledge/")
    page.get_by_role("link", name="Lighthouse").click()
    expect(rows).to_have_count(2)
