"""The administration in a browser: connecting a model, and finding its answers on the dashboard and in the session."""

import re
import threading

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, ask, new_chat, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser
QUESTION = "How long does a firmware update of a switch take?"


def test_a_model_is_connected_appears_on_the_dashboard_and_is_removed(
    page: Page, site: Site, provider: FakeProvider
) -> None:
    sign_in(page, site, NEW_CHAT)
    page.get_by_role("link", name="Connect a model").click()
    page.get_by_role("link", name="vLLM").click()
    expect(page.get_by_label("Address")).to_have_value("http://127.0.0.1:8000/v1")
    page.get_by_label("Address").fill(provider.root_url)
    page.get_by_label("Key").fill("sk-browser-1")
    page.get_by_label("Our own server").check()
    page.get_by_role("button", name="List its models").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value("fake-model")
    page.get_by_label("Test question").fill("Why is the sky blue?")
    go_on = threading.Event()
    provider.reply("Because of the air.", "Let me think.", go_on=go_on)
    page.get_by_role("button", name="Test").click()
    expect(page.locator(".model-state")).to_have_text("answering")
    go_on.set()
    expect(page.locator(".set-up-reply")).to_have_text("Because of the air.")
    expect(page.get_by_text("reasons before it answers")).to_be_visible()
    page.get_by_text("Reasoning", exact=True).click()
    expect(page.get_by_text("Let me think.")).to_be_visible()

    provider.reply("Slowly, word after word it is written down here.", "First I think of it.", delay=0.25)
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("First I think")).to_be_visible()  # while it is reasoning
    expect(page.locator(".set-up-reply")).to_contain_text("Slowly, word")
    assert page.locator("[data-ask]").count() == 1  # still waiting for the answer
    expect(page.get_by_text("First I think")).to_be_hidden()
    expect(page.locator(".set-up-reply")).to_have_text("Slowly, word after word it is written down here.")
    expect(page.locator(".model-card")).to_contain_text("Time to first token")

    provider.cut_after(4, "It breaks off in the middle.", delay=0.1)
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".model-error:visible")).to_contain_text("The answer was cut off")
    expect(page.locator(".set-up-reply")).to_contain_text("It breaks")
    page.route("**/set-up/ask/", lambda route: route.fulfill(body='{"model": "fake-model", "text": "Half an"}\n'))
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".model-error:visible")).to_contain_text("connection to the site was lost")
    expect(page.locator(".set-up-reply")).to_have_text("Half an")
    page.unroute("**/set-up/ask/")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".set-up-reply")).to_have_text("You said: Why is the sky blue?")
    expect(page.locator(".model-card")).to_contain_text("Time to first token")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".messagelist")).to_contain_text("The model is connected")
    assert "sk-browser-1" not in page.content()

    page.get_by_role("link", name="Ask a question").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    new_chat(page)
    ask(page, QUESTION)
    expect(page.locator(".answer")).to_contain_text("The sources say")
    expect(page.locator(".answer .outcome")).to_contain_text("Answered from")
    session = re.findall(r"/c/(\d+)/", page.url)[0]

    page.goto(f"{site.url}/admin/?days=7")
    expect(page.locator("#figure-questions + .figure-total")).to_contain_text(re.compile("[1-9]"))
    expect(page.get_by_role("img", name="Questions per day, by outcome")).to_be_visible()
    expect(page.get_by_role("row", name="fake-model")).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("region", name="Questions per day").get_by_role("row")).to_have_count(8)
    page.get_by_role("link", name="90 days").click()
    expect(page.locator(".figures-spans [aria-current]")).to_have_text("90 days")

    page.goto(f"{site.url}/admin/conversations/chatsession/?q={QUESTION}")
    page.locator(f"#result_list tbody th a[href*='/{session}/change/']").click()
    expect(page.locator(".read-question")).to_have_text(QUESTION)
    expect(page.locator(".read-answer")).to_contain_text("The sources say")
    expect(page.locator(".read-verdicts")).to_contain_text("Supported")
    page.locator(".read-answer a").first.click()
    expect(page.locator(".read-sources li:target")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280

    page.goto(f"{site.url}/admin/conversations/modelprofile/")
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option("delete_selected")
    page.locator(".actions button[type=submit]").click()
    page.get_by_role("button", name="Yes").click()
    page.goto(site.url)
    new_chat(page)
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
