"""On a phone, a chat gets instructions and many files, and its answer is saved in a knowledge base."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, new_chat, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_a_chat_is_instructed_and_its_answer_saved(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(site.url)
    new_chat(page)
    opener = page.get_by_title("How should this chat answer?")
    opener.click()
    page.get_by_role("textbox", name="How should this chat answer?").fill("In one sentence. 用中文回答")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(opener).to_have_class(re.compile(r"\bset\b"))

    files = [{"name": f"{number}.txt", "mimeType": "text/plain", "buffer": b"Ports %d" % number} for number in range(8)]
    page.locator("#attach-files").set_input_files(files)  # type: ignore[arg-type]
    summary = page.locator("#files-summary")
    expect(summary).to_contain_text(re.compile("8 files · [1-8] ready"), timeout=30_000)
    expect(page.locator("#chat-files")).to_be_hidden()
    summary.click()
    expect(page.locator("#chat-files")).to_be_visible()
    summary.click()

    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    expect(answer).to_contain_text("摘自您的文档")
    answer.get_by_label("Save to a knowledge base").click()
    popover = page.get_by_role("dialog", name="Save to a knowledge base")
    expect(popover).to_be_in_viewport(ratio=1)
    popover.get_by_role("button", name="Samples").click()
    expect(page.locator("#toasts")).to_contain_text("was saved to “Samples”")
    expect(popover).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
