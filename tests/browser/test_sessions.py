"""Using the list of chats beside the open one."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, new_chat, sign_in
from tests.site import ROOT, Site

pytestmark = pytest.mark.browser


def choose(page: Page, title: str, action: str) -> None:
    """Choose from the menu of a chat in the list."""
    row = page.locator("#sessions .session", has_text=title)
    row.hover()
    row.locator("summary").click()
    row.locator(".menu-items").get_by_text(action, exact=True).click()


def test_an_answer_moves_only_the_row_of_its_chat(page: Page, site: Site) -> None:
    sign_in(page, site)
    questions = ("Which cable has the LS-2424?", "How many fans has the LS-2424?", "Which fuse does it have?")
    for question in questions[:2]:
        new_chat(page)
        ask(page, question)
        expect(page.locator(".turn .outcome")).to_have_count(1)
    page.locator("#sessions .session", has_text="Which cable has").locator("a").first.click()
    expect(page.locator("#session-title")).to_contain_text("Which cable")
    today = page.locator("#sessions .sessions-head", has_text="Today").locator("+ ul > .session")
    expect(today.first).to_contain_text("How many fans")
    page.evaluate("for (const row of document.querySelectorAll('#sessions .session')) row.dataset.here = ''")
    count = page.locator("#sessions .session").count()
    ask(page, questions[2])
    expect(page.locator(".turn .outcome")).to_have_count(2)
    expect(today.first).to_contain_text("Which cable")
    expect(today.nth(1)).to_contain_text("How many fans")
    expect(page.locator("#sessions .session")).to_have_count(count)
    expect(page.locator("#sessions .session:not([data-here])")).to_have_count(1)  # the others weren't sent
    # Its new menu works.
    choose(page, "Which cable has", "Pin")
    pinned = page.locator("#sessions .sessions-head", has_text="Pinned").locator("+ ul > .session")
    expect(pinned.filter(has_text="Which cable has")).to_have_count(1)
    choose(page, "Which cable has", "Unpin")
    expect(pinned.filter(has_text="Which cable has")).to_have_count(0)
    expect(today.filter(has_text="Which cable has")).to_have_count(1)


def test_chats_are_renamed_pinned_and_deleted_beside_the_open_one(page: Page, site: Site) -> None:
    sign_in(page, site)
    for question in ("How heavy is the LS-2408?", "What does the SYS light mean when it is amber?"):
        new_chat(page)
        ask(page, question)
        expect(page.locator(".turn .outcome")).to_have_count(1)
    current = page.locator("#sessions .session[data-current]")
    expect(current).to_contain_text("SYS light")

    choose(page, "SYS light", "Rename")
    field = page.get_by_label("Title")
    field.fill("Lights of the switch")
    field.press("Enter")
    expect(page.locator("#session-title")).to_have_text("Lights of the switch")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "How heavy", "Pin")
    # Others may already be pinned; until the new list arrives, the old one's menu is open.
    expect(page.locator("#sessions .session", has_text="How heavy").get_by_text("Unpin")).to_have_count(1)
    expect(page.locator("#sessions .sessions-head").first).to_have_text("Pinned")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "How heavy", "Delete")
    expect(page.locator("#sessions .session", has_text="How heavy")).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text("was deleted")
    expect(current).to_contain_text("Lights of the switch")

    choose(page, "Lights of the switch", "Delete")
    page.wait_for_url("**deleted=*")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#session-title")).to_have_text("Lights of the switch")
    expect(current).to_contain_text("Lights of the switch")

    page.goto(site.url)  # which shows the newest one without a redirect
    expect(page).to_have_url(re.compile(r"/c/\d+/$"))
    expect(page.get_by_label("Your question")).to_be_visible()


_LONG_CHAT = """
from django.contrib.auth.models import User
from tests.conversations.records import make_session, make_turn
session = make_session(User.objects.get(username="demo"), "A long chat")
turn = None
for number in range(50):
    turn = make_turn(session, f"Question {number}", "An answer of some length. " * 12 + "[1]", parent=turn).turn
print(f"/c/{session.pk}/")
"""


@pytest.mark.nightly
def test_earlier_turns_are_inserted_above_the_current_one(page: Page, site: Site) -> None:
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", _LONG_CHAT]
    environment = os.environ | {"RAGSITE_DATA_DIR": str(site.data_dir), "DJANGO_SETTINGS_MODULE": "ragsite.settings"}
    made = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    sign_in(page, site)
    page.goto(site.url + made.stdout.split()[-1])
    page.wait_for_load_state("load")
    for shown, first in ((40, "Question 30"), (50, "Question 10")):
        read = page.locator(".turn", has=page.get_by_role("heading", name=first, exact=True))
        earlier = page.locator(".earlier a")
        earlier.scroll_into_view_if_needed()
        before = read.bounding_box()
        earlier.click()
        expect(page.locator(".turn")).to_have_count(shown)
        expect(read).to_be_focused()
        after = read.bounding_box()
        assert before and after and abs(before["y"] - after["y"]) < 2
    expect(page.locator(".earlier")).to_have_count(0)
