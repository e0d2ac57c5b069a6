"""Reading an answer: continuing one that was cut off, feedback, citation cards and the source panel."""

import re
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, ask, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser

QUESTION = "How long does a firmware update take?"


@pytest.mark.nightly
def test_a_cut_off_answer_is_continued(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
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


def test_feedback_with_a_comment_is_given_changed_and_withdrawn(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
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


@pytest.mark.nightly
def test_passages_of_one_document_are_one_chip_whose_card_lists_them(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1280, "height": 360})
    sign_in(page, site, NEW_CHAT)
    ask(page, "出差住宿标准是多少？")
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_be_visible()
    chips = answer.get_by_role("list", name="Sources").get_by_role("link")
    expect(chips).to_have_count(1)
    expect(chips).to_have_accessible_name(re.compile(r"^1\W+2 .*手册"))
    chips.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    card = page.get_by_role("tooltip")
    expect(card.locator("strong:visible")).to_have_count(1)
    expect(card.locator(".card-number")).to_have_text(["1", "2"])
    expect(card.locator("mark", has_text="住宿与餐补标准见表二")).to_be_visible()
    expect(card.locator("mark", has_text="多少")).to_have_count(0)
    expect(chips).to_have_accessible_description(re.compile("住宿与餐补"))

    # It follows its chip while the text scrolls a little, and closes when the chip is out of view.
    for pixels, stays in ((-12, True), (-5000, False)):
        page.locator("#transcript").evaluate(
            "(box, by) => new Promise((done) => { box.onscroll = () => requestAnimationFrame(done); "
            "box.scrollBy(0, by); })",
            pixels,
        )
        expect(card).to_be_visible(visible=stays)
    page.keyboard.press("Enter")
    expect(card).to_be_hidden()
    expect(page.locator("#drawer .cited")).to_be_visible()

    page.reload()
    expect(chips).to_have_count(1)
    expect(answer.locator(".cards mark").first).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_cited_table_has_shadows_where_it_can_be_scrolled(page: Page, scheme: Literal["light", "dark"]) -> None:
    # As in the drawer, with its styles only.
    css = Path(__file__).resolve().parents[2] / "static" / "css"
    sheets = [css / f"{name}.css" for name in ("tokens", "components", "pages/knowledge")]
    cell = '<td><div style="inline-size: 60rem; block-size: 10rem"></div></td>'
    page.emulate_media(color_scheme=scheme)
    page.set_content(
        f"<style>{''.join(sheet.read_text() for sheet in sheets)}</style>"
        '<div class="drawer" style="inline-size: 20rem; background: var(--surface)"><div class="passage cited">'
        f'<div class="table-wrap"><table class="table passage-table"><tr>{cell}</tr></table></div></div></div>'
    )
    picture = Image.open(BytesIO(page.locator(".table-wrap").screenshot())).convert("RGB")
    width, height = picture.size
    left, ground, shadow = (sum(picture.getpixel((at, height // 3))) for at in (1, width // 2, width - 2))  # type: ignore[arg-type]
    assert abs(left - ground) <= 3 and abs(shadow - ground) > 30


@pytest.mark.nightly
def test_the_sidebar_can_be_opened_beside_a_source(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    bar = page.get_by_role("complementary", name="Navigation")
    expect(bar).to_be_visible()
    expect(answer.locator(".outcome")).to_be_visible()
    answer.locator(".prose a[data-citation]").first.click()
    drawer = page.locator("#drawer")
    expect(drawer.locator(".cited")).to_be_visible()
    expect(bar).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(bar).to_be_visible()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(drawer.locator(".cited")).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(bar).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()


@pytest.mark.nightly
def test_an_open_source_is_widened_and_leaves_room_for_the_answer(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    page.set_viewport_size({"width": 1024, "height": 768})
    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_be_visible()
    link = answer.locator(".prose a[data-citation]").first
    link.click()
    edge = page.get_by_role("separator", name="Width of the source panel")
    expect(edge).to_have_attribute("aria-valuenow", "50")
    expect(link).to_have_attribute("aria-current", "true")

    def lies_beside() -> bool:
        read, source = answer.bounding_box(), page.locator("#drawer").bounding_box()
        return read is not None and source is not None and read["x"] + read["width"] <= source["x"]

    assert lies_beside()
    edge.focus()
    page.keyboard.press("ArrowRight")
    expect(edge).to_have_attribute("aria-valuenow", "46")
    page.keyboard.press("End")
    expect(edge).to_have_attribute("aria-valuenow", edge.get_attribute("aria-valuemax") or "")
    assert lies_beside()
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, 400)
    page.mouse.down()
    page.mouse.move(614, 400, steps=4)
    page.mouse.up()
    expect(edge).to_have_attribute("aria-valuenow", "40")

    page.reload()
    page.wait_for_load_state("load")
    link.click()
    expect(edge).to_have_attribute("aria-valuenow", "40")
    edge.dblclick()
    expect(edge).to_have_attribute("aria-valuenow", "50")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(edge).to_be_hidden()


def test_the_open_source_follows_the_answer_being_read(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    answers = page.locator("section.answer")
    long = "It takes about four minutes. " * 120
    for number, reply in enumerate([f"First [2]. {long}", long, f"Last [1]. {long}"], 1):
        provider.reply(reply)
        ask(page, QUESTION)
        expect(page.locator(".outcome")).to_have_count(number)
    first, none, last = (answers.nth(at) for at in range(3))
    link = last.locator(".prose a[data-citation]")
    link.click()
    drawer = page.locator("#drawer")
    tab = drawer.locator(".source-tabs [aria-current]")
    expect(tab).to_have_text("1")
    expect(drawer.locator("[data-drawer-title]")).to_be_focused()
    drawer.locator(".source-tabs a", has_text="3").click()
    expect(tab).to_have_text("3")

    first.locator(".outcome").scroll_into_view_if_needed()
    first.locator(".outcome").evaluate("element => element.scrollIntoView()")
    expect(tab).to_have_text("2")
    expect(first.locator(".prose a[data-citation]")).to_have_attribute("aria-current", "true")
    expect(link).not_to_have_attribute("aria-current", "true")
    none.locator(".outcome").evaluate("element => element.scrollIntoView()")
    expect(drawer).to_contain_text("This answer cites no sources.")
    expect(drawer.get_by_role("separator")).to_have_attribute("aria-valuenow", "50")
    last.locator(".outcome").evaluate("element => element.scrollIntoView()")
    expect(tab).to_have_text("3")

    # The new question is read next; while it is being answered, the source stays open.
    provider.reply("Another [2].")
    ask(page, QUESTION)
    expect(page.locator(".outcome")).to_have_count(4)
    expect(page.get_by_label("Your question")).to_be_focused()
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_be_hidden()
