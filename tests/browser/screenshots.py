"""Takes the README's screenshots of a running site: `python -m tests.browser.screenshots`, or `make screenshots`.

The site has the sample documents and no language model, so that answers are quotations.
"""

from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import running_site
from tests.site import PASSWORD, ROOT, Site

FOLDER = ROOT / "docs" / "images"
SIZE = ViewportSize(width=1640, height=900)
# Enough colours for text and a few tints, at a third of the size.
COLOURS = 128

Theme = Literal["light", "dark"]


def take() -> None:
    """Start a site, ask in both languages, and save the screenshots."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with running_site(ENABLE_READER="true") as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
        try:
            english = ("How long does a firmware update take?", "Which switch has PoE?", "How long is the warranty?")
            _answer(browser, site, "en-GB", "light", english, FOLDER / "answer.png")
            chinese = ("加班费怎么算？", "一年可以远程办公几天？", "工作五年有多少天年假？")
            _answer(browser, site, "zh-CN", "dark", chinese, FOLDER / "answer-zh.png")
        finally:
            browser.close()


def _answer(browser: Browser, site: Site, locale: str, theme: Theme, questions: tuple[str, ...], path: Path) -> None:
    """Ask each question in a new chat, and take a screenshot of the last answer with its first source open."""
    context = browser.new_context(locale=locale, color_scheme=theme, viewport=SIZE, device_scale_factor=1.25)
    page = context.new_page()
    page.goto(f"{site.url}/login/")
    page.locator("input[name=username]").fill("demo")
    page.locator("input[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#question")
    for question in questions:
        with page.expect_navigation():
            page.locator("form[action='/c/new/'] button").first.click()
        page.locator("#question").fill(question)
        page.keyboard.press("Enter")
        answer = page.locator("section.answer").last
        expect(answer.locator(".prose a[data-citation]").first).to_be_visible()
        expect(page.locator("#turns .working")).to_have_count(0)
    answer.locator(".prose a[data-citation]").first.click()
    expect(page.locator("#drawer .cited")).to_be_visible()
    if page.locator("#drawer .pdf-reader").count():
        expect(page.locator("#drawer .textLayer mark.said-words").first).to_be_in_viewport()
    page.mouse.move(0, 0)
    page.wait_for_timeout(800)  # until the drawer has slid in
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    context.close()


if __name__ == "__main__":
    take()
