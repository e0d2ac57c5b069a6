"""The requests on the API's page, sent one after the other to a new site, get the responses of the OpenAPI document."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.color import no_style
from django.db import connection
from django.db.models import AutoField
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from django.urls import resolve
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from conversations.models import Message
from knowledge.models import KnowledgeBase
from ragsite.accounts.tokens import create_token
from ragsite.db import in_database
from tests.conversations.conftest import index_document
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = Path(site_settings.BASE_DIR) / "docs" / "api.md"


@pytest.fixture(autouse=True)
def ids_from_one(transactional_db: None) -> None:
    """Restart the ids of empty tables from 1, as used on the page."""
    empty = [
        {"table": model._meta.db_table, "column": model._meta.pk.column}
        for model in apps.get_models()
        if isinstance(model._meta.pk, AutoField) and not model._base_manager.exists()
    ]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_by_name_sql(no_style(), empty):
            cursor.execute(statement)


def _requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the method, path and arguments of each curl request."""
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^curl .*$", block.replace("\\\n", " "), re.MULTILINE):
            words = shlex.split(line.replace('"$AUTH"', "AUTH").replace("$API", "/api"))[1:]
            method, url, given, headers = "", "", {}, {}
            while words:
                match words.pop(0):
                    case "-X":
                        method = words.pop(0)
                    case "-H":
                        name, _, value = words.pop(0).partition(": ")
                        headers |= {name: value} if value else {}
                    case "--json":
                        given = {"data": words.pop(0), "content_type": "application/json"}
                    case "-F":
                        name, _, value = words.pop(0).partition("=")
                        file = SimpleUploadedFile(value[1:], b"%PDF-1.4\n%%EOF") if value.startswith("@") else value
                        given = {"data": given.get("data", {}) | {name: file}}
                    case "-N":
                        pass
                    case word:
                        url = word
            yield method or ("POST" if given else "GET"), url, given | {"headers": headers}


def _complaints(document: Any, method: str, url: str, response: Any) -> list[str]:
    """Return how a response differs from the document: an undeclared status or type, or a body against its schema."""
    route = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", "/" + resolve(url.partition("?")[0]).route).replace("{pk}", "{id}")
    paths = {path.replace("{pk}", "{id}"): item for path, item in document["paths"].items()}
    declared = paths[route][method.lower()]["responses"]
    if str(response.status_code) not in declared:
        return [f"{method} {url}: {response.status_code} is not declared"]
    content = declared[str(response.status_code)].get("content", {})
    media_type = response.headers.get("Content-Type", "").partition(";")[0]
    if not content and not response.content:
        return []
    if media_type not in content:
        return [f"{method} {url}: {media_type} is not declared"]
    if media_type != "application/json":
        return []
    schema = content[media_type]["schema"] | {"components": document["components"]}
    errors = Draft202012Validator(schema).iter_errors(response.json())
    return [f"{method} {url}: {error.json_path}: {error.message}" for error in errors]


async def test_each_is_answered_as_documented(owner: User, handbook: KnowledgeBase) -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)
    for years in range(4):  # as many documents as a new site has
        await in_database(index_document, handbook, (f"The warranty is {years} years.",), f"{years}.txt")
    token = await in_database(create_token, owner, "docs")
    done = 0
    for method, url, given in _requests():
        given["headers"]["Authorization"] = f"Token {token}"
        response = await getattr(AsyncClient(), method.lower())(url, **given)
        if isinstance(response, StreamingHttpResponse):
            assert b"ERROR" not in b"".join([chunk async for chunk in response])
        else:
            assert _complaints(document, method, url, response) == []
        assert response.status_code < 300, (method, url)
        done += 1
    assert done > 18
    await wait_for_all()
    assert await Message.objects.filter(role=Message.Role.ASSISTANT).exclude(content="").acount() >= 2
