"""The real site and a real browser: `manage.py up` on a separate data folder, used through Chromium.

Any error in the browser's console, including violations of the content security policy, fails the test.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright
from reportlab.pdfgen.canvas import Canvas

from tests.browser import chromium
from tests.fakes.provider import FakeProvider
from tests.prepared import site_folder
from tests.site import PASSWORD, ROOT, Site

# Milliseconds; generous, since the machine may be busy and nothing here measures time.
PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)


@pytest.hookimpl(tryfirst=True)  # before the tests are ordered by their groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of each of the two sites in one worker, so that it is started once."""
    for item in items:
        if item.get_closest_marker("browser") and not item.get_closest_marker("xdist_group"):
            model = "site_with_model" in getattr(item, "fixturenames", ())
            item.add_marker(pytest.mark.xdist_group("with a model" if model else "without a model"))


@pytest.fixture(autouse=True)
def _let_django_run_beside_playwright(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow synchronous queries: Playwright's loop in this thread looks like asynchronous code to Django."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@contextmanager
def running_site(**environment: str) -> Iterator[Site]:
    """Run a site on a separate data folder, with the sample documents."""
    with site_folder() as data_dir, Site(data_dir, root=ROOT, **environment) as site:
        yield site


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """A site without a language model, with the sample documents."""
    with running_site(ENABLE_READER="true") as site:
        yield site


@pytest.fixture(scope="package")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="package")
def site_with_model(provider: FakeProvider) -> Iterator[Site]:
    """A site whose answers are written by the fake provider."""
    with running_site(ENABLE_READER="true", LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as site:
        yield site


@pytest.fixture(scope="package")
def any_site(site_with_model: Site) -> Site:
    """The one of the two sites that has less to do, for tests that ask nothing."""
    return site_with_model


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = chromium.executable()
    if found is None:
        pytest.fail("there is no Chromium; `make browser` fetches one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=chromium.FLAGS)
        yield browser
        browser.close()


# PDF.js 5.6 logs this if a page is redrawn before its first drawing has added links, which it then adds.
_HARMLESS = (
    "#injectLinkAnnotations: Error: `render` method must be called before",
    "Service Worker registration blocked by Playwright",  # in these contexts, so that requests can be intercepted
)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a separate profile, in English, which must stay free of errors."""
    context = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 800}, service_workers="block")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        address = message.location.get("url", "")
        is_probe = address.endswith("/healthz")  # which a page sends while it is offline
        if message.type in ("error", "warning") and not message.text.startswith(_HARMLESS) and not is_probe:
            complaints.append(f"{message.text} ({address})")

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


@contextmanager
def page_of_another(browser: Browser, width: int, height: int) -> Iterator[Page]:
    """Open a page in a separate profile, in which requests may be refused."""
    size: ViewportSize = {"width": width, "height": height}
    with browser.new_context(locale="en-GB", viewport=size, service_workers="block") as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """Another person's telephone."""
    with page_of_another(browser, 390, 844) as page:
        yield page


@pytest.fixture
def colleague(browser: Browser) -> Iterator[Page]:
    """Another person's desktop."""
    with page_of_another(browser, 1280, 800) as page:
        yield page


_signed_in: dict[str, list[Any]] = {}  # cookies, by a site's address


# What `sign_in` opens instead of the latest chat.
NEW_CHAT, NO_PAGE = "new chat", "no page"


def sign_in(page: Page, site: Site, then: str = "") -> None:
    """Sign in as the demo administrator, unless an earlier test did, and open the latest chat, a new one, or no page.

    Opening pages takes most of the tests' time.
    """
    if cookies := _signed_in.get(site.url, []):
        page.context.add_cookies(cookies)
        if then == NO_PAGE:
            return
        if then == NEW_CHAT:
            token = next(cookie["value"] for cookie in cookies if cookie["name"] == "csrftoken")
            headers = {"X-CSRFToken": token, "Referer": site.url}
            made = page.request.post(f"{site.url}/c/new/", headers=headers, max_redirects=0)
            page.goto(f"{site.url}{made.headers['location']}")
            expect(page.locator("#welcome")).to_be_visible()
            page.wait_for_load_state("load")
            return
    page.goto(site.url)
    if "/login/" in page.url:
        page.get_by_label("Username").fill("demo")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    _signed_in[site.url] = page.context.cookies()
    page.wait_for_load_state("load")  # until then, Enter has no handler
    if then == NEW_CHAT:
        new_chat(page)


def new_chat(page: Page) -> None:
    """Press "New chat", and wait for its page, which may look like the previous one."""
    with page.expect_navigation():
        page.get_by_role("button", name="New chat").first.click()
    expect(page.locator("#welcome")).to_be_visible()


def ask(page: Page, question: str) -> None:
    """Type a question into the composer and send it with Enter."""
    page.wait_for_load_state("load")  # before, no script sends it
    box = page.get_by_label("Your question")
    box.fill(question)
    box.press("Enter")


def go_offline(page: Page) -> None:
    """Take a chat offline, closing its connection first, since Chromium can't end it offline.

    It is closed a second time, in case the page reconnected before the network was gone.
    """
    close = "document.getElementById('chat')['htmx-internal-data'].webSocket.close()"
    page.evaluate(close)
    page.context.set_offline(True)
    page.evaluate(close)


def make_pdf(path: Path, *paragraphs: str) -> Path:
    """Write a one-page PDF of short paragraphs."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    canvas.setFont("Helvetica", 12)
    for number, text in enumerate(paragraphs):
        canvas.drawString(72, 760 - 26 * number, text)
    canvas.save()
    path.write_bytes(buffer.getvalue())
    return path


def upload(page: Page, site: Site, *paths: Path) -> None:
    """Upload files to the base of samples, and wait until they can be searched."""
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    expect(page.locator("#upload-files")).to_be_enabled()  # it is once its script handles files
    page.set_input_files("#upload-files", paths)
    for path in paths:
        row = page.locator("tr.document-row", has_text=path.name)
        expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()
