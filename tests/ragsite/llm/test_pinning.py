"""Requests go to the addresses that were checked, under the original name."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ragsite.llm import http, pinning
from ragsite.llm.errors import AddressRefused, Unreachable
from ragsite.llm.pinning import AsyncPinnedTransport
from ragsite.llm.types import Endpoint

# Has `model.test` resolve to these addresses, an entry for each time that it is asked; to the last one from then on.
Resolver = Callable[..., list[list[str]]]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    def tell(*addresses: list[str]) -> list[list[str]]:
        answers = list(addresses)

        def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
            if not (numbers := answers.pop(0) if len(answers) > 1 else answers[0]):
                raise socket.gaierror("Name or service not known")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in numbers]

        real = socket.getaddrinfo
        named = ("model.test", "other.test")
        monkeypatch.setattr(
            socket,
            "getaddrinfo",
            lambda host, *args, **kwargs: (
                look_up(host, *args, **kwargs) if host in named else real(host, *args, **kwargs)
            ),
        )
        return answers

    return tell


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    host = head.split("host: ", 1)[1].split("\r\n", 1)[0].encode()
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(host), host))
    await writer.drain()
    writer.close()


def certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


async def test_a_server_proves_itself_by_its_name(tmp_path: Path, resolver: Resolver) -> None:
    resolver(["127.0.0.1"])
    file = certificate(tmp_path, "model.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    trusted = ssl.create_default_context(cafile=str(file))
    async with server:
        transport = AsyncPinnedTransport(own_network=True, verify=trusted)
        async with httpx.AsyncClient(transport=transport) as client:
            assert (await client.get(f"https://model.test:{port}/")).text == f"model.test:{port}"
            with pytest.raises(httpx.ConnectError, match="Hostname mismatch"):
                await client.get(f"https://other.test:{port}/")


async def ask(endpoint: Endpoint, times: int = 1, *, waiting: bool) -> str:
    """Return what the last of some requests by one client is answered with."""

    def wait() -> str:
        with http.blocking_client(endpoint) as client:
            return [client.get(endpoint.base_url).text for _number in range(times)][-1]

    if waiting:
        return await asyncio.to_thread(wait)
    async with http.client(endpoint) as client:
        return [(await client.get(endpoint.base_url)).text for _number in range(times)][-1]


@pytest.mark.parametrize("waiting", [False, True])
async def test_the_next_address_is_tried_where_one_is_down(resolver: Resolver, waiting: bool) -> None:
    resolver(["127.0.0.3", "127.0.0.1"])
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://model.test:{server.sockets[0].getsockname()[1]}/", own_network=True)
    async with server:
        assert await ask(endpoint, waiting=waiting) == endpoint.base_url.split("/")[2]
    resolver(["127.0.0.3"])
    with pytest.raises(httpx.ConnectError):
        await ask(endpoint, waiting=waiting)


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_name_that_changes_its_mind_leads_nowhere_else(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch, waiting: bool
) -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://model.test:{server.sockets[0].getsockname()[1]}/", own_network=True)
    async with server:
        left = resolver(["127.0.0.1"], ["169.254.169.254"])
        assert await ask(endpoint, 3, waiting=waiting)  # what was checked is what is asked
        assert left == [["169.254.169.254"]]
        monkeypatch.setattr(pinning, "KEEP", 0.0)
        resolver(["127.0.0.1"], ["169.254.169.254"])
        with pytest.raises(AddressRefused, match="reserved for network services"):
            await ask(endpoint, 2, waiting=waiting)


@pytest.mark.parametrize("waiting", [False, True])
async def test_the_own_network_is_asked_only_where_that_is_allowed(resolver: Resolver, waiting: bool) -> None:
    resolver(["1.1.1.1", "127.0.0.1"])
    with pytest.raises(AddressRefused, match="Our own server"):
        await ask(Endpoint("http://model.test:9/", own_network=False), waiting=waiting)
    resolver(["127.0.0.1"])
    with pytest.raises(httpx.ConnectError):  # nothing listens there, and nothing is checked
        await ask(Endpoint("http://model.test:9/"), waiting=waiting)
    resolver([])
    with pytest.raises(Unreachable, match="name resolution"):
        await ask(Endpoint("http://model.test:9/", own_network=False), waiting=waiting)


def test_a_proxy_resolves_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    assert not http.is_proxied(Endpoint("https://model.test/v1"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:3128")
    monkeypatch.setenv("no_proxy", "inner.test")
    assert http.is_proxied(Endpoint("https://model.test/v1"))
    assert not http.is_proxied(Endpoint("http://model.test/v1"))
    assert not http.is_proxied(Endpoint("https://inner.test/v1"))
