"""Check the pages of the site and the administration with axe, light and dark, and partly in Chinese.

Also check a chat in a narrow window, and that nothing in the administration is wider than its page.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.conftest import PATIENCE, ask, running_site, sign_in
from tests.fakes.provider import FakeProvider
from tests.nightly import sample
from tests.site import PASSWORD, Site, run_command

# About thirty pages, on a machine that may be busy.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# Fading text has too little contrast for a moment.
_STILL = """addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = "*, *::before, *::after { animation: none !important; transition: none !important; }";
  document.head.append(style);
})"""
# Markup by Swagger UI, django-q and Django's own widgets, inline tables and search box.
# Answers are groups, which axe mistakes for landmarks; and Swagger UI has its own `main`.
_KNOWN = [("landmark-unique", '<section class="answer"'), ("landmark-no-duplicate-main", "<main>")]
# Long lists take most of the time: only check their first rows, also in the column of lists.
_LEFT_OUT = [
    "#result_list tr:nth-child(n + 5)",
    "#lists li:nth-child(n + 2)",
    "#swagger-ui",
    ".help-tooltip",
    ".vDateField",
    ".vTimeField",
    ".select2",
    "#searchbar",
    ".inline-group thead",
]
# A page has the same elements in both themes and languages: only check rules that these can affect.
_OF_THEME = ["color-contrast", "link-in-text-block"]
_OF_LANGUAGE = ["html-has-lang", "html-lang-valid", "valid-lang", "scrollable-region-focusable"]
ENTRANCE = ["/login/", "/account/password/reset/", "/account/password/reset/sent/", "/sign-up/", "/account/inactive/"]
PAGES = [
    "/",
    "/knowledge/",
    "/knowledge/{base}/",
    "/knowledge/{base}/?state=failed",
    "/knowledge/{base}/members/",
    "/knowledge/{base}/links/",
    "/knowledge/{base}/settings/",
    "/knowledge/{base}/delete/",
    "/playground/",
    "/playground/?q=firmware+update",
    "/evaluation/",
    "/assistants/",
    "/assistants/new/",
    "/pipeline/",
    "/pipeline/settings/",
    "/shared/",
    "/account/",
    "/account/memory/",
    "/account/2fa/",
    "/account/2fa/totp/activate/",
    "/account/2fa/keys/",
    "/account/2fa/keys/add/",
    "/account/sessions/",
    "/account/email/",
    "/api/docs/",
    "/api/docs/try/",
    "/nowhere/",
]


@contextmanager
def page_with_axe(browser: Browser, locale: str, width: int, height: int) -> Iterator[Page]:
    """Open a page with axe, bypassing the site's content security policy."""
    size = ViewportSize(width=width, height=height)
    with browser.new_context(locale=locale, viewport=size, bypass_csp=True, service_workers="block") as context:
        context.set_default_timeout(PATIENCE)
        context.add_init_script(AXE)
        context.add_init_script(_STILL)
        yield context.new_page()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Page]:
    """A page in English."""
    with page_with_axe(browser, "en-GB", width=1280, height=800) as page:
        yield page


@pytest.fixture
def chinese_visitor(browser: Browser) -> Iterator[Page]:
    """A page in Chinese."""
    with page_with_axe(browser, "zh-CN", width=1280, height=800) as page:
        yield page


def _complaints(page: Page, *, dark: bool = True) -> list[str]:
    """Return the violations on the current page, light and dark, with its URL."""
    if page.evaluate("navigator.language") == "zh-CN":
        return _violations(page, _OF_LANGUAGE)
    complaints = _violations(page)
    if dark:
        page.emulate_media(color_scheme="dark")
        complaints += _violations(page, _OF_THEME)
        page.emulate_media(color_scheme="light")
    return complaints


def _violations(page: Page, rules: list[str] | None = None) -> list[str]:
    # Nothing is fetched again for rules that aren't checked.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules is not None:
        options["runOnly"] = {"type": "rule", "values": rules}
    violations: list[dict[str, Any]] = page.evaluate(
        "([context, options]) => axe.run(context, options).then((found) => found.violations)",
        [{"exclude": _LEFT_OUT}, options],
    )
    return [
        f"{page.url}: {each['id']} {node['html'][:200]}"
        for each in violations
        for node in each["nodes"]
        if not any(each["id"] == rule and node["html"].startswith(element) for rule, element in _KNOWN)
    ]


def _sign_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/login/")
    page.locator("main input[type=text]").first.fill("demo")
    page.locator("main input[type=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#composer, .composer").first).to_be_visible()


def _too_wide(page: Page) -> list[str]:
    """Return whether the page, or a list's table on it, is wider than its container."""
    found = page.evaluate(
        "[document.documentElement, ...document.querySelectorAll('#changelist .results')]"
        ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.scrollWidth)"
    )
    return [f"{page.url} is {width} wide" for width in found]


def _walk(
    page: Page,
    site: Site,
    addresses: list[str],
    more: Callable[[Page], list[str]] | None = None,
    *,
    dark: bool = True,
) -> list[str]:
    complaints = []
    for address in addresses:
        response = page.goto(f"{site.url}{address}")
        if more is None:
            page.wait_for_load_state("networkidle")
        assert response is not None and (response.ok or address == "/nowhere/"), address
        complaints += _complaints(page, dark=dark) + (more(page) if more is not None else [])
    return complaints


def _links(page: Page, pattern: str) -> list[str]:
    """Return the unique URLs on the page that match."""
    found = page.evaluate("[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))")
    return list(dict.fromkeys(each for each in found if re.fullmatch(pattern, each)))


@pytest.mark.parametrize("person", ["visitor", pytest.param("chinese_visitor", marks=pytest.mark.nightly)])
def test_pages_of_the_site(person: str, request: pytest.FixtureRequest, site: Site) -> None:
    page: Page = request.getfixturevalue(person)
    assert _walk(page, site, sample(ENTRANCE, 1)) == []
    _sign_in(page, site)
    page.goto(f"{site.url}/knowledge/")
    (base,) = _links(page, r"/knowledge/\d+/")[:1]
    page.goto(f"{site.url}{base}")
    documents = _links(page, r"/knowledge/documents/\d+/")[-4:]
    page.goto(f"{site.url}/assistants/")
    assistants = _links(page, r"/assistants/\d+/")[:1]
    number = base.split("/")[2]
    addresses = [address.format(base=number) for address in PAGES] + documents + assistants
    assert _walk(page, site, sample(addresses, 4)) == []


@pytest.fixture(scope="module")
def filled_site() -> Iterator[Site]:
    """A site with rows in every list of the administration, and figures on its dashboard."""
    fill = """
from django.utils import timezone
from conversations.models import Feedback, Message, Turn
from tests.benchmarks.conversations.administration import filling
filling.fill(24)
for model in (Turn, Message, Feedback):
    model.objects.update(created_at=timezone.now())
"""
    with running_site() as site:
        done = run_command(site.data_dir, "shell", "-c", fill)
        assert done.returncode == 0, done.stderr
        yield site


# Models of which every page is checked, also in the dark theme; of the others, only the list and a form in the light.
_WHOLE = ("chatsession", "user", "modelprofile", "knowledgebase")


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_pages_of_the_administration(visitor: Page, filled_site: Site) -> None:
    _sign_in(visitor, filled_site)
    # Collapsed content is checked, too.
    visitor.add_init_script("""addEventListener("DOMContentLoaded", () => {
      for (const each of document.querySelectorAll("details")) each.open = true;
    })""")
    complaints = _walk(visitor, filled_site, ["/admin/?days=7", "/admin/password_change/", "/admin/"], _too_wide)
    lists = _links(visitor, r"/admin/\w+/\w+/")
    assert len(lists) > 30
    for address in lists:
        whole = address.split("/")[-2] in _WHOLE
        complaints += _walk(visitor, filled_site, [address], _too_wide, dark=whole)
        found = _links(visitor, re.escape(address) + r"(add/|[\w-]+/change/)")
        adding, changing = ([each for each in found if each.endswith(end)][:1] for end in ("add/", "change/"))
        beside = [changing[0].replace("change/", page) for page in ("delete/", "history/")] if whole else []
        complaints += _walk(visitor, filled_site, adding + changing + beside, _too_wide, dark=whole)
    assert complaints == []


@pytest.mark.nightly
def test_lists_of_the_administration_in_chinese(chinese_visitor: Page, filled_site: Site) -> None:
    _sign_in(chinese_visitor, filled_site)
    complaints = _walk(chinese_visitor, filled_site, ["/admin/?days=7", "/admin/"], _too_wide)
    complaints += _walk(chinese_visitor, filled_site, _links(chinese_visitor, r"/admin/\w+/\w+/"), _too_wide)
    assert complaints == []


@pytest.mark.nightly
def test_pages_on_which_a_model_is_connected(visitor: Page, filled_site: Site, provider: FakeProvider) -> None:
    _sign_in(visitor, filled_site)
    visitor.goto(f"{filled_site.url}/admin/conversations/modelprofile/set-up/?provider=vllm")
    complaints = _complaints(visitor) + _too_wide(visitor)
    visitor.locator("input[name=base_url]").fill(provider.root_url)
    visitor.locator("form.model-form button.default").click()
    expect(visitor.locator(".errorlist").first).to_be_visible()
    complaints += _complaints(visitor)
    visitor.locator("input[name=own]").check()
    visitor.locator("form.model-form button.default").click()
    visitor.locator(".set-up-purposes summary").click()
    complaints += _complaints(visitor) + _too_wide(visitor)
    go_on = threading.Event()
    provider.reply("Because of the air.", "Let me think.", go_on=go_on)
    visitor.locator("form.model-form button.default").click()
    expect(visitor.locator(".model-state")).to_be_visible()
    complaints += _complaints(visitor) + _too_wide(visitor)
    go_on.set()
    expect(visitor.locator(".model-facts")).to_be_visible()
    complaints += _complaints(visitor) + _too_wide(visitor)
    assert complaints == []


def test_a_chat_with_an_open_source_on_a_phone(site: Site, browser: Browser) -> None:
    with page_with_axe(browser, "en-GB", width=390, height=844) as phone:
        sign_in(phone, site)
        complaints = _complaints(phone)
        ask(phone, "How long does a firmware update take?")
        expect(phone.locator("section.answer .outcome").last).to_be_visible()
        complaints += _complaints(phone)
        phone.locator("section.answer .answer-foot .chip").first.click()
        expect(phone.locator("#drawer")).to_be_visible()
        complaints += _complaints(phone)
    assert complaints == []


@pytest.mark.nightly
def test_an_evaluation_from_its_set_to_its_run(visitor: Page, site: Site, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    asked = {"question": "How long does a firmware update take?", "relevant": ["LS-2400 Switch Handbook.pdf"]}
    questions.write_text(json.dumps(asked) + "\n", encoding="utf-8")
    _sign_in(visitor, site)
    visitor.goto(f"{site.url}/evaluation/")
    visitor.locator("[data-dialog=new-set]").first.click()
    complaints = _complaints(visitor)
    form = visitor.locator("#new-set")
    form.locator("select").first.select_option(label="Samples")
    form.locator("input[name=name]").fill(visitor.evaluate("navigator.language"))
    form.locator("input[type=file]").set_input_files(questions)
    form.locator("button[type=submit]").click()
    row = visitor.locator(".question-row")
    expect(row).to_have_count(1)
    complaints += _complaints(visitor)
    visitor.locator("form[action$='/run/'] button").first.click()
    expect(visitor.locator(".runs-table .figure-value").first).to_be_visible()
    complaints += _complaints(visitor)
    complaints += _walk(visitor, site, _links(visitor, r"/evaluation/(runs|questions)/\d+/"))
    assert complaints == []
