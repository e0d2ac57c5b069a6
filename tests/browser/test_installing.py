"""The site as an installed app, in a browser that lets it have a service worker."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NO_PAGE, PATIENCE, sign_in
from tests.site import Site

pytestmark = pytest.mark.browser


def test_the_site_is_installable_and_says_so_without_a_network(browser: Browser, page: Page, any_site: Site) -> None:
    sign_in(page, any_site, NO_PAGE)
    with browser.new_context(locale="en-GB", storage_state=page.context.storage_state()) as context:
        context.set_default_timeout(PATIENCE)
        installed = context.new_page()
        installed.goto(any_site.url)
        installed.evaluate("navigator.serviceWorker.ready.then(() => true)")
        protocol = context.new_cdp_session(installed)
        manifest = protocol.send("Page.getAppManifest")
        assert manifest["errors"] == [] and manifest["url"].endswith("/manifest.webmanifest")
        assert protocol.send("Page.getInstallabilityErrors")["installabilityErrors"] == []

        installed.reload()  # now through the service worker
        expect(installed.get_by_label("Your question")).to_be_visible()
        context.set_offline(True)
        installed.goto(f"{any_site.url}/knowledge/")
        expect(installed.get_by_role("heading", name="This device can't reach Ragsite")).to_be_visible()
        assert installed.locator(".brand").evaluate("(mark) => getComputedStyle(mark).display") == "flex"
        kept = installed.evaluate("caches.keys().then((names) => caches.open(names[0])).then((all) => all.keys())")
        assert len(kept) == 3, "the page, its style sheet and its icon"
        context.set_offline(False)
        installed.get_by_role("link", name="Try again").click()
        expect(installed.get_by_role("heading", name="Knowledge")).to_be_visible()
