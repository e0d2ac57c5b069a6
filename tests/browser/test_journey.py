"""The main journey in a real browser: sign in, add a document, ask, and read the cited answer."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NO_PAGE, ask, make_pdf, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser


def _open_base(page: Page, site: Site, name: str) -> None:
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name=name).first.click()
    expect(page.locator("#documents")).to_be_visible()
    page.wait_for_load_state()  # the page's scripts have run


def test_a_document_becomes_a_cited_answer(page: Page, site: Site, tmp_path: Path) -> None:
    pdf = make_pdf(
        tmp_path / "lantern.pdf",
        "The Brightwater lantern burns rapeseed oil for fourteen hours.",
        "Its wick is replaced every ninety days by the harbour master.",
        "In fog the lantern is swung seven times to warn the ferry.",
    )
    sign_in(page, site, NO_PAGE)
    _open_base(page, site, "Samples")
    page.set_input_files("#upload-files", pdf)
    row = page.locator("tr.document-row", has_text="lantern.pdf")
    expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()

    page.goto(site.url)
    ask(page, "How often is the wick of the Brightwater lantern replaced?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".prose")).to_contain_text("ninety days")
    expect(answer.locator(".answer-foot .chip", has_text="lantern.pdf").first).to_be_visible()

    answer.locator(".prose a[data-citation], .chip[data-citation]").first.click()
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("lantern.pdf")
    expect(drawer).to_contain_text("ninety days")


def test_the_same_file_again_is_recognised(page: Page, site: Site, tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "twice.pdf", "The same bytes are kept once.")
    sign_in(page, site, NO_PAGE)
    _open_base(page, site, "Samples")
    for _ in range(2):
        page.set_input_files("#upload-files", pdf)
        expect(page.locator("tr.document-row", has_text="twice.pdf")).to_have_count(1)
        expect(page.locator("tr.uploading")).to_have_count(0)
    expect(page.get_by_text("already here")).to_be_visible()


def test_an_uploaded_folder_keeps_its_paths(page: Page, site: Site, tmp_path: Path) -> None:
    manuals = tmp_path / "manuals"
    for path, text in (("setup.md", "Begin."), ("admin/setup.md", "Rule."), (".git/notes.md", "Hidden.")):
        (manuals / path).parent.mkdir(parents=True, exist_ok=True)
        (manuals / path).write_text(text)
    sign_in(page, site, NO_PAGE)
    _open_base(page, site, "Samples")
    page.set_input_files("#upload-folder", manuals)
    for path in ("manuals/setup.md", "manuals/admin/setup.md"):
        row = page.locator("tr.document-row", has=page.get_by_text(path, exact=True))
        expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()
    expect(page.get_by_text("notes.md")).to_have_count(0)


def test_a_dropped_folder_keeps_its_paths(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    _open_base(page, site, "Samples")
    # Scripts can't create folder entries in a browser: these imitate them.
    page.evaluate("""() => {
      const file = new File(["Dropped words."], "dropped.md");
      const leaf = { name: "dropped.md", isFile: true, file: (done) => done(file) };
      const folder = (name, entries) => {
        const left = [entries, []];
        return { name, isFile: false, createReader: () => ({ readEntries: (done) => done(left.shift()) }) };
      };
      const entry = folder("field", [folder("notes", [leaf]), folder(".git", [leaf])]);
      const event = new Event("drop", { cancelable: true });
      const items = [{ kind: "file", webkitGetAsEntry: () => entry }];
      event.dataTransfer = { types: ["Files"], items, files: [] };
      window.dispatchEvent(event);
    }""")
    row = page.locator("tr.document-row", has=page.get_by_text("field/notes/dropped.md", exact=True))
    expect(row.locator(".badge.ok", has_text="Ready")).to_be_visible()
    expect(page.get_by_text("dropped.md")).to_have_count(1)


def test_a_broken_file_says_why(page: Page, site: Site, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nthis is no PDF\n")
    sign_in(page, site, NO_PAGE)
    _open_base(page, site, "Samples")
    page.set_input_files("#upload-files", broken)
    row = page.locator("tr.document-row", has_text="broken.pdf")
    expect(row.locator(".badge.bad")).to_be_visible()
    expect(row.locator(".row-error")).to_have_text(re.compile(r"\w+"))


def test_an_answer_survives_a_reload_while_it_streams(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    words = " ".join(f"word{number}" for number in range(60))
    provider.reply(f"Beginning {words} [1] the end.", thinking="Let me look.", delay=0.08)
    sign_in(page, site_with_model)
    ask(page, "How long does a firmware update take?")
    prose = page.locator("section.answer .prose").last
    expect(prose).to_contain_text("word5")
    page.reload()
    prose = page.locator("section.answer .prose").last
    expect(prose).to_contain_text("Beginning word0 word1")
    expect(prose).to_contain_text("the end.")
    expect(page.locator("section.answer .outcome").last).to_be_visible()
    text = prose.inner_text()
    assert text.count("word30") == 1
    expect(page.locator(".thinking-text").last).to_have_text("Let me look.")


def test_reasoning_can_be_read_while_it_streams(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    thinking = " ".join(f"thought{number}" for number in range(40))
    provider.reply("The answer [1].", thinking=thinking, delay=0.06)
    sign_in(page, site_with_model)
    ask(page, "What does the handbook say about loop guard?")
    answer = page.locator("section.answer").last
    answer.locator(".thinking summary").click()
    expect(answer.locator(".thinking-text")).to_contain_text("thought5")
    expect(answer.locator(".outcome")).to_be_visible()
    # The opened reasoning stays open, and isn't part of the answer.
    expect(answer.locator(".thinking-text")).to_have_text(thinking)
    expect(answer.locator(".thinking-text")).to_be_visible()
    expect(answer.locator(".prose")).to_contain_text("The answer")
    expect(answer.locator(".prose")).not_to_contain_text("thought")


def test_a_cut_off_answer_keeps_its_text_and_can_be_retried(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    provider.cut_after(4, text="Only the first words arrive before the line breaks off.")
    sign_in(page, site_with_model)
    ask(page, "What does the SYS light mean when it is amber?")
    answer = page.locator("section.answer").last
    expect(answer.get_by_role("alert")).to_be_visible()
    expect(answer.get_by_role("alert")).to_contain_text("was cut off")
    expect(answer.locator(".outcome")).to_contain_text("Broken off")
    expect(answer.locator(".prose")).to_contain_text("Only")
    page.reload()
    expect(page.locator("section.answer .prose").last).to_contain_text("Only")
    page.wait_for_load_state("load")
    provider.reply("Starting, or updating firmware [1].")
    answer.get_by_role("button", name="Retry").click()
    expect(page.locator("section.answer .prose").last).to_contain_text("updating firmware")
    expect(page.locator(".siblings .number").last).to_have_text("2/2")


def test_a_rejected_key_is_explained(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    provider.fail(401, {"error": {"message": "Incorrect API key provided."}})
    sign_in(page, site_with_model)
    ask(page, "How heavy is the LS-2408?")
    alert = page.locator("section.answer").last.get_by_role("alert")
    expect(alert).to_contain_text("rejected this site")
    expect(alert.get_by_role("button", name="Retry")).to_be_visible()


def test_stopping_keeps_the_text_so_far(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    provider.reply("Slow " + "and slow " * 2000, delay=0.1)
    sign_in(page, site_with_model)
    ask(page, "How many watts does the LS-2448P deliver?")
    expect(page.locator("section.answer .prose").last).to_contain_text("slow")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("section.answer .outcome").last).to_be_visible()
    assert provider.wait_for_disconnect()


def test_markup_in_questions_and_answers_is_text(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    provider.reply("<script>window.hit=1</script><img src=x onerror='window.hit=1'> [a](javascript:window.hit=1) done")
    sign_in(page, site_with_model)
    ask(page, "<img src=x onerror='window.hit=1'> how heavy is the LS-2448P?")
    expect(page.locator("section.answer .prose").last).to_contain_text("done")
    expect(page.locator(".bubble").last).to_contain_text("<img src=x")
    assert page.evaluate("window.hit") is None


def test_language_and_theme(page: Page, site: Site) -> None:
    sign_in(page, site)
    menu = page.locator(".rail-account")
    menu.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator(".rail-account").click()
    page.get_by_role("button", name="Light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark
    page.locator(".rail-account").click()
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.get_by_role("navigation").first).to_contain_text("知识")
    page.wait_for_load_state("load")
    page.locator("#question").fill("你好")
    page.locator("#question").press("Enter")
    expect(page.locator("section.answer .outcome").last).to_be_visible()
    expect(page.locator("#sessions .sessions-head").first).to_have_text("今天")


def test_a_phone_shows_the_chat_and_opens_the_menu(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    sign_in(page, site)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("navigation").first).to_be_visible()
