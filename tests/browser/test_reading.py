"""Reading an answer: going on with one that was cut, and saying what one thinks of it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, new_chat, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

QUESTION = "How long does a firmware update take?"


def test_an_answer_that_was_cut_is_gone_on_with(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model)
    new_chat(page)
    provider.reply("An update takes [1]", finish="length")
    ask(page, QUESTION)
    answer = page.locator("section.answer")
    expect(answer.last.locator(".prose")).to_contain_text("ends here")
    provider.reply("about four minutes " + "and more " * 400 + "[1].", delay=0.05)
    answer.last.get_by_role("button", name="Continue").click()
    expect(page.locator(".bubble").last).to_have_text("Please continue.")
    expect(answer.last.locator(".prose")).to_contain_text("about four minutes")
    page.get_by_role("button", name="Stop").click()
    expect(answer.last.locator(".outcome")).to_contain_text("Stopped")
    provider.reply("at most [1].")
    answer.last.get_by_role("button", name="Continue").click()
    expect(answer).to_have_count(3)
    expect(answer.last.locator(".prose")).to_contain_text("at most")
    expect(answer.last.locator(".outcome")).to_be_visible()
    expect(answer.last.get_by_role("button", name="Continue")).to_have_count(0)


def test_a_thumb_with_a_comment_is_given_changed_and_withdrawn(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model)
    new_chat(page)
    provider.reply("Four minutes [1].")
    ask(page, QUESTION)
    answer = page.locator("section.answer").last
    answer.get_by_role("button", name="Not helpful").click()
    answer.get_by_label("Incomplete").check()
    answer.get_by_label("What would have helped?").fill("For which model?")
    answer.get_by_role("button", name="Save").click()
    edit = answer.get_by_role("link", name="Edit your comment")
    expect(edit).to_be_focused()

    page.reload()
    page.wait_for_load_state("load")
    edit.click()
    box = answer.get_by_label("What would have helped?")
    expect(box).to_be_focused()
    expect(box).to_have_value("For which model?")
    expect(answer.get_by_label("Incomplete")).to_be_checked()
    box.fill("For which of the models?")
    answer.get_by_role("button", name="Save").click()
    expect(edit).to_have_attribute("title", "For which of the models?")

    page.goto(f"{site_with_model.url}/admin/conversations/feedback/")
    expect(page.get_by_role("main")).to_contain_text("For which of the models?")
    expect(page.get_by_role("main")).to_contain_text("Incomplete")
    page.go_back()
    page.wait_for_load_state("load")
    answer.get_by_role("button", name="Not helpful").click()
    expect(answer.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "false")
    expect(edit).to_have_count(0)
