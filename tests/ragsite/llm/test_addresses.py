"""The networks of addresses that a name resolves to."""

import socket
from typing import Any

import pytest

from ragsite.llm.addresses import Place, Reach, look_up


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        ("http://127.0.0.1:11434/v1", Reach.PRIVATE),
        ("http://localhost/v1", Reach.PRIVATE),
        ("http://2130706433/", Reach.PRIVATE),
        ("http://[::1]:8000", Reach.PRIVATE),
        ("http://[::ffff:10.0.0.8]/", Reach.PRIVATE),
        ("http://192.168.1.5/v1", Reach.PRIVATE),
        ("http://169.254.169.254/latest", Reach.FORBIDDEN),
        ("http://[::ffff:169.254.169.254]/", Reach.FORBIDDEN),
        ("http://[64:ff9b::10.0.0.8]/", Reach.PRIVATE),
        ("http://[64:ff9b::8.8.8.8]/", Reach.PUBLIC),
        ("http://[64:ff9b:1::127.0.0.1]/", Reach.PRIVATE),
        ("http://[64:ff9b::169.254.169.254]/", Reach.FORBIDDEN),
        ("http://[::10.0.0.8]/", Reach.PRIVATE),
        ("http://[::8.8.8.8]/", Reach.PUBLIC),
        ("http://[::169.254.169.254]/", Reach.FORBIDDEN),
        ("http://[fe80::1]/", Reach.FORBIDDEN),
        ("http://0.0.0.0/", Reach.FORBIDDEN),
        ("http://1.1.1.1/v1", Reach.PUBLIC),
        ("http://[broken", Reach.UNKNOWN),
    ],
)
async def test_an_address_is_known_by_its_numbers(url: str, reach: Reach) -> None:
    assert (await look_up(url)).reach == reach


async def test_of_several_addresses_the_worst_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = [
        [(socket.AF_INET, 1, 6, "", (number, 80)) for number in numbers]
        for numbers in (["1.1.1.1", "10.0.0.8"], ["1.1.1.1", "169.254.169.254"])
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: answers.pop(0))
    assert await look_up("https://model.example.org/v1") == Place(Reach.PRIVATE, ("1.1.1.1", "10.0.0.8"))
    assert await look_up("https://model.example.org/v1") == Place(Reach.FORBIDDEN, ("1.1.1.1", "169.254.169.254"))


async def test_a_name_without_an_address_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert await look_up("https://nowhere.invalid/v1") == Place(Reach.UNKNOWN)
