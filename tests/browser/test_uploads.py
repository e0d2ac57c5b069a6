"""Uploading files of all kinds: unsupported ones are reported before sending, attachments of mails are linked."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.conftest import NO_PAGE, sign_in
from tests.knowledge.parsing.test_mail import make
from tests.site import Site

pytestmark = pytest.mark.browser


def _open_samples(page: Page, any_site: Site) -> None:
    page.goto(f"{any_site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    expect(page.locator("label[for=upload-folder]")).to_be_visible()  # by the page's script


def test_unsupported_files_are_reported_before_sending(page: Page, any_site: Site, tmp_path: Path) -> None:
    sign_in(page, any_site, NO_PAGE)
    _open_samples(page, any_site)
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    for name in ("tool.exe", "README"):
        (tmp_path / name).write_bytes(b"MZ")
        page.set_input_files("#upload-files", tmp_path / name)
        row = page.locator("tr.uploading", has_text=name)
        expect(row.locator(".row-error")).to_contain_text("can't be read. Supported: pdf, docx")
        expect(row.get_by_role("button", name="Retry")).to_be_hidden()
        row.get_by_role("button", name="Remove").click()
    expect(page.locator("tr.uploading")).to_have_count(0)
    assert sent == []


def test_a_file_that_only_the_server_refuses_is_reported(page: Page, any_site: Site, tmp_path: Path) -> None:
    def refuse(route: Route) -> None:
        sent = (route.request.post_data_buffer or b"").replace(b'filename="tea.txt"', b'filename="tea.exe"')
        answer = route.fetch(post_data=sent)
        assert answer.status == 415
        route.fulfill(status=200, body=answer.text(), content_type="text/html")  # as for one of several files

    sign_in(page, any_site, NO_PAGE)
    _open_samples(page, any_site)
    page.route("**/upload/", refuse)
    (tmp_path / "tea.txt").write_text("Green tea.")
    page.set_input_files("#upload-files", tmp_path / "tea.txt")
    row = page.locator("#rows tr", has_text="tea.exe")
    expect(row).to_contain_text("can't be read")
    expect(page.locator("tr.uploading")).to_have_count(0)


def test_files_selected_before_the_script_loaded_are_uploaded(page: Page, any_site: Site, tmp_path: Path) -> None:
    held: list[Route] = []
    sign_in(page, any_site)
    page.route(re.compile(r"/upload\.\w*\.?js"), lambda route: held.append(route))
    page.goto(f"{any_site.url}/knowledge/")
    with page.expect_request(re.compile(r"/upload\.")):
        page.get_by_role("link", name="Samples").first.click()
    (tmp_path / "early.exe").write_bytes(b"MZ")
    page.set_input_files("#upload-files", tmp_path / "early.exe")
    held[0].continue_()
    row = page.locator("tr.uploading", has_text="early.exe")
    expect(row.locator(".row-error")).to_contain_text("can't be read")


def test_older_office_files_are_detected_by_content_without_libreoffice(
    page: Page, any_site: Site, tmp_path: Path
) -> None:
    def without_it(route: Route) -> None:
        """Serve the page as a server without LibreOffice would."""
        response = route.fetch()
        text = response.text().replace('"doc", ', "").replace('"missing": {}', '"missing": {"doc": "Not installed."}')
        route.fulfill(response=response, body=text)

    sign_in(page, any_site)
    page.route(re.compile(r"/knowledge/\d+/$"), without_it)
    _open_samples(page, any_site)
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    page.set_input_files("#upload-files", tmp_path / "old.doc")
    expect(page.locator("tr.uploading .row-error", has_text="Not installed.")).to_be_visible()


def test_a_mail_and_its_attachments(page: Page, any_site: Site, tmp_path: Path) -> None:
    message = make("Lamp oil for the harbour", "The lamp oil is stored in the north shed.")
    message.add_attachment(
        b"# Stock\n\nForty barrels of lamp oil.", "text", "plain", filename="stock of the north shed.md"
    )
    message.add_attachment(b"MZ", "application", "octet-stream", filename="tool.exe")
    (tmp_path / "lamp.eml").write_bytes(message.as_bytes())
    sign_in(page, any_site, NO_PAGE)
    _open_samples(page, any_site)
    page.set_input_files("#upload-files", tmp_path / "lamp.eml")
    row = page.locator("tr.document-row", has_text="lamp.eml")
    expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()
    row.get_by_role("link", name="Lamp oil for the harbour").click()
    expect(page.locator(".attachments")).to_contain_text(".exe files can't be read.")
    page.get_by_role("link", name="stock of the north shed.md").click()
    expect(page.locator(".reading")).to_contain_text("Forty barrels")
    page.get_by_role("link", name="Lamp oil for the harbour").click()
    expect(page.locator(".reading")).to_contain_text("ann@example.com")


def test_files_beyond_the_storage_limit_are_reported_before_sending(page: Page, any_site: Site, tmp_path: Path) -> None:
    def with_little_room(route: Route) -> None:
        """Serve the page for an owner whose storage limit is nearly reached."""
        response = route.fetch()
        rules = '"room": 10, "full": "“{name}” doesn\'t fit.", "unnamed"'
        route.fulfill(response=response, body=response.text().replace('"unnamed"', rules))

    sign_in(page, any_site)
    page.route(re.compile(r"/knowledge/\d+/$"), with_little_room)
    _open_samples(page, any_site)
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    (tmp_path / "long.txt").write_bytes(b"longer than that")
    page.set_input_files("#upload-files", tmp_path / "long.txt")
    expect(page.locator("tr.uploading .row-error")).to_have_text("“long.txt” doesn't fit.")
    assert sent == []
