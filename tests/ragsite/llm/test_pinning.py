"""Requests go to the addresses that were checked, under their own name."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ragsite.llm import http
from ragsite.llm.pinning import AsyncPinnedTransport, PinnedTransport
from ragsite.llm.types import Endpoint


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


async def test_a_server_proves_itself_by_its_name(tmp_path: Path) -> None:
    file = certificate(tmp_path, "model.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    trusted = ssl.create_default_context(cafile=str(file))
    async with server:
        transport = AsyncPinnedTransport(["127.0.0.1"], verify=trusted)
        async with httpx.AsyncClient(transport=transport) as client:
            assert (await client.get(f"https://model.test:{port}/")).text == f"model.test:{port}"
            with pytest.raises(httpx.ConnectError, match="Hostname mismatch"):
                await client.get(f"https://other.test:{port}/")


async def test_the_next_address_is_tried_where_one_is_down() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        async with httpx.AsyncClient(transport=AsyncPinnedTransport(["::1", "127.0.0.1"])) as client:
            assert (await client.get(f"http://model.test:{port}/")).text == f"model.test:{port}"

        def wait() -> str:
            with httpx.Client(transport=PinnedTransport(["127.0.0.3", "127.0.0.1"])) as client:
                return client.get(f"http://model.test:{port}/").text

        assert await asyncio.to_thread(wait) == f"model.test:{port}"
    async with httpx.AsyncClient(transport=AsyncPinnedTransport(["127.0.0.3"])) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://model.test:{port}/")


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
