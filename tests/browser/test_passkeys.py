"""Setting up a passkey and signing in with it, using Chromium's virtual authenticator."""

import pytest
from playwright.sync_api import Page, expect

from tests.site import PASSWORD, Site, run_command

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("pages")]
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def test_a_passkey_signs_in_without_a_password_and_after_it(page: Page, site: Site) -> None:
    create = f"from django.contrib.auth.models import User; User.objects.create_user('keys', password='{PASSWORD}')"
    done = run_command(site.data_dir, "shell", "-c", create)
    assert done.returncode == 0, done.stderr
    url = site.url.replace("127.0.0.1", "localhost")  # passkeys need a host name
    protocol = page.context.new_cdp_session(page)
    protocol.send("WebAuthn.enable")
    protocol.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    _enter_password(page, url)
    expect(page.get_by_label("Your question")).to_be_visible()
    page.goto(f"{url}/account/2fa/keys/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("checkbox").check()
    page.locator("#mfa_webauthn_add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.context.clear_cookies()
    page.goto(f"{url}/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    page.context.clear_cookies()
    _enter_password(page, url)
    page.get_by_role("button", name="Use a passkey or security key").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    page.goto(f"{url}/account/2fa/keys/reauthenticate/?next=/account/")
    page.get_by_role("button", name="Use a passkey or security key").click()
    expect(page).to_have_url(f"{url}/account/")


def _enter_password(page: Page, url: str) -> None:
    page.goto(f"{url}/login/")
    page.get_by_label("Username").fill("keys")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
