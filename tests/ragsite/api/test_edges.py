"""Edge cases of the API: large or malformed bodies, limits, folders, other origins, and privacy."""

import gzip
import json
import logging
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from conversations.models import ChatSession, Message
from conversations.turns.lifecycle import TurnRefused
from knowledge.api.views import BulkJobs
from knowledge.models import Document, KnowledgeBase
from ragsite import env
from ragsite.api.base import exception_handler
from ragsite.api.uploads import InUtf8
from ragsite.exceptions import Refused
from ragsite.runtime.logs import TracebackOfFaults
from retrieval.evaluation.api.views import RunList
from retrieval.evaluation.models import EvaluationSet
from tests import factories
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

BOUNDARY = "edge"
MULTIPART_CONTENT = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture
def base(owner: Any) -> KnowledgeBase:
    return factories.make_knowledge_base(owner)


def signed_in(user: Any, checked: bool) -> tuple[Client, dict[str, str]]:
    """Return the client of a user's session; `checked`, one that needs the headers, as a browser does."""
    client = Client(enforce_csrf_checks=checked)
    client.force_login(user)
    client.get("/account/")  # sets the cookie that the header repeats
    return client, {"x-csrftoken": client.cookies["csrftoken"].value} if checked else {}


def form(name: str, **fields: str) -> bytes:
    """Return a multipart form of a file of this name, which Django's client would cut at its last slash."""
    parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}' for key, value in fields.items()]
    parts.append(f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\ntext of {name}')
    return "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts).encode() + f"--{BOUNDARY}--\r\n".encode()


@pytest.mark.parametrize("address", ["/api/search", "/api/chat/conversation", "/api/memory/facts"])
@pytest.mark.parametrize("checked", [False, True])
def test_a_body_above_the_limit_gets_the_error_in_json(owner: Any, address: str, checked: bool) -> None:
    client, headers = signed_in(owner, checked)
    body = json.dumps({"query": "x" * site_settings.DATA_UPLOAD_MAX_MEMORY_SIZE})
    response = client.post(address, body, content_type="application/json", headers=headers)
    assert response.status_code == 413
    assert response.json() == {"detail": "The request is too large.", "code": "too_large"}


@pytest.mark.parametrize("form_type", ["application/x-www-form-urlencoded", MULTIPART_CONTENT])
def test_too_many_fields_get_the_error_in_json(as_owner: Client, form_type: str) -> None:
    if form_type == MULTIPART_CONTENT:
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
        body = part * 2000 + f"--{BOUNDARY}--\r\n"
    else:
        body = "a=1&" * 200_000
    response = as_owner.post("/api/search", body, content_type=form_type)
    assert response.status_code == 413 and response.json()["code"] == "too_large"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("application/json", "{"), ("application/json", b"\xff\xfe"), ("multipart/form-data; boundary=é", "x")],
)
def test_a_malformed_body_gets_the_error_in_json(as_owner: Client, content_type: str, body: Any) -> None:
    response = as_owner.post("/api/search", body, content_type=content_type)
    assert response.status_code == 400 and set(response.json()) == {"detail", "code"}


@pytest.mark.parametrize("address", ["/api/search", "/api/chat/conversation", "/api/knowledge-bases/{}/documents"])
@pytest.mark.parametrize("content_type", ["application/json", MULTIPART_CONTENT])
def test_a_compressed_body_is_rejected_with_a_message(
    as_owner: Client, base: KnowledgeBase, address: str, content_type: str
) -> None:
    body, headers = gzip.compress(b"{}"), {"content-encoding": "gzip"}
    response = as_owner.post(address.format(base.pk), body, content_type=content_type, headers=headers)
    assert response.status_code == 415 and response.json()["code"] == "unsupported_media_type"
    assert "gzip" in response.json()["detail"]


@pytest.mark.parametrize(
    "metadata",
    ["[" * 100_000, '{"a": %s}' % ("9" * 400), '{"a": %s}' % ("9" * 5000)],
    ids=["deep", "too large", "too many digits"],
)
def test_invalid_fields_of_an_upload_are_rejected(as_owner: Client, base: KnowledgeBase, metadata: str) -> None:
    body = form("a.md", metadata=metadata)
    response = as_owner.post(f"/api/knowledge-bases/{base.pk}/documents", body, content_type=MULTIPART_CONTENT)
    assert response.status_code == 400 and list(response.json()["errors"]) == ["metadata"]


@pytest.mark.parametrize("body", ['{"query": "x", "mode": "\\uD800"}', '{"query": "\\udc00"}', '{"\\ud800": 1}'])
def test_unpaired_surrogates_are_rejected(as_owner: Client, body: str) -> None:
    response = as_owner.post("/api/search", body, content_type="application/json")
    assert response.status_code == 400 and response.json()["code"] == "parse_error"


def test_values_in_a_form_are_parsed(as_owner: Client) -> None:
    form = {"query": "x", "k": "3", "merge_neighbours": "true", "mode": "fulltext", "vector_weight": "0.5"}
    assert as_owner.post("/api/search", form).status_code == 200
    assert as_owner.post("/api/search", form, content_type="application/json").status_code == 400


@pytest.mark.parametrize("address", ["/api", "/api/", "/api/documents/1/", "/api/documents/-1", "/api/chat"])
def test_unknown_routes_answer_in_json(as_owner: Client, anonymous: Client, address: str) -> None:
    for client in (as_owner, anonymous):
        response = client.get(address)
        assert response.status_code == 404 and response.json()["code"] == "not_found"


@override_settings(ALLOWED_HOSTS=["ask.example.com"])
def test_an_unknown_host_gets_the_error_in_json() -> None:
    response = Client().get("/api/knowledge-bases", headers={"host": "evil.example.com"})
    assert response.status_code == 400 and response.json()["code"] == "bad_request"


def test_a_turn_above_the_limit_says_when_to_come_back() -> None:
    response = exception_handler(TurnRefused("too_many_turns", "Wait."), {})
    assert response is not None and response.status_code == 429 and int(response["Retry-After"]) > 0
    other = exception_handler(TurnRefused("request_id_taken", "Taken."), {})
    assert other is not None and other.status_code == 409 and "Retry-After" not in other


@pytest.mark.parametrize(
    ("view", "code", "status"),
    [
        (None, "too_many", 409),
        (BulkJobs(), "too_many", 400),
        (BulkJobs(), "name_taken", 409),
        (None, "no_questions", 400),
        (RunList(), "no_questions", 409),
        (None, "anything", 400),
    ],
)
def test_a_refusal_has_the_status_of_its_code(view: Any, code: str, status: int) -> None:
    response = exception_handler(Refused(code, "No."), {"view": view})
    assert response is not None and response.status_code == status
    assert response.data == {"detail": "No.", "code": code} and "Retry-After" not in response


@pytest.mark.parametrize("checked", [False, True])
def test_uploads_keep_the_folder(owner: Any, base: KnowledgeBase, checked: bool) -> None:
    client, headers = signed_in(owner, checked)
    url = reverse("api-documents", args=[base.pk])
    for name, given, folder in [
        ("guide/admin/setup.md", {}, "guide/admin"),
        ("guide\\\\ports.md", {}, "guide"),
        ("../../etc/passwd.txt", {}, "etc"),
        ("plain.md", {}, ""),
        ("told.md", {"folder": "manuals/2024"}, "manuals/2024"),
    ]:
        response = client.post(url, form(name, **given), content_type=MULTIPART_CONTENT, headers=headers)
        assert response.status_code == 202, response.content
        assert response.json()[0]["folder"] == folder
    assert Document.objects.get(original_filename="setup.md").path == "guide/admin/setup.md"


def test_several_files_keep_each_its_own_folder(as_owner: Client, base: KnowledgeBase) -> None:
    one, two = form("a/one.md"), form("two.md")
    body = one.removesuffix(f"--{BOUNDARY}--\r\n".encode()) + two
    response = as_owner.post(reverse("api-documents", args=[base.pk]), body, content_type=MULTIPART_CONTENT)
    assert [(item["folder"], item["filename"]) for item in response.json()] == [("a", "one.md"), ("", "two.md")]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("Übersicht für Größen.md", "latin-1"),
        ("naïve/été.md", "latin-1"),
        ("交换机手册.md", "gbk"),
        ("手册/端口镕.md", "gbk"),
        ("手册.md", "utf-8"),
    ],
)
def test_files_whose_names_are_not_in_utf8_are_kept(
    as_owner: Client, base: KnowledgeBase, name: str, encoding: str
) -> None:
    body = form("NAME", folder="told").replace(b'"NAME"', b'"' + name.encode(encoding) + b'"')
    response = as_owner.post(reverse("api-documents", args=[base.pk]), body, content_type=MULTIPART_CONTENT)
    assert response.status_code == 202, response.content
    (added,) = response.json()
    assert Document.objects.get(pk=added["id"]).path == (name if "/" in name else f"told/{name}")


def questions_named(name: bytes, base: KnowledgeBase) -> bytes:
    """Return a form that makes an evaluation set of a file with one question."""
    line = json.dumps({"question": "How long?", "relevant": ["Handbook.pdf"]})
    body = form("FILE", NAME="Golden", knowledge_base=str(base.pk)).replace(b'"NAME"', b'"name"')
    return body.replace(b'"FILE"', b'"' + name + b'"').replace(b"text of FILE", line.encode())


@pytest.mark.parametrize("name", ["Größen.jsonl".encode("latin-1"), "问题.jsonl".encode("gbk")])
@pytest.mark.parametrize("address", ["/api/evaluation-sets", "/evaluation/"])
def test_questions_in_a_file_whose_name_is_not_in_utf8_are_taken(
    as_owner: Client, base: KnowledgeBase, name: bytes, address: str
) -> None:
    factories.make_document(base, "Handbook.pdf")
    response = as_owner.post(address, questions_named(name, base), content_type=MULTIPART_CONTENT)
    assert response.status_code in (201, 302), response.content
    assert EvaluationSet.objects.get().questions.count() == 1


@pytest.mark.parametrize("address", ["/api/evaluation-sets", "/evaluation/"])
def test_a_file_without_a_usable_name_is_rejected(as_owner: Client, base: KnowledgeBase, address: str) -> None:
    response = as_owner.post(address, questions_named(b"..", base), content_type=MULTIPART_CONTENT)
    assert response.status_code == 400
    assert not EvaluationSet.objects.exists()


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_only_headers_are_converted_wherever_a_read_splits_them(size: int) -> None:
    part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n%b\r\n'
    content = bytes(range(256)) * 30 + b"\r\n--edg\r\n\r\n\xe9"
    sent = part % ("é.md".encode("latin-1"), content) + part % ("文.md".encode("gbk"), content) + b"--edge--\r\n"
    stream = InUtf8(BytesIO(sent), b"edge")
    assert b"".join(iter(lambda: stream.read(size), b"")) == (
        part % ("é.md".encode(), content) + part % ("文.md".encode(), content) + b"--edge--\r\n"
    )


def test_messages_are_listed_newest_first_on_request(owner: Any, as_owner: Client) -> None:
    session = make_session(owner)
    make_turn(session)
    make_turn(session)
    url = f"/api/chat/sessions/{session.pk}/content"
    oldest = [item["id"] for item in as_owner.get(url).json()["results"]]
    assert len(oldest) == 4 == Message.objects.filter(turn__session=session).count()
    assert [item["id"] for item in as_owner.get(f"{url}?ordering=created_at").json()["results"]] == oldest
    newest = as_owner.get(f"{url}?ordering=-created_at&page_size=1").json()["results"]
    assert [item["id"] for item in newest] == oldest[-1:]
    assert as_owner.get(f"{url}?ordering=size").status_code == 400


def test_chats_and_messages_are_ordered_and_limited_to_a_time(owner: Any, as_owner: Client) -> None:
    now = timezone.now()
    times = {"Old": now - timedelta(days=3), "New": now, "Middle": now - timedelta(days=1)}
    chats = {title: make_session(owner, title, last_activity_at=time) for title, time in times.items()}

    def titles(**query: str) -> list[str]:
        return [item["chat_title"] for item in as_owner.get("/api/chat/sessions", query).json()["results"]]

    assert titles(ordering="chat_time") == ["Old", "Middle", "New"] == titles(ordering="-chat_time")[::-1]
    assert titles(ordering="created_at") == list(times)
    assert titles(since=(now - timedelta(days=2)).isoformat()) == ["New", "Middle"]
    make_turn(chats["New"])
    url = f"/api/chat/sessions/{chats['New'].pk}/content"
    assert as_owner.get(url, {"since": now.isoformat()}).json()["count"] == 2
    assert as_owner.get(url, {"since": (timezone.now() + timedelta(hours=1)).isoformat()}).json()["count"] == 0


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("chat/sessions", "ordering=title"),
        ("chat/sessions", "ordering="),
        ("chat/sessions", "since=yesterday"),
        ("chat/sessions", "since="),
        ("chat/sessions", "since=0000-13-01"),
        ("chat/sessions", "since=9999-12-31T23:59:59-12:00"),
        ("knowledge-bases", "ordering=name"),
        ("evaluation-sets", "since=2026-01-01"),
    ],
)
def test_an_unknown_order_or_an_invalid_time_is_refused(as_owner: Client, path: str, query: str) -> None:
    response = as_owner.get(f"/api/{path}?{query}")
    assert response.status_code == 400 and query.partition("=")[0] in response.json()["errors"]


@pytest.mark.parametrize("query", ["page_size=0", "page_size=many", "page=0", "page=", "page_size=-1"])
def test_a_page_is_counted_from_one(as_owner: Client, query: str) -> None:
    assert as_owner.get(f"/api/knowledge-bases?{query}").status_code == 400


@pytest.mark.parametrize(
    "address", ["/", "/account/", "/login/", "/api/knowledge-bases", "/api/nonsense", "/api/docs/", "/api/docs/try/"]
)
def test_private_responses_are_not_cached(as_owner: Client, address: str) -> None:
    response = as_owner.get(address, follow=True)
    assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))


def test_exports_and_chats_are_not_cached(owner: Any, as_owner: Client) -> None:
    session = make_session(owner)
    make_turn(session)
    for address in (f"/api/chat/sessions/{session.pk}/export.json", f"/api/chat/sessions/{session.pk}/export.md"):
        assert as_owner.get(address)["Cache-Control"] == "private, no-store"
    assert ChatSession.objects.filter(pk=session.pk).exists()


def test_the_docs_have_a_policy_that_lets_no_script_of_the_page_run(as_owner: Client) -> None:
    page = as_owner.get("/api/docs/try/")
    policy = dict(part.strip().split(" ", 1) for part in page["Content-Security-Policy"].split(";"))
    assert policy["script-src"] == "'self'" and policy["default-src"] == "'self'"
    assert "<script>" not in page.content.decode()
    assert as_owner.get("/api/docs/try/?script=")["Content-Type"].startswith("application/javascript")


def test_a_refusal_is_logged_without_a_traceback(as_colleague: Client, base: KnowledgeBase, colleague: Any) -> None:
    factories.share(base, colleague)
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("django.request")
    assert any(isinstance(found, TracebackOfFaults) for found in logger.filters)
    logger.addHandler(handler)
    try:
        upload = {"file": SimpleUploadedFile("a.txt", b"a")}
        assert as_colleague.post(f"/knowledge/{base.pk}/upload/", upload).status_code in (403, 404)
        assert as_colleague.delete(f"/api/knowledge-bases/{base.pk}").status_code == 403
    finally:
        logger.removeHandler(handler)
    assert records and not any(record.exc_info for record in records)


def test_other_origins_are_allowed_by_setting_only(settings: Settings) -> None:
    asked = {"origin": "https://app.example.com", "access-control-request-method": "POST"}
    asked["access-control-request-headers"] = "authorization,content-type,last-event-id"
    client = Client()
    assert "Access-Control-Allow-Origin" not in client.options("/api/search", headers=asked)
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example.com"]
    allowed = client.options("/api/search", headers=asked)
    assert allowed["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert {"authorization", "last-event-id"} <= set(allowed["Access-Control-Allow-Headers"].split(", "))
    assert "Access-Control-Allow-Credentials" not in allowed
    assert "Retry-After" in client.get("/api/search", headers=asked)["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Origin" not in client.get("/login/", headers=asked)
    assert "Access-Control-Allow-Origin" not in client.options("/api/search", headers=asked | {"origin": "https://b.c"})


@pytest.mark.parametrize("value", ["app.example.com", "https://app.example.com/", "ftp://a.b", "https://a.b/c"])
def test_an_invalid_origin_is_reported_at_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RAGSITE_CORS_ORIGINS", value)
    with pytest.raises(ImproperlyConfigured, match="RAGSITE_CORS_ORIGINS"):
        env.origins("RAGSITE_CORS_ORIGINS")
    monkeypatch.setenv("RAGSITE_CORS_ORIGINS", "https://a.b, http://localhost:5173,*")
    assert env.origins("RAGSITE_CORS_ORIGINS") == ["https://a.b", "http://localhost:5173", "*"]
