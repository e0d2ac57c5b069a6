"""A client generated from the OpenAPI document works: it lists, uploads, searches and asks."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from drf_spectacular.generators import SchemaGenerator

from knowledge.ingestion import worker
from knowledge.models import KnowledgeBase
from ragsite.accounts.tokens import create_token
from ragsite.db import in_database
from tests import factories
from tests.site import PATIENCE
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)
PACKAGE = "ragsite_client"


@pytest.fixture
def generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Generate the client as a package that can be imported."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    # The client's own formatting is left out: it changes nothing, and takes time.
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    command = [
        sys.executable, "-m", "openapi_python_client", "generate", "--path", str(path), "--meta", "none",
        "--output-path", str(tmp_path / PACKAGE), "--config", str(tmp_path / "config.yml"),
    ]  # fmt: skip
    made = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert "WARNING" not in made.stdout + made.stderr
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    return factories.make_knowledge_base(owner)


async def test_a_generated_client_lists_uploads_searches_and_asks(
    generated: None, owner: User, base: KnowledgeBase
) -> None:
    from ragsite.asgi import application

    package, models, types = (importlib.import_module(f"{PACKAGE}{part}") for part in ("", ".models", ".types"))
    token = await in_database(create_token, owner, "client")
    client = package.AuthenticatedClient("http://testserver", token, prefix="Token")
    client.set_async_httpx_client(
        httpx.AsyncClient(
            transport=httpx.ASGITransport(application),
            base_url="http://testserver",
            headers={"Authorization": f"Token {token}"},
            timeout=PATIENCE,
        )
    )

    (found,) = (await _call("knowledge_bases.knowledge_bases_list", client=client)).results
    assert found.id == base.pk
    file = types.File(BytesIO(b"# Lamps\n\nThe zirconium lamp burns for 4711 hours."), "guide/lamps/zirconium.md")
    create = "knowledge_bases.knowledge_bases_documents_create"
    (added,) = await _call(create, base.pk, client=client, body=models.UploadRequest([file]))
    assert (added.filename, added.folder, added.already_here) == ("zirconium.md", "guide/lamps", False)
    await in_database(worker.work)
    assert (await _call("documents.documents_retrieve", added.id, client=client)).status == "ready"

    query = models.SearchRequestRequest("How long does the zirconium lamp burn?", knowledge_bases=[base.pk])
    assert (await _call("search.search", client=client, body=query)).hits[0].document_id == added.id
    question = models.ConversationRequest("How long does the lamp burn?")
    stream = await _call("chat.chat_conversation_create", client=client, body=question)
    assert "4711" in stream and stream.rstrip().endswith("data: DONE:")
    (message,) = [line for line in stream.splitlines() if line.startswith("data: MESSAGE:")]
    answer = await _call("chat.chat_messages_retrieve", int(message.rpartition(":")[2]), client=client)
    assert "4711" in answer.content and answer.role == "assistant"

    missing = await _call("documents.documents_retrieve", 10**9, client=client)
    assert isinstance(missing, models.ApiError) and missing.code == "not_found"
    await wait_for_all()


async def _call(name: str, *arguments: Any, **named: Any) -> Any:
    return await importlib.import_module(f"{PACKAGE}.api.{name}").asyncio(*arguments, **named)
