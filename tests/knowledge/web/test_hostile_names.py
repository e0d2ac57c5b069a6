"""File names from file systems, archives or attackers: accepted or refused, and shown safely."""

import unicodedata
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from knowledge.models import Document, KnowledgeBase
from tests.nightly import sample

# Values of a request's `filename="…"`, in bytes.
RAW: dict[str, bytes] = {
    "nothing": b"",
    "a space": b" ",
    "dots": b"..",
    "a slash": b"/",
    "path separators": b"../../etc/cron.d/x.txt",
    "Windows's separators": b"C:\\\\Users\\\\me\\\\..\\\\x.txt",
    "an encoded separator": b"..%2f..%2fx.txt",
    "a device": b"CON.txt",
    "an option": b"-rf",
    "a shell's": b"$(id)`id`|x;&.txt",
    "quotes": b"a\\\"b'c.txt",
    "markup": b"<img src=x onerror=alert(1)>\\\"'>.txt",
    "a template's": b"{{ 7|add:7 }}{% debug %}.txt",
    "a format's": b"%s%n{name}%(x)s.txt",
    "NUL": b"a\x00b.txt",
    "an encoded NUL": b"a%00b.txt",
    "escape sequences": b"a\x1b[31mred\x1b]0;title\x07.txt",
    "other controls": bytes(range(1, 10)) + b"\x0b\x0c\x0e\x7f" + "\x85\x9b".encode() + b".txt",
    "a right-to-left override": "invoice\u202etxt.exe".encode(),
    "all direction marks": "a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069b.txt".encode(),
    "line separators": "a\u2028b\u2029c.txt".encode(),
    "nothing that is seen": "\u200b\ufeff\u2060.txt".encode(),
    "tag characters": "a\U000e0001\U000e0041.txt".encode(),
    "no characters": "a\uffff\ufffe\U0010ffff.txt".encode(),
    "a lone surrogate": b"a\xed\xa0\x80b\xed\xbf\xbf.txt",
    "no UTF-8": b"a\xff\xfe\x80b.txt",
    "Latin-1": "caf\xe9.txt".encode("latin-1"),
    "GBK": "会议.txt".encode("gbk"),
    "many marks on one letter": ("a" + "\u0301" * 200 + ".txt").encode(),
    "255 bytes": b"x" * 251 + b".txt",
    "256 bytes": b"x" * 252 + b".txt",
    "255 bytes of Chinese": ("文" * 83 + "记.txt").encode(),
    "300 Chinese characters": ("文" * 300 + ".txt").encode(),
    "a long suffix": b"x." + b"t" * 400,
    "many suffixes": b".txt" * 200,
    "too long by far": b"x" * 20_000 + b".txt",
}
# Values of `filename*=…`, which can contain other characters.
ENCODED: dict[str, bytes] = {
    "a new line": b"UTF-8''a%0D%0ASet-Cookie%3A%20x%3D1%0D%0A.txt",
    "encoded separators": b"UTF-8''..%2F..%2Fx.txt",
    "an encoded NUL": b"UTF-8''a%00b.txt",
    "an encoded surrogate": b"UTF-8''a%ED%A0%80.txt",
    "a surrogate by UTF-16": b"UTF-16''%00%D8.txt",
    "an unknown character set": b"x-none''a.txt",
    "a character set of another kind": b"base64''a.txt",
    "half a byte": b"UTF-8''a%E.txt",
}
# Django doesn't treat a part without a readable name as a file, so the response is for a missing file.
NO_NAME = {"nothing", "dots", "a slash", "too long by far", "an unknown character set (RFC 5987)"}
# The rest of these has no readable extension.
NO_FORMAT = {"a space", "an option", "other controls", "a right-to-left override", "nothing that is seen"}
NO_FORMAT |= {"a long suffix", "a surrogate by UTF-16 (RFC 5987)"}
DISPOSITIONS = {name: b'filename="' + raw + b'"' for name, raw in RAW.items()} | {
    f"{name} (RFC 5987)": b"filename*=" + raw for name, raw in ENCODED.items()
}


def _post(client: Client, address: str, disposition: bytes, content: bytes, **headers: Any) -> Any:
    """Send a form that no library would write."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; ' + disposition
    body = head + b"\r\nContent-Type: text/plain\r\n\r\n" + content + b"\r\n--b--\r\n"
    return client.generic("POST", address, body, "multipart/form-data; boundary=b", headers=headers)


@pytest.mark.parametrize("name", sample([*DISPOSITIONS], 12))
def test_a_hostile_name_does_no_harm(
    as_owner: Client, as_staff: Client, base: KnowledgeBase, owner: User, name: str
) -> None:
    page, api = reverse("knowledge-base-upload", args=[base.pk]), f"/api/knowledge-bases/{base.pk}/documents"
    for address, headers, number in ((page, {}, 1), (page, {"HX-Request": "true"}, 2), (api, {}, 3)):
        answer = _post(as_owner, address, DISPOSITIONS[name], b"Green tea is steeped. %d" % number, **headers)
        assert answer.status_code in (200, 202, 302, 400, 415), answer.content[:300]
        assert "Set-Cookie" not in answer.headers
    list_page = as_owner.get(reverse("knowledge-base", args=[base.pk])).content.decode()
    admin_page = as_staff.get(reverse("admin:knowledge_document_changelist")).content.decode()
    listed = [document["filename"] for document in as_owner.get(api).json()["results"]]
    documents = list(Document.objects.filter(knowledge_base=base))
    assert len(documents) == (0 if name in NO_NAME | NO_FORMAT else 3)
    for document in documents:
        shown = document.original_filename
        assert 0 < len(shown) <= 255 and not set(shown) & set("/\\") and shown not in (".", "..")
        assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"}
        assert not {unicodedata.bidirectional(character) for character in shown} & {"RLO", "LRO", "RLE", "LRE", "RLI"}
        assert shown in listed and escape(shown) in list_page and escape(shown) in admin_page
        assert document.file.name == f"documents/{base.pk}/{document.sha256}"
    for document in {document.original_filename: document for document in documents}.values():
        shown = document.original_filename
        handed = as_owner.get(reverse("document-file", args=[document.pk]))
        assert handed.status_code == 200 and handed.headers["Content-Disposition"].isascii()
        for client, address in (
            (as_owner, reverse("document", args=[document.pk])),
            (as_owner, f"{reverse('knowledge-base', args=[base.pk])}?q={quote(shown[:50])}"),
            (as_staff, reverse("admin:knowledge_document_change", args=[document.pk])),
        ):
            assert client.get(address).status_code == 200
