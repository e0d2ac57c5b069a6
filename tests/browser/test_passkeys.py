"""Setting up a passkey and signing in with it, using Chromium's virtual authenticator."""

import pytest
from playwright.sync_api import Page, expect

from tests.site import PASSWORD, Site

pytestmark = pytest.mark.browser
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
# `keys`, with the password of `demo`.
_ADD_USER = """
    INSERT INTO auth_user
        (username, password, first_name, last_name, email, is_superuser, is_staff, is_active, date_joined)
    SELECT 'keys', password, '', '', '', false, false, true, now() FROM auth_user WHERE username = 'demo'
"""


def test_a_passkey_signs_in_without_a_password_and_after_it(page: Page, any_site: Site) -> None:
    with any_site.database() as database:
        database.execute(_ADD_USER)
    url = any_site.url.replace("127.0.0.1", "localhost")  # passkeys need a host name
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
    page.goto("about:blank")  # so that the chat doesn't connect without cookies
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
