"""Where the site listens, and what is told at a start."""

from contextlib import closing

import pytest
from pytest_django import Settings

from ragsite.runtime import startup

OPEN = "makes share links of whatever address a request claims"


@pytest.mark.parametrize("value", ["65536", "99999", "-1", "http", "８０"])
def test_what_is_no_port_is_named(value: str) -> None:
    with pytest.raises(startup.argparse.ArgumentTypeError, match=f"'{value}' is no port"):
        startup.port(value)
    assert startup.port("65535") == 65_535


def _told(host: str) -> str:
    with closing(startup.listen(host, 0)) as listener:
        return "\n".join(startup.notices(listener))


def test_share_links_of_any_address_are_told_where_others_reach_the_site(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert OPEN in _told("0.0.0.0")
    assert _told("127.0.0.1") == ""
    settings.PUBLIC_URL = "https://ask.example.com"
    assert _told("0.0.0.0") == ""
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "", ["ask.example.com"]
    assert _told("0.0.0.0") == ""


def test_a_variable_that_nothing_reads_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert startup.notices() == []
    monkeypatch.setenv("RAGSITE_TIMEZONE", "UTC")
    (told,) = startup.notices()
    assert told.startswith("Warning: The environment variable RAGSITE_TIMEZONE is not known")
