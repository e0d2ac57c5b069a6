"""Two windows with one chat: questions in one appear in the other, which never creates a branch unnoticed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.browser.conftest import NEW_CHAT, ask, go_offline, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_a_scope_chosen_in_one_window_appears_in_the_other(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    other = page.context.new_page()
    complaints: list[str] = []
    other.on("pageerror", lambda error: complaints.append(str(error)))
    other.goto(page.url)
    expect(other.locator("#resume")).to_have_count(1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method) if request.url.endswith("/scope/") else None)

    page.locator("#scope summary").first.click()
    page.get_by_label("Find a document, a folder or a tag").fill("notes")
    page.locator("#scope-found").get_by_role("button", name="release notes").click()
    expect(page.locator("#scope-name")).to_contain_text("release notes")
    expect(other.locator("#scope-name")).to_contain_text("release notes")
    expect(page.locator("#scope details").first).to_have_attribute("open", "")
    page.keyboard.press("Escape")

    # A menu that is open there isn't replaced until it is closed.
    other.locator("#scope summary").first.click()
    other.get_by_label("Find a document, a folder or a tag").fill("hand")
    page.get_by_role("button", name="Search everything").click()
    expect(page.locator("#scope-name")).not_to_contain_text("release notes")
    expect(other.locator("#scope-news")).to_have_attribute("data-asked", re.compile(r"\w+"))
    expect(other.locator("#scope-name")).to_contain_text("release notes")
    expect(other.get_by_label("Find a document, a folder or a tag")).to_have_value("hand")
    other.keyboard.press("Escape")
    expect(other.locator("#scope-name")).not_to_contain_text("release notes")
    assert complaints == [] and asked == ["POST", "POST"], "a selection made here isn't fetched again"


def test_two_windows_on_one_chat(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    other = page.context.new_page()
    complaints: list[str] = []
    other.on("pageerror", lambda error: complaints.append(str(error)))
    other.goto(page.url)
    other.wait_for_load_state("load")

    provider.reply("Slowly " + "more " * 40 + "[1].", delay=0.05)
    ask(page, "How long does a firmware update take?")
    expect(other.locator(".prose")).to_contain_text("Slowly more")
    expect(other.get_by_role("button", name="Stop")).to_be_visible()
    expect(other.locator(".turn .outcome")).to_have_count(1)
    expect(page.locator(".turn .outcome")).to_have_count(1)
    expect(other).to_have_url(re.compile(r"\?turn=\d+$"))

    # A question from the other window is shown in the first, too.
    provider.reply("Two kilograms [1].")
    ask(other, "How heavy is the LS-2448P?")
    expect(page.locator(".turn .outcome")).to_have_count(2)
    expect(page.locator(".prose").last).to_contain_text("Two kilograms")

    # A new version of it changes nothing here until it is requested.
    provider.reply("Another wording [1].")
    other.get_by_role("button", name="Regenerate").last.click()
    expect(page.locator("#notice")).to_contain_text("A newer answer was requested in another tab.")
    expect(page.locator(".prose").last).to_contain_text("Two kilograms")
    page.locator("#notice").get_by_role("link", name="Show").click()
    expect(page.locator(".prose").last).to_contain_text("Another wording")
    expect(page.locator("#notice")).to_have_text("")
    expect(page.locator(".turn .outcome")).to_have_count(2)

    # After being suspended, it shows new questions as soon as it is back.
    go_offline(page)
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    provider.reply("Nine ports [1].")
    ask(other, "How many ports does it have?")
    expect(page.locator(".turn .outcome")).to_have_count(3)
    assert complaints == []


@pytest.mark.nightly
def test_added_and_removed_files_are_synced_to_the_other_window(page: Page, site: Site, tmp_path: Path) -> None:
    (tmp_path / "velm.md").write_text("The lamp of the Velm tower is lit an hour before sunset.")
    sign_in(page, site, NEW_CHAT)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_load_state("load")
    expect(other.locator("#attach-files")).to_be_attached()

    page.set_input_files("#attach-files", [tmp_path / "velm.md"])
    for each in (page, other):
        expect(each.locator("#chat-files > .chat-file")).to_have_count(1)
        expect(each.locator(".chat-file")).to_contain_text("velm.md")
        expect(each.locator(".chat-file")).to_contain_text("Ready")
    # The chip is complete: its buttons work there, too.
    other.get_by_role("button", name="Remove “velm.md”").click()
    for each in (page, other):
        expect(each.locator(".chat-file")).to_have_count(0)


@pytest.mark.nightly
def test_a_file_is_shown_once_even_if_its_event_precedes_the_response(page: Page, site: Site, tmp_path: Path) -> None:
    for name in ("nerth", "orl"):
        (tmp_path / f"{name}.md").write_text(f"The lamp of the {name.title()} tower is lit an hour before sunset.")
    sign_in(page, site, NEW_CHAT)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#attach-files")).to_be_attached()
    answers: list[tuple[Route, APIResponse]] = []
    page.route(re.compile(r"/files/$"), lambda route: answers.append((route, route.fetch())))
    page.evaluate(
        """() => {
          const chips = document.getElementById("chat-files");
          window.most = 0;
          const count = () => window.most = Math.max(window.most, chips.children.length);
          new MutationObserver(count).observe(chips, { childList: true });
        }"""
    )

    page.set_input_files("#attach-files", tmp_path / "nerth.md")
    expect(other.locator(".chat-file")).to_contain_text("nerth.md")
    # Files added in the other window appear once the uploads are matched; removed ones don't.
    other.set_input_files("#attach-files", tmp_path / "orl.md")
    expect(other.locator(".chat-file", has_text="orl.md")).to_contain_text("Ready")
    other.get_by_role("button", name="Remove “orl.md”").click()
    expect(other.locator(".chat-file")).to_have_count(1)
    other.set_input_files("#attach-files", tmp_path / "orl.md")
    expect(other.locator(".chat-file")).to_have_count(2)
    expect(page.locator(".chat-file")).to_have_count(1)
    route, answer = answers[0]
    route.fulfill(response=answer)
    expect(page.locator(".chat-file")).to_have_count(2)
    assert page.evaluate("window.most") == 2
    expect(page.locator(".chat-file.uploading")).to_have_count(0)
    page.get_by_role("button", name="Remove “orl.md”").click()
    expect(other.locator(".chat-file")).to_have_count(1)
