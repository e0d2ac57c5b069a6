"""Switching the embedding model in the administration: downloading, using and reverting it, with a real worker."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import running_site
from tests.fakes.hub import FakeHub
from tests.site import PASSWORD, Site

pytestmark = [pytest.mark.browser, pytest.mark.site, pytest.mark.nightly]
NAME = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
MODELS = "/admin/retrieval/registeredmodel/"
PATIENCE = 60_000


@pytest.fixture(scope="module")
def hub() -> Iterator[FakeHub]:
    with FakeHub() as server:
        # The bundled model poses as the other one, whose size and dimension it has.
        bundled = Path(settings.BUNDLED_MODEL_DIR)
        server.serve("Qdrant/paraphrase-multilingual-MiniLM-L12-v2-onnx-Q", bundled, model__onnx="model_optimized.onnx")
        yield server


@pytest.fixture(scope="module")
def site(hub: FakeHub) -> Iterator[Site]:
    with running_site(HF_ENDPOINT=hub.url) as site:
        yield site


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", service_workers="block")
    page = context.new_page()
    page.goto(f"{site.url}/login/")
    page.locator("input[name=username]").fill("demo")
    page.locator("input[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#question")
    yield page
    context.close()


def test_a_model_is_downloaded_used_and_reverted(page: Page, site: Site, hub: FakeHub) -> None:
    page.goto(f"{site.url}{MODELS}add/")
    page.locator(f"input[value='{NAME}']").check()
    hub.go_on.clear()
    page.get_by_role("button", name="Download").click()
    # The page updates its progress and end automatically.
    expect(page.locator("#models progress")).to_be_visible()
    expect(page.locator("#models")).to_contain_text(re.compile(r"of 4\d\.\d.MB"), timeout=PATIENCE)
    hub.go_on.set()
    expect(page.get_by_role("button", name="Use this model")).to_be_visible(timeout=PATIENCE)
    assert len([path for path, _range in hub.asked if path.endswith("model_optimized.onnx")]) == 1

    page.get_by_role("button", name="Use this model").click()
    expect(page.locator(".model-state")).to_have_text("In use", timeout=PATIENCE)
    page.goto(f"{site.url}{MODELS}")
    expect(page.locator(".model-card.in-use")).to_contain_text(NAME)
    page.goto(f"{site.url}/playground/?q=How+long+is+the+warranty%3F&mode=vector")
    expect(page.locator(".hit").first).to_contain_text("Warranty")

    page.goto(f"{site.url}{MODELS}")
    page.get_by_role("button", name="Switch back").click()
    expect(page.locator(".model-state")).to_have_text("In use", timeout=PATIENCE)
    page.goto(f"{site.url}{MODELS}")
    expect(page.locator(".model-card.in-use")).to_contain_text("bundled")
