"""The list of chats and the composer: deferred updates, search results and queued questions."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NEW_CHAT, NO_PAGE, ask, go_offline, new_chat, sign_in
from tests.browser.test_sessions import choose
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_updates_of_the_list_wait_while_renaming(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    ask(page, "How heavy is the LS-2408?")
    expect(page.locator(".turn .outcome")).to_have_count(1)

    # The socket announces the new title before the request that set it is answered.
    def late(route: Route) -> None:
        response = route.fetch()
        if route.request.method == "POST":
            page.wait_for_timeout(800)
        route.fulfill(response=response)

    page.route("**/rename/**", late)
    choose(page, "heavy", "Rename")
    page.get_by_label("Title").fill("Weights")
    page.get_by_label("Title").press("Enter")
    expect(page.locator("#session-title")).to_have_text("Weights")
    expect(page.locator("#sessions .session[data-current]")).to_contain_text("Weights")
    expect(page.locator(".renaming")).to_have_count(0)
    page.unroute("**/rename/**")

    # Neither does another window remove the field while typing.
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_load_state("load")
    choose(other, "Weights", "Rename")
    other.get_by_label("Title").fill("Half a")
    choose(page, "Weights", "Pin")
    expect(page.locator("#sessions .sessions-head").first).to_have_text("Pinned")
    expect(other.get_by_label("Title")).to_have_value("Half a")
    other.get_by_label("Title").press("Enter")
    expect(other.locator("#session-title")).to_have_text("Half a")
    expect(other.locator("#sessions .sessions-head").first).to_have_text("Pinned")
    expect(page.locator("#session-title")).to_have_text("Half a")


@pytest.mark.nightly
def test_a_menu_opened_during_an_update_stays_open(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    ask(page, "Has the LS-2424 a fuse of its own?")
    expect(page.locator(".turn .outcome")).to_have_count(1)
    address = page.locator("#sessions").get_attribute("data-address") or ""
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route(f"**{address}?*", hold_the_first)
    # Makes the page request its list, as after a deferred update.
    menu = page.locator("#sessions .session[data-current] .menu")
    menu.locator("summary").click()
    page.evaluate("htmx.trigger(document.body, 'htmx:oobBeforeSwap', { target: document.getElementById('sessions') })")
    menu.locator("summary").click()
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(50)
    menu.locator("summary").click()
    with page.expect_response(f"**{address}?*"):
        held[0].continue_()
    page.wait_for_timeout(300)
    expect(menu).to_have_attribute("open", "")
    with page.expect_response(f"**{address}?*"):  # and is updated when it is closed
        menu.locator("summary").click()


def test_chats_are_found_by_words_labelled_and_archived(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    ask(page, "What does the PWR light mean when it blinks?")
    expect(page.locator(".turn .outcome")).to_have_count(1)
    new_chat(page)
    page.get_by_label("Search chats").fill("PWR blinks")
    found = page.locator("#sessions .found-words mark", has_text="PWR").first
    expect(found).to_be_visible()
    with page.expect_response("**/c/search/?*"):
        page.get_by_label("Search chats").press("Enter")
    expect(found).to_be_visible()
    expect(page.locator("#welcome")).to_be_visible()  # Enter didn't leave the chat
    with page.expect_navigation():
        found.click()
    expect(page.locator(".turn .outcome")).to_have_count(1)
    assert page.evaluate("CSS.highlights.get('found').size") > 0

    choose(page, "PWR", "Labels")
    page.get_by_label("New label").fill("Lights")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#session-title")).to_contain_text("PWR")
    page.wait_for_load_state("load")
    page.get_by_label("Chats to show").select_option("Lights")
    expect(page.locator("#sessions .session")).to_have_count(1)
    choose(page, "PWR", "Archive")
    expect(page.locator("#sessions .session")).to_have_count(0)
    page.get_by_label("Chats to show").select_option("Archive")
    choose(page, "PWR", "Unarchive")
    expect(page.locator("#sessions .session", has_text="PWR")).to_have_count(0)
    page.get_by_label("Chats to show").select_option("All chats")
    expect(page.locator("#sessions .session", has_text="PWR").first).to_be_visible()


def test_a_question_waits_for_the_end_of_an_answer(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    provider.reply("Slowly " + "more " * 60 + "[1].", delay=0.05)
    ask(page, "How long does a firmware update take?")
    expect(page.locator(".prose")).to_contain_text("Slowly more")
    ask(page, "How heavy is the LS-2408?")
    expect(page.locator("#queued")).to_contain_text("How heavy is the LS-2408?")
    expect(page.get_by_label("Your question")).to_have_value("")
    # It can be edited, and a draft in the composer is kept.
    page.locator("#queued").get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Your question")).to_have_value("How heavy is the LS-2408?")
    ask(page, "How heavy is the LS-2448P?")
    page.get_by_label("Your question").fill("A draft")
    provider.reply("Two kilograms [1].")
    expect(page.locator(".turn .outcome")).to_have_count(2)
    expect(page.locator(".bubble").last).to_have_text("How heavy is the LS-2448P?")
    expect(page.locator("#queued")).to_be_hidden()
    expect(page.get_by_label("Your question")).to_have_value("A draft")

    # After stopping, it is back in the composer.
    provider.reply("Slowly " + "more " * 200 + "[1].", delay=0.05)
    ask(page, "How many ports does it have?")
    expect(page.locator(".prose").last).to_contain_text("Slowly more")
    ask(page, "And how many lights?")
    expect(page.locator("#queued")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_label("Your question")).to_have_value("And how many lights?")
    expect(page.locator(".turn")).to_have_count(3)


@pytest.mark.nightly
def test_a_saved_prompt_is_filled_in_and_asked(page: Page, site: Site) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/account/prompts/")
    page.get_by_label("Title").fill("Width of a model")
    page.get_by_label("Text").fill("How wide is the {{model}}?")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved-prompt")).to_contain_text("Width of a model")
    page.goto(site.url)
    page.wait_for_load_state("load")
    new_chat(page)
    field = page.get_by_label("Your question")
    field.blur()
    page.keyboard.press("/")
    expect(field).to_be_focused()
    expect(page.locator("#prompts")).to_be_hidden()
    page.keyboard.type("/")
    expect(page.get_by_role("option", name="Width of a model")).to_be_visible()
    page.keyboard.type("width")
    page.keyboard.press("Enter")
    page.locator("#prompt-blanks").get_by_label("model").fill("LS-2408")
    page.keyboard.press("Enter")
    expect(field).to_have_value("How wide is the LS-2408?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn .outcome")).to_have_count(1)
    # A neighbouring heading is asked about with one click.
    ask(page, "How long does a firmware update take?")
    expect(page.locator(".turn .outcome")).to_have_count(2)
    chip = page.locator("#follow-ups .chip").first
    expect(chip).to_be_visible()
    chip.click()
    expect(page.locator(".turn .outcome")).to_have_count(3)


@pytest.mark.parametrize("answer_ends", ["before the connection is back", "after it is back"])
def test_a_queued_question_survives_a_lost_connection(
    page: Page, site_with_model: Site, provider: FakeProvider, answer_ends: str
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    address, page = page.url, page.context.new_page()  # whose console may report network errors
    page.goto(address)
    page.wait_for_load_state("load")
    is_gone = answer_ends.startswith("before")
    provider.reply("Slowly " + "more " * (30 if is_gone else 120) + "[1].", delay=0.05)
    ask(page, "How long does a firmware update take?")
    expect(page.locator(".prose")).to_contain_text("Slowly more")
    ask(page, "How heavy is the LS-2408?")
    expect(page.locator("#queued")).to_contain_text("How heavy is the LS-2408?")
    provider.reply("One kilogram [1].")

    go_offline(page)
    expect(page.locator("#connection")).to_be_visible()
    if is_gone:
        page.wait_for_timeout(3000)  # the answer needs half of that
        expect(page.locator("#queued")).to_be_visible()  # nothing is sent while offline
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator(".turn .outcome")).to_have_count(2)
    expect(page.locator(".prose").last).to_contain_text("One kilogram")
    expect(page.locator("#queued")).to_be_hidden()
    expect(page.get_by_label("Your question")).to_have_value("")
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)  # once
    expect(page.locator(".bubble").last).to_have_text("How heavy is the LS-2408?")
