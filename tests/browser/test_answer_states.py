"""The next steps offered below an answer that found nothing."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, new_chat, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_an_answer_without_results_offers_next_steps(page: Page, site: Site) -> None:
    sign_in(page, site)
    headers = {"X-CSRFToken": page.locator('[name="csrfmiddlewaretoken"]').first.input_value()}
    for base in page.request.get(f"{site.url}/api/knowledge-bases").json()["results"]:
        if base["name"] != "Samples":  # created by others
            page.request.delete(f"{site.url}/api/knowledge-bases/{base['id']}", headers=headers)
    new_chat(page)
    ask(page, "Who painted the Mona Lisa?")
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_have_text("Nothing found on this")
    expect(answer.locator(".other-base")).to_be_hidden()  # there is only one base

    made = page.request.post(f"{site.url}/api/knowledge-bases", data={"name": "Other"}, headers=headers)
    assert made.ok
    try:
        page.reload()
        page.wait_for_load_state("load")
        answer.get_by_text("Search other sources").click()
        expect(page.get_by_role("checkbox", name="Other")).to_be_visible()
        page.keyboard.press("Escape")
        answer.get_by_text("Rephrase").click()
        expect(page.get_by_label("Question", exact=True)).to_have_value("Who painted the Mona Lisa?")
    finally:
        page.request.delete(f"{site.url}/api/knowledge-bases/{made.json()['id']}", headers=headers)
