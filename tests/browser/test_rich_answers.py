"""Formulas, code, tasks and diagrams in answers: rendered where they occur, with scripts loaded nowhere else."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NEW_CHAT, ask, sign_in
from tests.fakes.provider import FakeProvider
from tests.site import Site

pytestmark = pytest.mark.browser

QUESTION = "How long does a firmware update take?"
MATHEMATICS = r"""The area is \(a^2\) [1], a price is $5 and $6, and $\sqrt[3]{b}$ is a root.

\[
\frac{a}{b} = \sum_{i=1}^{n} x_i
\]

What nobody can read stays: \(\nonsense{\) and this:

| Formula | Name |
|---|---|
| $E = mc^2$ | energy |
"""
DIAGRAM = """```mermaid
flowchart LR
  accTitle: How an update goes
  A[Start] --> B{Ready?}
  B -->|yes| C[Update]
```
"""


def answer_to(page: Page, site: Site, provider: FakeProvider, text: str, delay: float = 0.0) -> Locator:
    """Get a text as the answer in a new chat; return its element."""
    provider.reset()
    sign_in(page, site, NEW_CHAT)
    provider.reply(text, delay=delay)
    ask(page, QUESTION)
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_be_visible()
    return answer


def loaded(page: Page, part: str) -> list[str]:
    """Return the URLs requested by the page and its frames."""
    names: list[str] = page.evaluate("() => performance.getEntriesByType('resource').map((entry) => entry.name)")
    return [name for name in names if part in name]


def test_formulas_are_rendered_and_invalid_ones_stay_text(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    answer = answer_to(page, site_with_model, provider, MATHEMATICS)
    for _ in range(2):
        expect(answer.locator(".math.set")).to_have_count(4)
        expect(answer.locator(".math.set math")).to_have_count(4)  # for screen readers
        expect(answer.locator(".math.display.set")).to_have_count(1)
        expect(answer.locator(".math.unread")).to_have_text(r"\(\nonsense{\)")
        expect(answer.locator(".prose")).to_contain_text("a price is $5 and $6")
        page.reload()


def test_formula_and_diagram_scripts_are_loaded_only_when_needed(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    answer_to(page, site_with_model, provider, "It costs $5 [1].\n\n```python\nx = 1\n```\n")
    page.reload()
    page.wait_for_load_state("load")
    assert not loaded(page, "katex") and not loaded(page, "mermaid") and not page.frames[1:]


@pytest.mark.nightly
def test_mathematics_does_not_flicker_while_its_line_is_written(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    provider.reset()
    sign_in(page, site_with_model, NEW_CHAT)
    # On every frame, looks for a rendered formula that has become source again.
    page.evaluate(
        """() => {
          window.flickers = 0;
          let most = 0;
          const look = () => {
            const set = document.querySelectorAll(".answer:last-of-type .math.set").length;
            if (set < most) window.flickers += 1;
            most = Math.max(most, set);
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    text = r"We know \(a^2\) and \(b^2\) [1], " + "so *it* is " * 40 + r"\(c^2\)."
    provider.reply(text, tokens_per_chunk=1, delay=0.01)
    ask(page, QUESTION)
    answer = page.locator("section.answer").last
    expect(answer.locator(".outcome")).to_be_visible()
    expect(answer.locator(".math.set")).to_have_count(3)
    assert page.evaluate("window.flickers") == 0


@pytest.mark.nightly
def test_code_is_highlighted_and_copied_as_plain_text(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = 'def area(a):\n    """It is <b>."""\n    return a ** 2  # squared\n'
    answer = answer_to(page, site_with_model, provider, f"So [1]:\n\n```python\n{code}```\n")
    for _ in range(2):
        expect(answer.locator("pre .nf")).to_have_text("area")
        answer.get_by_role("button", name="Copy", exact=True).first.click()
        expect(answer.locator(".copied")).to_have_count(1)
        assert page.evaluate("navigator.clipboard.readText()") == code
        page.reload()


@pytest.mark.nightly
def test_tasks_have_checkboxes(page: Page, site_with_model: Site, provider: FakeProvider) -> None:
    answer = answer_to(page, site_with_model, provider, "Do this [1]:\n\n- [ ] plug it in\n- [x] read this\n")
    expect(answer.get_by_role("img", name="To do")).to_have_count(1)
    expect(answer.get_by_role("img", name="Done")).to_have_count(1)


def test_a_diagram_is_drawn_and_its_source_shown_by_a_switch(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    broken = "```mermaid\nflowchart LR\n  A[[[ --> \n```\n"
    answer = answer_to(page, site_with_model, provider, f"So [1]:\n\n{DIAGRAM}\nAnd:\n\n{broken}")
    picture = answer.get_by_role("img", name="How an update goes")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") > 100
    assert "data:image/svg+xml" in str(picture.get_attribute("src"))
    first, second = answer.locator("figure.diagram").all()
    expect(first.locator("pre")).to_be_hidden()
    first.get_by_role("button", name="Source").click()
    expect(first.locator("pre")).to_be_visible()
    expect(picture).to_be_hidden()
    expect(second.locator("pre")).to_be_visible()
    expect(second.get_by_role("button", name="Source")).to_be_hidden()
    # It is redrawn for the dark theme.
    first.get_by_role("button", name="Source").click()
    before = picture.get_attribute("src")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(picture).not_to_have_attribute("src", re.compile(re.escape(str(before)[:2000])))


@pytest.mark.nightly
def test_shared_pages_render_formulas_and_diagrams_too(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    answer_to(page, site_with_model, provider, f"{MATHEMATICS}\n\n{DIAGRAM}")
    session = re.findall(r"/c/(\d+)/", page.url)[0]
    token = next(cookie for cookie in page.context.cookies() if cookie["name"] == "csrftoken")["value"]
    link = page.request.post(
        f"{site_with_model.url}/api/chat/sessions/{session}/share-links", headers={"X-CSRFToken": token}, data={}
    ).json()["url"]
    page.context.clear_cookies()
    page.goto(link)
    expect(page.locator(".math.set")).to_have_count(4)
    expect(page.get_by_role("img", name="How an update goes")).to_be_visible()


def test_copying_writes_markdown_and_html_with_sources(
    page: Page, site_with_model: Site, provider: FakeProvider
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| x | 30 % |"
    text = f"It is **so** [1]:\n\n- one \\(a^2\\)\n- two\n\n{table}\n\n```python\nx = 1\n```\n"
    answer = answer_to(page, site_with_model, provider, text)
    # A column of only numbers is right-aligned, with its header.
    for cell, side in (("th", "start"), ("td", "start"), ("th + th", "end"), ("td + td", "end")):
        expect(answer.locator(f".prose {cell}").first).to_have_css("text-align", side)
    answer.get_by_role("button", name="Copy the answer").click()
    expect(answer.locator("[data-copy-answer].copied")).to_have_count(1)
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert "It is **so** [1]:\n\n- one \\(a^2\\)\n- two\n\n| a | b |" in copied
    assert "```python\nx = 1\n```" in copied
    source = r"\*\*Sources\*\*\n\n- \[1\] \[.*Handbook\]\((http://\S+/citations/1/)\) · .*\.pdf · p\. 3"
    listed = re.search(source, copied)
    assert listed, copied
    rich: str = page.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          return (await item.getType("text/html")).text();
        }"""
    )
    for part in ("<strong>so</strong>", "<li>", "<td>2</td>", "<pre><code>", "<math", f'href="{listed[1]}"'):
        assert part in rich, rich
    assert "<button" not in rich and "class=" not in rich


@pytest.mark.nightly
def test_documents_render_formulas_and_highlight_code(page: Page, site: Site) -> None:
    sign_in(page, site)
    token = next(cookie for cookie in page.context.cookies() if cookie["name"] == "csrftoken")["value"]
    base = page.request.post(
        f"{site.url}/api/knowledge-bases", headers={"X-CSRFToken": token}, data={"name": "Mathematics"}
    ).json()
    text = "# Areas\n\nAn area is \\(a^2\\) and:\n\n\\[\na_1 * b\n\\]\n\n```python\ndef area(a):\n    return a\n```\n"
    page.goto(f"{site.url}/knowledge/{base['id']}/")
    page.set_input_files("#upload-files", [{"name": "areas.md", "mimeType": "text/plain", "buffer": text.encode()}])
    page.get_by_role("link", name="Areas").first.click()
    expect(page.locator(".passage .math.set")).to_have_count(2)
    expect(page.locator(".passage pre .nf")).to_have_text("area")
