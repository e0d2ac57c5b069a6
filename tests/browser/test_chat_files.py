"""Files in a chat: dropping, asking immediately and keeping them in a base; and limiting a chat to a tag."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NEW_CHAT, NO_PAGE, ask, new_chat, sign_in, upload
from tests.site import Site

pytestmark = pytest.mark.browser

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const kind of ["dragenter", "dragover"]) {
    window.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
  window.droppable = !document.getElementById("drop-area").hidden;
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
PASTE = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


def test_a_file_is_dropped_asked_about_and_kept(page: Page, site: Site) -> None:
    sign_in(page, site, NEW_CHAT)
    held: list[Route] = []
    page.route(re.compile(r"/files/$"), lambda route: held.append(route))
    page.evaluate(DROP, ["orvane.md", "# The Orvane bridge\n\nThe bridge of Orvane opens at six in the morning.\n"])
    assert page.evaluate("window.droppable")
    expect(page.locator("#drop-area")).to_be_hidden()
    # The question waits for the file automatically.
    ask(page, "When does the bridge of Orvane open?")
    expect(page.locator("#held")).to_have_text("Your question is sent as soon as the file is uploaded.")
    held[0].continue_()
    answer = page.locator("section.answer").last
    expect(answer.locator("a[data-citation]").first).to_be_visible()
    expect(answer).to_contain_text("six in the morning")
    chip = page.locator(".chat-file")
    expect(chip).to_contain_text("The Orvane bridge")
    expect(chip).to_contain_text("Ready")
    answer.locator("a[data-citation]").first.click()
    expect(page.locator("#drawer .cited")).to_contain_text("six in the morning")
    page.keyboard.press("Escape")

    # Another chat doesn't have it.
    chat = page.url
    new_chat(page)
    expect(page.locator(".chat-file")).to_have_count(0)
    ask(page, "When does the bridge of Orvane open?")
    expect(page.locator("section.answer").last.locator(".outcome")).to_be_visible()
    expect(page.locator("section.answer").last).not_to_contain_text("six in the morning")

    page.goto(chat)
    page.get_by_label("Keep “The Orvane bridge” in a knowledge base").click()
    page.locator(".chat-file .menu-items").get_by_role("button", name="Samples").click()
    expect(page.locator(".toast")).to_contain_text("“The Orvane bridge” was saved to “Samples”.")
    expect(page.locator(".chat-file")).to_have_count(0)
    new_chat(page)
    ask(page, "When does the bridge of Orvane open?")
    expect(page.locator("section.answer").last).to_contain_text("six in the morning")


def test_a_file_dropped_on_the_welcome_can_go_to_a_knowledge_base(page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NEW_CHAT)
    text = "# The pass of Ulvik\n\nThe pass of Ulvik is closed from November to May.\n"
    drop = """([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      const fire = (target, kind) =>
        target.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
      fire(document.body, "dragenter");
      const zone = document.querySelector("#drop-bases [data-drop-base]");
      window.offered = [document.getElementById("drop-area").hidden, zone.innerText];
      fire(zone, "dragover");
      window.offered.push(zone.hasAttribute("data-over"));
      fire(zone, "drop");
    }"""
    page.evaluate(drop, ["ulvik.md", text])
    assert page.evaluate("window.offered") == [False, "Drop to add to “Samples”", True]
    chip = page.locator(".chat-file")
    expect(chip).to_contain_text("Added to “Samples”")
    page.evaluate(drop, ["tool.exe", "no pdf"])
    expect(page.locator(".chat-file.failed")).to_contain_text("tool.exe")
    page.goto(f"{any_site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    expect(page.locator("#rows")).to_contain_text("The pass of Ulvik")
    expect(page.locator("#rows")).not_to_contain_text("tool.exe")


@pytest.mark.nightly
def test_chips_changed_while_offline_are_updated(page: Page, site: Site, tmp_path: Path) -> None:
    for name in ("solder", "tallow"):
        (tmp_path / f"{name}.md").write_text(f"# The {name} yard\n\nThe {name} yard is open at noon.\n")
    sign_in(page, site, NO_PAGE)
    upload(page, site, tmp_path / "tallow.md")
    page.goto(site.url)
    new_chat(page)
    page.evaluate(DROP, ["solder.md", (tmp_path / "solder.md").read_text()])
    expect(page.locator(".chat-file")).to_contain_text("Ready")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".chat-file")).to_have_count(1)

    # Offline: it can't reconnect in the meantime.
    socket = re.compile(r"/ws/sessions/")
    other.route_web_socket(socket, lambda route: route.close())
    other.evaluate("document.getElementById('chat')['htmx-internal-data'].webSocket.close()")
    expect(other.locator("#connection")).to_be_visible()
    page.get_by_label("Remove “The solder yard”").click()
    expect(page.locator(".chat-file")).to_have_count(0)
    page.evaluate(DROP, ["harbour.md", "# The harbour yard\n\nThe harbour yard is open at one.\n"])
    expect(page.locator(".chat-file")).to_contain_text("The harbour yard")
    page.locator("#scope summary").first.click()
    page.get_by_label("Find a document, a folder or a tag").fill("tallow")
    page.locator("#scope-found").get_by_role("button", name="The tallow yard").click()
    expect(page.locator("#scope-name")).to_have_text("The tallow yard")
    expect(other.locator(".chat-file")).to_contain_text("The solder yard")
    expect(other.locator("#scope-name")).not_to_have_text("The tallow yard")

    other.route_web_socket(socket, lambda route: route.connect_to_server())
    expect(other.locator("#connection")).to_be_hidden(timeout=30_000)
    expect(other.locator(".chat-file")).to_have_count(1)
    expect(other.locator(".chat-file")).to_contain_text("The harbour yard")
    expect(other.locator("#scope-name")).to_have_text("The tallow yard")
    # Only the visible files are searched; removed ones don't come back.
    other.get_by_role("button", name="Search everything").click()
    expect(other.locator("#scope-name")).not_to_have_text("The tallow yard")


@pytest.mark.nightly
def test_an_unreadable_file_is_reported_on_its_chip_and_removed(page: Page, site: Site, tmp_path: Path) -> None:
    sign_in(page, site, NEW_CHAT)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    page.set_input_files("#attach-files", tmp_path / "tool.exe")
    chip = page.locator(".chat-file")
    expect(chip).to_contain_text("can't be read. Supported: pdf, docx")
    chip.get_by_role("button", name="Remove").click()
    expect(chip).to_have_count(0)
    assert sent == []
    (tmp_path / "damaged.pdf").write_bytes(b"%PDF-1.4\nno more of it")
    page.set_input_files("#attach-files", tmp_path / "damaged.pdf")
    expect(page.locator(".chat-file.failed")).to_contain_text("damaged.pdf")
    ask(page, "How long does a firmware update take?")
    answer = page.locator("section.answer").last
    expect(answer).to_contain_text("“damaged.pdf” could not be read and was not searched.")
    expect(answer.locator("a[data-citation]").first).to_be_visible()
    page.get_by_role("button", name="Remove “damaged.pdf”").click()
    expect(page.locator(".chat-file")).to_have_count(0)
    for name in ("east.md", "west.md"):
        (tmp_path / name).write_text(f"The {name} quay.")
    page.set_input_files("#attach-files", [tmp_path / "east.md", tmp_path / "west.md"])
    expect(page.locator(".chat-file", has_text="Ready")).to_have_count(2)
    page.get_by_role("button", name="Remove “east.md”").click()
    page.get_by_role("button", name="Remove “west.md”").click()
    expect(page.locator(".chat-file")).to_have_count(0)
    page.evaluate(PASTE, ["pasted.txt", "The harbour of Orvane has four cranes."])
    expect(page.locator(".chat-file")).to_contain_text("pasted.txt")
    expect(page.locator(".chat-file")).to_contain_text("Ready")


@pytest.mark.nightly
def test_a_chat_is_limited_to_a_tag_and_a_document(page: Page, site: Site, tmp_path: Path) -> None:
    for name, hour in (("quill", "seven"), ("marrow", "nine")):
        (tmp_path / f"{name}.md").write_text(f"# The {name} gate\n\nThe gate in the wall is closed at {hour}.\n")
    sign_in(page, site, NO_PAGE)
    upload(page, site, tmp_path / "quill.md")
    upload(page, site, tmp_path / "marrow.md")
    page.get_by_role("link", name="The quill gate").click()
    page.get_by_text("Tags and fields").click()
    page.get_by_label("Tags, separated by commas").fill("gates of quill")
    page.locator(".labels-form").get_by_role("button", name="Save").click()

    page.goto(site.url)
    new_chat(page)
    page.locator("#scope summary").first.click()
    find = page.get_by_label("Find a document, a folder or a tag")
    find.fill("quill")
    page.locator("#scope-found").get_by_role("button", name="gates of quill", exact=True).click()
    chips = page.locator("#scope-chips .scope-chip")
    expect(chips).to_have_text(["gates of quill"])
    page.keyboard.press("Escape")
    ask(page, "When is the gate in the wall closed?")
    answer = page.locator("section.answer").last
    expect(answer).to_contain_text("closed at seven")
    expect(answer).not_to_contain_text("closed at nine")
    page.reload()
    expect(chips).to_have_text(["gates of quill"])
    chips.first.click()
    expect(chips).to_have_count(0)

    page.locator("#scope summary").first.click()
    find.fill("marrow")
    page.locator("#scope-found").get_by_role("button", name="The marrow gate").click()
    expect(page.locator("#scope-name")).to_have_text("The marrow gate")
    page.keyboard.press("Escape")
    ask(page, "When is the gate in the wall closed?")
    expect(page.locator("section.answer").last).to_contain_text("closed at nine")
    page.get_by_role("button", name="Search everything").click()
    expect(page.locator("#scope-name")).not_to_have_text("The marrow gate")
