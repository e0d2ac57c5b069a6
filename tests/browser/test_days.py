"""A day in the life of a member, a curator, an administrator, an anonymous visitor and an invited newcomer."""

import csv
import re
import zipfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NEW_CHAT, NO_PAGE, ask, make_pdf, running_site, sign_in
from tests.browser.test_people import SECRET, invite, join
from tests.browser.test_sessions import choose
from tests.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.nightly, pytest.mark.xdist_group("days"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A separate site, so that the data of these users doesn't affect other tests."""
    with running_site() as site:
        yield site


def _invite_to_the_site(page: Page, site: Site, role: str = "member", group: str = "") -> str:
    """Create an invitation link in the administration, as the administrator, and return it."""
    page.goto(f"{site.url}/admin/knowledge/invitation/add/")
    page.get_by_label("Role on the site").select_option(role)
    if group:
        page.locator("#id_groups_from").select_option(label=group)
        page.locator(".selector-add").click()
    page.get_by_role("button", name="Save", exact=True).click()
    return page.locator("code.key").inner_text()


def _make_base(page: Page, site: Site, name: str, *files: Path) -> str:
    """Create a knowledge base, upload files, and return its URL once each was processed or rejected."""
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("button", name="New knowledge base").first.click()
    page.locator("#new-base").get_by_label("Name").fill(name)
    page.locator("#new-base").get_by_role("button", name="Create").click()
    expect(page.locator("#upload-files")).to_be_enabled()
    expect(page.get_by_role("button", name="Ask about these documents")).to_be_hidden()
    expect(page.locator(".totals")).to_have_count(0)
    if files:
        page.set_input_files("#upload-files", files)
        finished = page.locator("tr.document-row .badge", has_text=re.compile(r"^\s*(Ready|Failed)"))
        expect(finished).to_have_count(len(files))
        expect(page.get_by_role("button", name="Ask about these documents")).to_be_visible()
        expect(page.locator(".totals")).to_contain_text(f"{len(files)} documents")
    return page.url


def _answered(page: Page, count: int) -> None:
    expect(page.locator(".turn .outcome")).to_have_count(count)


def test_a_member_asks_reads_organises_shares_and_signs_out(
    page: Page, colleague: Page, other: Page, site: Site, tmp_path: Path
) -> None:
    sign_in(page, site)
    member = colleague
    join(member, invite(page, site), "mara")
    # She asks in the shared base, and reads the source.
    expect(member.get_by_role("heading", name="Samples")).to_be_visible()
    member.get_by_role("button", name="Ask about these documents").click()
    member.wait_for_load_state("load")
    ask(member, "How long does a firmware update take?")
    _answered(member, 1)
    member.locator(".prose a[data-citation]").first.click()
    expect(member.locator("#drawer .cited").first).to_contain_text("firmware", ignore_case=True)
    member.keyboard.press("Escape")
    # She asks a follow-up question, then one about a file of her own.
    ask(member, "How heavy is the LS-2408?")
    _answered(member, 2)
    note = tmp_path / "orvane.md"
    note.write_text("# The Orvane bridge\n\nThe bridge of Orvane opens at six in the morning.\n")
    member.set_input_files("#attach-files", note)
    expect(member.locator(".chat-file")).to_contain_text("Ready")
    ask(member, "When does the bridge of Orvane open?")
    _answered(member, 3)
    expect(member.locator(".prose").last).to_contain_text("six in the morning")
    # She organises the chat.
    choose(member, "firmware", "Labels")
    member.get_by_label("New label").fill("Devices")
    member.get_by_role("button", name="Save").click()
    expect(member.locator("#session-title")).to_contain_text("firmware")
    member.wait_for_load_state("load")
    # She shares it with somebody without an account.
    member.get_by_role("link", name="Share or export").click()
    member.get_by_role("button", name="Create link").click()
    link = member.locator(".link-address").first.inner_text()
    other.goto(link)
    expect(other.locator(".bubble").first).to_have_text("How long does a firmware update take?")
    expect(other.locator("main")).to_contain_text("six in the morning")
    member.keyboard.press("Escape")
    choose(member, "firmware", "Archive")
    expect(member.locator("#sessions .session", has_text="firmware")).to_have_count(0)
    # She saves a prompt, downloads her data, and signs out in the other language.
    member.goto(f"{site.url}/account/prompts/")
    member.get_by_label("Title").fill("Weigh")
    member.get_by_label("Text").fill("How heavy is the {{model}}?")
    member.get_by_role("button", name="Save").click()
    expect(member.locator(".saved-prompt")).to_contain_text("Weigh")
    member.goto(f"{site.url}/account/")
    with member.expect_download() as download:
        member.get_by_role("button", name="Download my data").click()
    download.value.save_as(tmp_path / "own.zip")
    with zipfile.ZipFile(tmp_path / "own.zip") as packed:
        chats = [packed.read(name).decode() for name in packed.namelist() if name.startswith("chats/")]
    assert any("bridge of Orvane" in chat for chat in chats)
    member.locator(".rail-account").click()
    member.locator(".rail-foot").get_by_role("button", name="中文").click()
    expect(member.get_by_role("heading", name="账户").first).to_be_visible()
    member.locator(".rail-account").click()
    member.get_by_role("button", name="退出").click()
    expect(member.get_by_role("button", name="登录")).to_be_visible()


def test_a_curator_tidies_another_users_base(
    page: Page, colleague: Page, other: Page, site: Site, tmp_path: Path
) -> None:
    sign_in(page, site, NO_PAGE)
    page.goto(f"{site.url}/admin/auth/group/add/")
    page.get_by_label("Name").fill("Harbour")
    page.get_by_role("button", name="Save", exact=True).click()
    papers = []
    for name, text in (
        ("tides.md", "The spring tide at Quay Seven rises to five metres."),
        ("cranes.md", "The green crane lifts ninety tonnes."),
    ):
        papers.append(tmp_path / name)
        papers[-1].write_text(f"# {name[:-3].title()}\n\n{text}\n")
    broken = tmp_path / "mooring.pdf"
    broken.write_bytes(b"%PDF-1.7\nthis is no PDF\n")
    base = _make_base(page, site, "Quay papers", *papers, broken)
    curator = colleague
    join(curator, _invite_to_the_site(page, site, "curator"), "cleo")
    # She sees the base that nobody shared with her, and its failed document.
    curator.get_by_role("link", name="Knowledge", exact=True).click()
    curator.get_by_role("link", name="Quay papers").click()
    expect(curator.get_by_text("owned by demo; you manage it as a curator")).to_be_visible()
    rows, said = curator.locator("tr.document-row"), curator.locator("#toasts")
    curator.locator("nav.narrowing").get_by_role("link", name="Failed 1").click()
    expect(rows).to_have_count(1)
    expect(rows.locator(".row-error")).to_contain_text("damaged")
    curator.get_by_label("All on this page").check()
    curator.locator("#bulk").get_by_role("button", name="Retry").click()
    expect(said).to_contain_text("because of the file itself")
    # She replaces it with a good one.
    curator.get_by_label("All on this page").check()
    curator.locator("#bulk").get_by_role("button", name="Delete").click()
    curator.get_by_role("button", name=re.compile("Delete")).last.click()
    curator.goto(base)
    expect(rows).to_have_count(2)
    curator.set_input_files("#upload-files", make_pdf(tmp_path / "mooring.pdf", "Ships moor at the ninth bollard."))
    expect(curator.locator("tr.document-row .badge.ok")).to_have_count(3)
    # She adds tags, and moves a document into a base of her own.
    rows.filter(has_text="Tides").get_by_role("checkbox").check()
    curator.locator("#bulk").get_by_placeholder("Tags").fill("tide")
    curator.locator("#bulk").get_by_role("button", name="Tag", exact=True).click()
    expect(curator.locator("nav.narrowing").get_by_role("link", name="tide 1")).to_be_visible()
    _make_base(curator, site, "Quay archive")
    curator.goto(base)
    rows.filter(has_text="Cranes").get_by_role("checkbox").check()
    curator.get_by_label("Knowledge base", exact=True).select_option("Quay archive")
    curator.locator("#bulk").get_by_role("button", name="Move").click()
    expect(rows).to_have_count(2)
    # She shares it with a group, a member of which finds it and asks.
    curator.get_by_role("link", name="Members").click()
    sharing = curator.get_by_role("form", name="Share with a group")
    sharing.get_by_label("Group").select_option("Harbour")
    sharing.get_by_role("button").click()
    expect(curator.locator(".member-list")).to_contain_text("Harbour")
    join(other, _invite_to_the_site(page, site, group="Harbour"), "hal")
    other.goto(f"{site.url}/knowledge/")
    expect(other.get_by_role("link", name="Quay archive")).to_have_count(0)
    other.get_by_role("link", name="Quay papers").click()
    other.get_by_role("button", name="Ask about these documents").click()
    other.wait_for_load_state("load")
    ask(other, "Where do ships moor?")
    expect(other.locator(".prose").last).to_contain_text("ninth bollard")


def test_an_administrator_adds_missing_documents_and_manages_people(
    page: Page, colleague: Page, site: Site, tmp_path: Path
) -> None:
    sign_in(page, site)
    person = colleague
    join(person, invite(page, site), "otto")
    expect(person.get_by_role("heading", name="Samples")).to_be_visible()
    # An unanswered question is on the dashboard, where a document is added; then it is answered.
    question = "Which pigment colours the Vellmouth lighthouse?"
    person.get_by_role("button", name="Ask about these documents").click()
    person.wait_for_load_state("load")
    ask(person, question)
    _answered(person, 1)
    page.goto(f"{site.url}/admin/")
    group = page.locator(".figure-groups li", has_text=question)
    group.get_by_role("link", name="Add a document").click()
    expect(page.locator("#upload-files")).to_be_enabled()
    paint = tmp_path / "vellmouth.md"
    paint.write_text("# Vellmouth lighthouse\n\nThe pigment that colours the Vellmouth lighthouse is red ochre.\n")
    page.set_input_files("#upload-files", paint)
    expect(page.locator("tr.document-row", has_text="vellmouth.md").locator(".badge.ok")).to_be_visible()
    ask(person, question)
    _answered(person, 2)
    expect(person.locator(".prose").last).to_contain_text("red ochre")
    # She changes his role and sets a limit, which is explained to him.
    page.goto(f"{site.url}/admin/auth/user/?q=otto")
    page.get_by_role("link", name="otto").click()
    account = page.url
    page.locator("#id_role").get_by_label("Curator").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#result_list tr", has_text="otto")).to_contain_text("Curator")
    page.goto(f"{site.url}/admin/ragsite/limit/add/")
    page.locator(".field-user .select2-selection").click()
    page.locator(".select2-search__field").fill("otto")
    page.locator(".select2-results__option", has_text="otto").click()
    page.get_by_label("Questions per day").fill("2")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("was added successfully")
    ask(person, "How heavy is the LS-2408?")
    expect(person.locator("#toasts")).to_contain_text("You have used your daily limit of 2 questions.")
    expect(person.get_by_label("Your question")).to_have_value("How heavy is the LS-2408?")  # he can ask it tomorrow
    _answered(person, 2)
    # Both are in the audit log, also in its export.
    page.goto(f"{site.url}/admin/ragsite/auditentry/?q=otto")
    expect(page.locator("#result_list")).to_contain_text("otto")
    page.goto(f"{site.url}/admin/ragsite/auditentry/")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.reader(StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    assert any("otto" in cell for row in rows for cell in row)
    # His account is deactivated: his open page is signed out, and he can't sign in again.
    page.goto(account)
    page.get_by_label("Active").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(person.get_by_role("button", name="Sign in")).to_be_visible()
    person.get_by_label("Username").fill("otto")
    person.get_by_label("Password").fill(SECRET)
    person.get_by_role("button", name="Sign in").click()
    expect(person.locator("main")).to_contain_text(re.compile("inactive|deactivated|closed|right", re.IGNORECASE))


def test_an_anonymous_visitor_is_refused_with_an_explanation_everywhere(
    page: Page, colleague: Page, other: Page, site: Site
) -> None:
    sign_in(page, site, NEW_CHAT)
    ask(page, "How heavy is the LS-2408?")
    _answered(page, 1)
    chat = page.url.partition("?")[0]
    page.get_by_role("link", name="Share or export").click()
    page.get_by_role("button", name="Create link").click()
    shared = page.locator(".link-address").first.inner_text()
    page.goto(f"{site.url}/knowledge/")
    page.get_by_role("link", name="Samples").first.click()
    base = page.url
    page.locator("tr.document-row a").first.click()
    page.wait_for_url("**/documents/**")
    document = page.url
    # Without signing in, every page redirects to sign-in, and back afterwards.
    for address in (chat, base, document, f"{site.url}/account/", f"{site.url}/admin/", f"{site.url}/playground/"):
        other.goto(address)
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()
    other.goto(f"{site.url}/sign-up/")
    expect(other.get_by_role("heading", name="You don't have an account here yet")).to_be_visible()
    refused = other.request.get(f"{site.url}/api/knowledge-bases")
    assert refused.status == 401 and "Authentication" in refused.json()["detail"]
    # A link to a chat works until it is revoked; a made-up one never does.
    other.goto(shared)
    expect(other.locator(".bubble")).to_have_text("How heavy is the LS-2408?")
    page.goto(f"{site.url}/shared/")
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.locator(".link-address", has_text=shared)).to_have_count(0)
    other.goto(shared)
    expect(other.get_by_role("heading", name="Page not found")).to_be_visible()
    other.goto(f"{site.url}/invitations/nonsense/")
    expect(other.get_by_role("heading", name="This link doesn't work")).to_be_visible()
    # Somebody with an account but without permissions finds nothing either.
    stranger = colleague
    join(stranger, _invite_to_the_site(page, site), "stella")
    expect(stranger.get_by_label("Your question")).to_be_visible()
    for address in (chat, base, f"{base}settings/", document, f"{document}file", f"{site.url}/nowhere/"):
        stranger.goto(address)
        expect(stranger.get_by_role("heading", name="Page not found")).to_be_visible()
        expect(stranger.locator("main")).not_to_contain_text("Samples")
    stranger.goto(f"{site.url}/admin/")
    expect(stranger.locator("body")).to_contain_text("stella")
    expect(stranger.get_by_role("heading", name="Overview")).to_have_count(0)
    # A form that was opened before another sign-in explains what to do.
    stranger.goto(f"{site.url}/account/")
    stranger.context.clear_cookies(name=re.compile("csrf"))
    stranger.get_by_role("button", name="Create a token").evaluate("(button) => button.form.noValidate = true")
    stranger.get_by_role("button", name="Create a token").click()
    expect(stranger.get_by_role("heading", name="This page has expired")).to_be_visible()


def test_a_newcomer_is_guided_from_the_link_to_a_first_answer(page: Page, other: Page, site: Site) -> None:
    sign_in(page, site)
    newcomer = other
    newcomer.goto(_invite_to_the_site(page, site))
    expect(newcomer.get_by_role("heading", name="You are invited")).to_be_visible()
    # Invalid input is reported beside its field.
    newcomer.get_by_label("Username").fill("demo")
    newcomer.get_by_label("Password", exact=True).fill(SECRET)
    newcomer.get_by_label("Password (again)").fill(f"{SECRET} ")
    newcomer.get_by_role("button", name="Create account").click()
    expect(newcomer.locator(".field .errors").first).to_be_visible()
    newcomer.get_by_label("Username").fill("nick")
    newcomer.get_by_label("Password", exact=True).fill(SECRET)
    newcomer.get_by_label("Password (again)").fill(SECRET)
    newcomer.get_by_role("button", name="Create account").click()
    # Without documents, the first step is shown.
    expect(newcomer.get_by_role("heading", name="Start with a document")).to_be_visible()
    newcomer.get_by_role("button", name="Add the samples").click()
    expect(newcomer.get_by_role("heading", name="Samples")).to_be_visible()
    newcomer.goto(site.url)
    # Suggestions appear automatically, as soon as a document is ready.
    newcomer.locator("[data-suggestion]").first.click()
    _answered(newcomer, 1)
    newcomer.locator(".prose a[data-citation]").first.click()
    expect(newcomer.locator("#drawer .cited").first).to_be_visible()
    assert newcomer.evaluate("document.documentElement.scrollWidth <= innerWidth")
    newcomer.keyboard.press("Escape")
    # She signs out and in again with her password; the chat is there.
    newcomer.get_by_role("button", name="Menu").click()
    newcomer.locator(".rail-account").click()
    newcomer.get_by_role("button", name="Sign out").click()
    newcomer.get_by_label("Username").fill("nick")
    newcomer.get_by_label("Password").fill(SECRET)
    newcomer.get_by_role("button", name="Sign in").click()
    expect(newcomer.get_by_label("Your question")).to_be_visible()
    newcomer.get_by_role("button", name="Menu").click()
    expect(newcomer.locator("#sessions .session").first).to_be_visible()
