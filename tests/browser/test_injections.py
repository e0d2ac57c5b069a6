"""Markup in any text from users, documents or models is shown as text on every page.

Pages are visited twice: with the content security policy, which must have nothing to block, and in a browser that
ignores the policy, where only escaping prevents an injection from running.
"""

import html
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urldefrag, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import PATIENCE, ask, new_chat, running_site, sign_in
from tests.browser.injections import Canary, Trap, diagrams, injections
from tests.fakes.provider import FakeProvider
from tests.site import ROOT, Site

# Requests of a service worker could not be intercepted.
NONE: Literal["block"] = "block"

pytestmark = [pytest.mark.browser, pytest.mark.nightly, pytest.mark.xdist_group("injections")]

# Links that change something, download files, or lead to the same page in another order.
_NOT_FOLLOWED = re.compile(
    r"/(logout|i18n|jsi18n|add|delete|history|file|export\.\w+|export|pages|pictures|password\w*)(/|$)"
    r"|/api/|/static/|/django_q/|/admin/\w+/$|\.png$"
    # Numbers only.
    r"|/(indexentry|termfrequency|corpussize|embeddingspace|tokencalibration|memoryswitch|membership)/"
)


@dataclass
class Poisoned:
    """A running site with injections everywhere, and what was detected while they were added."""

    site: Site
    canary: Canary
    while_written: Trap
    state: Any
    starts: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def poisoned(browser: Browser) -> Iterator[Poisoned]:
    """Fill the site through its pages and API, and all other texts in its database."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with (
        patch.context(),
        Canary() as canary,
        FakeProvider() as provider,
        running_site(LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as site,
        closing(browser.new_context(locale="en-GB", service_workers=NONE)) as context,
    ):
        context.set_default_timeout(PATIENCE)
        trap = Trap(context, canary)
        page = context.new_page()
        made = Poisoned(site, canary, trap, None)
        sign_in(page, site)
        all_injections = injections(canary.address)
        _upload(page, site, all_injections, trap)
        _converse(page, provider, all_injections, trap)
        made.starts = _tell_the_rest(page, site, all_injections)
        environment = os.environ | {"RAGSITE_DATA_DIR": str(site.data_dir)}
        command = [sys.executable, "-m", "tests.browser.planting", canary.address]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=PATIENCE / 1000)
        made.state = context.storage_state()
        yield made


def _headers(page: Page) -> dict[str, str]:
    token = next(cookie for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    return {"X-CSRFToken": token["value"]}


def _post(page: Page, site: Site, path: str, **data: Any) -> Any:
    response = page.request.post(f"{site.url}{path}", headers=_headers(page), **data)
    assert response.ok, response.text()
    return response.json() if "json" in response.headers["content-type"] else None


def _upload(page: Page, site: Site, texts: list[str], trap: Trap) -> None:
    """Add documents whose names, headings, passages and cells are injections."""
    base = _post(page, site, "/api/knowledge-bases", data={"name": texts[0], "description": " ".join(texts)})
    page.goto(f"{site.url}/knowledge/{base['id']}/")
    section = "## {0} lantern\n\nThe lantern: {1}\n\n| lantern | {0} |\n|---|---|\n| {1} | {2} |\n"
    cells = [text.replace("|", "\\|") for text in texts]
    # Each injection is a heading, a passage and a cell; there are few passages, since each needs a vector.
    sections = [section.format(*(cells[(n + k) % len(cells)] for k in range(3))) for n in range(0, len(cells), 2)]
    names = [text.replace("/", "∕") for text in texts]
    named = ["".join(names[start : start + 3])[:200] for start in range(0, len(names), 12)]
    files = {f"{name}.txt": f"{name} lantern {number}" for number, name in enumerate(named)}
    files["lantern.md"] = "\n".join(["# lantern", *sections])
    files["cells.csv"] = "lantern,value\n" + "\n".join('"{}",1'.format(text.replace('"', '""')) for text in texts)
    escaped = "".join(f"<p>lantern {html.escape(text)}</p>" for text in texts)
    files["page.html"] = f"<title>{html.escape(texts[0])}</title>{escaped}{''.join(texts)}"
    files[f"{names[14]}.exe"] = "MZ"
    page.set_input_files(
        "#upload-files",
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in files.items()],
    )
    expect(page.locator("details[data-reason]")).to_have_count(1)  # for unsupported files, which aren't sent
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        listed = page.request.get(f"{site.url}/api/knowledge-bases/{base['id']}/documents?page_size=100").json()
        states = [row["status"] for row in listed["results"]]
        if len(states) >= len(files) - 1 and set(states) <= {"ready", "failed"}:
            break
        time.sleep(0.2)
    assert states.count("ready") >= len(files) - 2, listed
    trap.look(page)
    page.reload()
    trap.look(page)


def _converse(page: Page, provider: FakeProvider, texts: list[str], trap: Trap) -> None:
    """Ask three times: answered in Markdown, in block events, and rejected."""
    page.goto("/".join(page.url.split("/")[:3]))
    new_chat(page)
    question = "lantern " + "\n".join(texts)
    table = {"t": "block_start", "id": "b1", "kind": "table", "columns": texts}
    events = [table, {"t": "delta", "id": "b1", "row": texts}, {"t": "block_end", "id": "b1"}]
    for number, text in enumerate(texts):
        own = {"id": f"c{number}"}
        events.append({"t": "block_start", "kind": "code", "language": text} | own)
        events += [{"t": "delta", "text": text} | own, {"t": "block_end"} | own]
        picture = {"id": f"p{number}", "alt": text, "url": text}
        events += [{"t": "block_start", "kind": "image"} | picture, {"t": "block_update"} | picture]
    # First those that a fence opened by another injection would turn into code.
    told = [diagrams(trap.canary.address), *(text for text in texts if text.startswith(("\\(", "$$", "$\\"))), *texts]
    answers = [
        "\n\n".join(f"{text} [1]" if "```mermaid" not in text else text for text in told),
        "\n".join(map(json.dumps, events)),
        "",
    ]
    for number, answer in enumerate(answers):
        provider.reply(texts[number], purpose="title")
        if answer:
            provider.reply(answer, thinking="\n".join(texts), tokens_per_chunk=2, delay=0.001)
        else:
            provider.fail(401, {"error": {"message": " ".join(texts)[:400]}})
        ask(page, question)
        last = page.locator("section.answer").last
        expect(page.locator("section.answer")).to_have_count(number + 1)
        expect(last.locator(".outcome")).to_be_visible()
        if number == 0:
            expect(last.locator("figure.diagram.drawn").first).to_be_visible()
            expect(last.locator(".math.set").first).to_be_visible()
        trap.look(page)
        if answer:
            last.locator(".chip").first.click()
            expect(page.locator("#drawer .cited, #drawer .drawer-body").first).to_be_visible()
            trap.look(page)
    expect(page.locator("section.answer").last.get_by_role("alert")).to_be_visible()


def _tell_the_rest(page: Page, site: Site, texts: list[str]) -> list[str]:
    """Share a chat, rate an answer and collect a question; return the URLs that no page links to."""
    joined, session = "\n".join(texts), re.findall(r"/c/(\d+)/", page.url)[0]
    messages = page.request.get(f"{site.url}/api/chat/sessions/{session}/content").json()["results"]
    answer = next(message for message in messages if message["role"] == "assistant")
    feedback = {"value": -1, "reason": "other", "comment": joined[:4000]}
    page.request.put(f"{site.url}/api/chat/messages/{answer['id']}/feedback", data=feedback, headers=_headers(page))
    _post(page, site, "/api/memory/facts", data={"content": texts[1]})
    link = _post(page, site, f"/api/chat/sessions/{session}/share-links", data={})
    bases = page.request.get(f"{site.url}/api/knowledge-bases").json()["results"]
    base = next(base["id"] for base in bases if base["name"] == texts[0])
    document = page.request.get(f"{site.url}/api/knowledge-bases/{base}/documents?q=lantern.md").json()["results"][0]
    questions = [{"question": f"lantern {text}", "relevant": ["lantern.md"]} for text in texts[:6]]
    wanted = {"name": texts[2], "knowledge_base": base, "questions": questions}
    made = _post(page, site, "/api/evaluation-sets", data=wanted)
    _post(page, site, f"/api/evaluation-sets/{made['id']}/runs", data={})
    _post(page, site, "/account/tokens/", form={"name": texts[3]})
    odd = quote(joined[:1500])
    return [
        "/", f"/c/{session}/", f"/c/{session}/?turn={answer['turn_id']}", f"/c/{session}/rename/",
        f"/c/{session}/share/", f"/turns/{answer['turn_id']}/trace/", f"/turns/{answer['turn_id']}/edit/",
        f"/messages/{answer['id']}/citations/1/", f"/messages/{answer['id']}/add-to-set/", f"/c/search/?q={odd}",
        "/c/search/?q=lantern", urlsplit(link["url"]).path, "/knowledge/", f"/knowledge/{base}/?q={odd}",
        f"/knowledge/{base}/settings/", f"/knowledge/{base}/members/",
        f"/playground/?q=lantern+{odd[:600]}",
        f"/knowledge/{base}/", f"/knowledge/documents/{document['id']}/",
        "/evaluation/", "/account/memory/", "/account/", "/pipeline/", "/pipeline/settings/", f"/{odd[:800]}",
        f"/login/?next=javascript:caught(1)//{odd[:300]}", f"/admin/conversations/message/?q={odd[:500]}", "/admin/",
    ]  # fmt: skip


def _shape(address: str) -> str:
    """Return a URL without ids and query, which is the same for pages of one kind."""
    path = urlsplit(address).path
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "N", path) if len(path) < 200 else path


def _visit_all(page: Page, made: Poisoned, trap: Trap) -> set[str]:
    """Open the known URLs and one page of each kind that they link to; return the kinds."""
    waiting = [made.site.url + start for start in made.starts]
    seen = {_shape(start) for start in made.starts if "?" not in start}
    while waiting:
        page.goto(waiting.pop(0))  # until it is loaded, so that error handlers of failed resources have run
        trap.look(page)
        links: list[str] = page.evaluate(
            "() => [...document.querySelectorAll('a[href], [hx-get]')].map("
            "(it) => new URL(it.getAttribute('href') ?? it.getAttribute('hx-get'), location.href).href)"
        )
        for link in (urldefrag(link).url for link in links):
            path = urlsplit(link).path
            if not link.startswith(made.site.url) or _NOT_FOLLOWED.search(path) or "?" in link:
                continue
            if _shape(link) not in seen:
                seen.add(_shape(link))
                waiting.append(link)
    return seen


def test_nothing_runs_while_the_site_is_filled(poisoned: Poisoned) -> None:
    assert poisoned.while_written.caught == {}


def test_the_policy_has_nothing_to_block(browser: Browser, poisoned: Poisoned) -> None:
    with closing(browser.new_context(storage_state=poisoned.state, service_workers=NONE)) as context:
        context.set_default_timeout(PATIENCE)
        trap, page = Trap(context, poisoned.canary), context.new_page()
        for start in poisoned.starts:
            page.goto(poisoned.site.url + start)
            trap.look(page)
    assert trap.caught == {}


def test_nothing_runs_on_any_page_even_without_the_policy(browser: Browser, poisoned: Poisoned) -> None:
    with closing(browser.new_context(bypass_csp=True, storage_state=poisoned.state, service_workers=NONE)) as context:
        context.set_default_timeout(PATIENCE)
        trap = Trap(context, poisoned.canary)
        kinds = _visit_all(context.new_page(), poisoned, trap)
    assert trap.caught == {}
    assert {"/c/N/", "/shared/N/", "/knowledge/N/", "/knowledge/documents/N/", "/evaluation/sets/N/"} <= kinds
    assert {"/admin/knowledge/document/N/change/", "/admin/conversations/message/N/change/"} <= kinds
    # The test is meaningless if nothing is shown.
    told = [address for address, numbers in trap.shown.items() if len(numbers) > 2]
    numbers = set().union(*trap.shown.values())
    assert len(told) > 40 and len(numbers) > 60, sorted(trap.shown.items())


@pytest.mark.parametrize("policy", ["with the policy", "without the policy"])
def test_the_trap_detects_unescaped_markup(browser: Browser, poisoned: Poisoned, policy: str) -> None:
    """The control: the same page with its escaping removed on the way to the browser, and its own canary."""
    bypassed = policy == "without the policy"
    with (
        Canary() as canary,
        closing(
            browser.new_context(bypass_csp=bypassed, storage_state=poisoned.state, service_workers=NONE)
        ) as context,
    ):

        def undone(route: Route) -> None:
            response = route.fetch()
            text = html.unescape(response.text()).replace(poisoned.canary.address, canary.address)
            # All except those that would leave the page before it is inspected.
            route.fulfill(response=response, body=text.replace("http-equiv", "data-http-equiv"))

        context.set_default_timeout(PATIENCE)
        trap = Trap(context, canary)
        page = context.new_page()
        page.route(re.compile(r"/account/memory/$"), undone)
        page.goto(f"{poisoned.site.url}/account/memory/", wait_until="domcontentloaded")
        trap.look(page)
        if bypassed:
            _until(page, lambda: len(set(trap.executed)) > 5 and len(set(canary.visits)) > 1)
        else:
            _until(page, lambda: len(set(trap.violations)) > 5)
            page.wait_for_load_state("load")  # by then, everything that the policy allows was fetched
    assert len(trap.traces) > 5
    if bypassed:
        assert {"executed", "traces", "visits"} <= set(trap.caught)
        assert any(visit.endswith((".png", ".css", ".js")) for visit in trap.caught["visits"])
    else:
        assert set(trap.caught) == {"traces", "violations"}


def _until(page: Page, ready: Callable[[], bool]) -> None:
    """Let the page run until something is detected."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not ready():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
