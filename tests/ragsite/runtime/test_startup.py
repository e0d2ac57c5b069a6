"""The port, and warnings at start."""

from contextlib import closing

import pytest
from pytest_django import Settings

from ragsite.runtime import startup

OPEN = "builds links from the host name of each request"


@pytest.mark.parametrize("value", ["65536", "99999", "-1", "http", "８０"])
def test_an_invalid_port_is_rejected(value: str) -> None:
    with pytest.raises(startup.argparse.ArgumentTypeError, match=f"'{value}' isn't a port"):
        startup.port(value)
    assert startup.port("65535") == 65_535


def _warnings(host: str) -> str:
    with closing(startup.listen(host, 0)) as listener:
        return "\n".join(startup.notices(listener))


def test_a_public_site_without_allowed_hosts_gets_a_warning(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert OPEN in _warnings("0.0.0.0")
    assert _warnings("127.0.0.1") == ""
    settings.PUBLIC_URL = "https://ask.example.com"
    assert _warnings("0.0.0.0") == ""
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "", ["ask.example.com"]
    assert _warnings("0.0.0.0") == ""


def test_an_unknown_variable_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert startup.notices() == []
    monkeypatch.setenv("RAGSITE_TIMEZONE", "UTC")
    (warning,) = startup.notices()
    assert warning.startswith("Warning: The environment variable RAGSITE_TIMEZONE is unknown")
