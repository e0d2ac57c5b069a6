"""The OpenAPI document is generated without warnings, and its page needs no CDN."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from ragsite import settings as site

DOCUMENTED = {
    "/api/chat/sessions": {"get", "post"},
    "/api/chat/sessions/{id}": {"get", "put", "patch", "delete"},
    "/api/chat/sessions/{id}/content": {"get", "post"},
    "/api/chat/sessions/{id}/content/{message_id}/stream": {"get"},
    "/api/chat/sessions/{id}/export.json": {"get"},
    "/api/chat/sessions/{id}/export.md": {"get"},
    "/api/chat/sessions/{session_id}/share-links": {"get", "post"},
    "/api/chat/share-links/{uuid}": {"delete"},
    "/api/chat/messages/{id}/continue": {"post"},
    "/api/chat/messages/{id}": {"get"},
    "/api/chat/messages/{id}/citations": {"get"},
    "/api/chat/messages/{id}/trace": {"get"},
    "/api/chat/messages/{id}/stop": {"post"},
    "/api/chat/messages/{id}/regenerate": {"post"},
    "/api/chat/messages/{id}/feedback": {"put", "delete"},
    "/api/chat/conversation": {"post"},
    "/api/knowledge-bases": {"get", "post"},
    "/api/knowledge-bases/{id}": {"get", "put", "patch", "delete"},
    "/api/knowledge-bases/{id}/documents": {"get", "post"},
    "/api/documents/{id}": {"get", "delete"},
    "/api/documents/{id}/chunks": {"get"},
    "/api/documents/{id}/file": {"get"},
    "/api/documents/{id}/reingest": {"post"},
    "/api/documents/{id}/cancel": {"post"},
    "/api/search": {"post"},
    "/api/evaluation-sets": {"get", "post"},
    "/api/evaluation-sets/{id}": {"get", "patch", "delete"},
    "/api/evaluation-sets/{id}/questions": {"get", "post"},
    "/api/evaluation-sets/{id}/questions/{question_id}": {"delete"},
    "/api/evaluation-sets/{id}/export": {"get"},
    "/api/evaluation-sets/{id}/runs": {"get", "post"},
    "/api/evaluation-runs/{id}": {"get", "delete"},
    "/api/evaluation-runs/{id}/results": {"get"},
}


@pytest.fixture
def schema() -> Any:
    GENERATOR_STATS.reset()
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_schema_is_made_without_a_warning(schema: Any, capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.emit_summary()
    assert capsys.readouterr().err == ""
    assert schema["openapi"].startswith("3.1")
    assert "'nullable'" not in str(schema), "unknown to 3.1"


def test_the_schema_has_every_route_of_the_protocol(schema: Any) -> None:
    for path, methods in DOCUMENTED.items():
        shown = {re.sub(r"\{pk\}", "{id}", name): item for name, item in schema["paths"].items()}
        assert path in shown, path
        assert methods <= set(shown[path]), path


def test_every_api_route_is_in_the_schema(schema: Any) -> None:
    routes = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route).replace("{pk}", "{id}")
        for route in _routes(get_resolver())
        if route.startswith("/api/") and route not in ("/api/schema/", "/api/docs/", "/api/docs/try/")
    }
    assert routes == {path.replace("{pk}", "{id}") for path in schema["paths"]}


def _routes(resolver: URLResolver, prefix: str = "/") -> list[str]:
    found: list[str] = []
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        found += _routes(pattern, route) if isinstance(pattern, URLResolver) else [route]
        assert isinstance(pattern, URLPattern | URLResolver)
    return found


def test_streams_are_declared_as_such(schema: Any) -> None:
    for path in ("/api/chat/sessions/{id}/content", "/api/chat/conversation"):
        assert "text/event-stream" in schema["paths"][path]["post"]["responses"]["200"]["content"]


def test_all_references_resolve(schema: Any) -> None:
    described = {f"#/components/schemas/{name}" for name in schema["components"]["schemas"]}
    referred = set(re.findall(r"'\$ref': '([^']+)'", str(schema)))
    streams = {f"#/components/schemas/{name}" for name in ("StepStreamEvent", "ConversationStreamEvent", "StepFrame")}
    assert streams <= referred <= described


def test_files_are_sent_as_bytes(schema: Any) -> None:
    upload, questions = (schema["components"]["schemas"][name] for name in ("UploadRequest", "SetFileRequest"))
    assert upload["properties"]["file"]["items"] == {"type": "string", "format": "binary"}
    assert questions["properties"]["file"]["format"] == "binary"
    sent = schema["paths"]["/api/knowledge-bases/{id}/documents"]["post"]["requestBody"]["content"]
    assert set(sent) == {"multipart/form-data"}


def test_pages_are_what_reading_a_list_answers_with(schema: Any) -> None:
    documents = schema["paths"]["/api/knowledge-bases/{id}/documents"]
    added = documents["post"]["responses"]["202"]["content"]["application/json"]["schema"]
    listed = documents["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert added == {"type": "array", "items": {"$ref": "#/components/schemas/AddedDocument"}}
    assert listed == {"$ref": "#/components/schemas/PaginatedDocumentList"}


def test_what_only_the_site_sets_is_not_asked_of_clients(schema: Any) -> None:
    schemas = schema["components"]["schemas"]
    sent = {name: shape for name, shape in schemas.items() if name.endswith("Request")}
    assert sent["KnowledgeBaseRequest"]["required"] == ["name"]
    assert {"id", "owner", "role", "created_at"} <= set(schemas["KnowledgeBase"]["required"])
    read_only = [
        (name, field)
        for name, shape in sent.items()
        for field, value in shape.get("properties", {}).items()
        if value.get("readOnly")
    ]
    assert read_only == []


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/api/knowledge-bases/{id}/documents", {"q", "status"}),
        ("/api/chat/sessions", {"q", "ordering", "since"}),
        ("/api/chat/sessions/{id}/content", {"ordering", "since"}),
        ("/api/chat/sessions/{id}/files", {"ordering", "since"}),
        ("/api/chat/labels", {"ordering"}),
        ("/api/chat/sessions/{id}/content/{message_id}/stream", {"Last-Event-ID"}),
        ("/api/evaluation-sets", {"knowledge_base"}),
    ],
)
def test_filters_are_declared(schema: Any, path: str, names: set[str]) -> None:
    assert names <= {parameter["name"] for parameter in schema["paths"][path]["get"]["parameters"]}


def test_errors_are_declared_in_their_shape(schema: Any) -> None:
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/ApiError"}}}
    answers = {
        (path, method): operation["responses"]
        for path, item in schema["paths"].items()
        for method, operation in item.items()
    }
    for operation, codes in answers.items():
        assert {"401", "429", "503"} <= set(codes), operation
        assert all(codes[code]["content"] == shape for code in codes if code >= "400"), operation
        assert "Retry-After" in codes["429"]["headers"] and "Retry-After" in codes["503"]["headers"], operation
    upload = answers["/api/knowledge-bases/{id}/documents", "post"]
    assert {"400", "403", "404", "413", "415"} <= set(upload)
    assert "409" in answers["/api/knowledge-bases", "post"] and "404" in answers["/api/documents/{id}", "get"]


def test_both_ways_to_authenticate_are_declared(schema: Any) -> None:
    schemes = schema["components"]["securitySchemes"]
    assert schemes["token"]["name"] == "Authorization" and any(scheme["in"] == "cookie" for scheme in schemes.values())


def test_the_schema_and_its_page_are_served(settings: Settings, as_owner: Client) -> None:
    settings.MIDDLEWARE = site.MIDDLEWARE  # which serves static files
    settings.SERVESTATIC_USE_FINDERS = True  # from where they lie, as they aren't collected here
    assert as_owner.get("/api/schema/").status_code == 200
    pages = [as_owner.get(address) for address in ("/api/docs/", "/api/docs/try/")]
    assert [page.status_code for page in pages] == [200, 200]
    addresses = {
        address.partition("#")[0] or "/"
        for page in pages
        for address in re.findall(r"""(?:src|href)=["']([^"']+)["']""", page.content.decode())
    }
    assert addresses and all(address.startswith(("/", "data:")) for address in addresses)
    for address in addresses:
        assert address.startswith("data:") or as_owner.get(address, follow=True).status_code == 200, address


def test_the_page_lists_every_operation_and_loads_nothing_to_try_them(schema: Any, anonymous: Client) -> None:
    page = anonymous.get("/api/docs/").content.decode()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            shown = re.search(rf'<li id="{re.escape(operation["operationId"])}">(.*?)</li>', page, re.DOTALL)
            assert shown and all(f">{text}<" in shown[1] for text in (method.upper(), path)), (method, path)
            assert f"/api/docs/try/#/{operation['tags'][0]}/{operation['operationId']}" in shown[1]
    assert "Return the passages found" in page and "<code>SESSION:</code>" in page
    assert "swagger" not in page and '"/account/#tokens"' in page and '"/api/schema/"' in page
    assert anonymous.post("/api/docs/").status_code == 405


def test_an_unknown_url_gets_the_error_in_json(as_owner: Client) -> None:
    response = as_owner.get("/api/nonsense")
    assert response.status_code == 404
    assert response.json() == {"detail": "There is nothing at /api/nonsense.", "code": "not_found"}
    assert b"<main" in as_owner.get("/nonsense").content


def test_the_schema_and_its_page_handle_odd_requests(as_owner: Client) -> None:
    assert "\0" not in as_owner.get("/api/schema/?version=%00")["Content-Disposition"]
    for address, status in (("/api/docs/try/?script=", 405), ("/api/schema/", 405), ("/api/schema/?format=x", 404)):
        answer = as_owner.delete(address)
        assert answer.status_code == status and set(answer.json()) == {"detail", "code"}
    assert as_owner.options("/api/docs/try/?script=").status_code == 405


@pytest.mark.parametrize("address", ["/api/search", "/api/chat/conversation", "/api/evaluation-sets"])
def test_json_that_is_nested_too_deeply_is_refused(as_owner: Client, address: str) -> None:
    response = as_owner.post(address, "[" * 100_000, content_type="application/json")
    assert response.status_code == 400
    assert response.json() == {"detail": "The JSON is nested too deeply.", "code": "parse_error"}
