"""The API conforms to its OpenAPI document, tested by schemathesis and a generated client."""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import httpx
import pytest

from tests import nightly
from tests.prepared import site_folder
from tests.site import PATIENCE, ROOT, Site, run_command

# Random requests for each operation; nightly runs also send some sixty at the limits of what its schema allows.
EXAMPLES = 3 if nightly.takes_all else 1
PHASES = "coverage,fuzzing" if nightly.takes_all else "fuzzing"


@dataclass(frozen=True)
class Api:
    """A running site's API, and a person's token for it."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Token {self.token}"}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    """A site with the sample documents, without a language model."""
    with (
        site_folder() as data_dir,
        Site(data_dir, API_REQUESTS_PER_MINUTE="0") as site,
    ):
        yield Api(site.url, run_command(data_dir, "create_token", "demo").stdout.split()[-1])


@pytest.fixture(scope="module")
def document(api: Api) -> Any:
    """The OpenAPI document as the site serves it."""
    return httpx.get(f"{api.url}/api/schema/?format=json", headers=api.headers, timeout=PATIENCE).json()


pytestmark = [pytest.mark.site, pytest.mark.xdist_group("contract")]


@pytest.mark.timeout(3600)  # at night
def test_every_response_conforms_to_the_document(api: Api, document: Any, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(document))
    (tmp_path / "schemathesis.toml").write_text(_configuration(api))
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "run", "schema.json", "--url", api.url, "--no-color",
        "--checks", "all", "--phases", PHASES, "--max-examples", str(EXAMPLES), "--seed", "1",
        "--generation-database", "none", "--warnings", "off", "--continue-on-failure",
    ]  # fmt: skip
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "tests.contract_hooks", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Tested: {sum(map(len, document['paths'].values()))}\n" in done.stdout


def _configuration(api: Api) -> str:
    """Return the configuration of schemathesis: the token, existing IDs, and the expected responses.

    A valid request may be refused because of permissions or an object's state, or because its file is too large or of
    an unsupported type, but never with 400.
    """
    # Objects that other operations need aren't deleted.
    operations = "".join(
        f"""
        [[operations]]
        include-path-regex = "^{path}/"
        exclude-method = "DELETE"
        parameters = {{ {", ".join(f'"path.{name}" = {value}' for name, value in ids.items())} }}
        """
        for path, ids in _existing(api).items()
    )
    return dedent(
        f"""
        headers = {{ Authorization = "Token {api.token}" }}
        [checks.positive_data_acceptance]
        expected-statuses = ["2xx", "403", "404", "409", "410", "413", "415", "429"]
        [checks.negative_data_rejection]
        expected-statuses = ["400", "404", "405", "406", "409", "413", "415", "429"]
        """
    ) + dedent(operations)


def _existing(api: Api) -> dict[str, dict[str, int]]:
    """Create an object of each kind, and return their IDs by the beginning of a path."""
    with httpx.Client(base_url=api.url, headers=api.headers, timeout=PATIENCE) as client:
        session = client.post("/api/chat/sessions", json={}).json()["session_id"]
        base = client.post("/api/knowledge-bases", json={"name": f"Switches {session}"}).json()["id"]
        upload = {"file": ("switch.md", f"The LS-2408 has 24 ports, says page {session}.")}
        document = client.post(f"/api/knowledge-bases/{base}/documents", files=upload).json()[0]["id"]
        deadline = time.monotonic() + PATIENCE
        while client.get(f"/api/documents/{document}").json()["status"] != "ready":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        client.post(f"/api/chat/sessions/{session}/content", json={"content": "How many ports has the LS-2408?"})
        answer = client.get(f"/api/chat/sessions/{session}/content?ordering=-created_at").json()["results"][0]["id"]
        fact = client.post("/api/memory/facts", json={"content": "I like short answers."}).json()["id"]
        passage = client.get(f"/api/documents/{document}/chunks").json()["results"][0]["id"]
        questions = [{"question": "How many ports?", "relevant": [passage]}]
        body = {"name": "Asked", "knowledge_base": base, "questions": questions}
        asked = client.post("/api/evaluation-sets", json=body).json()["id"]
        run = client.post(f"/api/evaluation-sets/{asked}/runs", json={}).json()["id"]
    return {
        "/api/knowledge-bases": {"id": base},
        "/api/documents": {"id": document},
        "/api/chat/sessions": {"id": session, "session_id": session, "message_id": answer},
        "/api/chat/messages": {"id": answer},
        "/api/evaluation-sets": {"id": asked},
        "/api/evaluation-runs": {"id": run},
        "/api/memory/facts": {"id": fact},
    }


def test_a_generated_client_lists_uploads_searches_and_asks(
    api: Api, document: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _generate(document, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("ragsite_client")
    models = importlib.import_module("ragsite_client.models")
    types = importlib.import_module("ragsite_client.types")
    client = package.AuthenticatedClient(api.url, api.token, prefix="Token", timeout=PATIENCE)

    base = _call("knowledge_bases.knowledge_bases_list", client=client).results[0]
    file = types.File(BytesIO(b"# Lamps\n\nThe zirconium lamp burns for 4711 hours."), "guide/lamps/zirconium.md")
    (added,) = _call(
        "knowledge_bases.knowledge_bases_documents_create", base.id, client=client, body=models.UploadRequest([file])
    )
    assert (added.filename, added.folder, added.already_here) == ("zirconium.md", "guide/lamps", False)
    deadline = time.monotonic() + PATIENCE
    while (state := _call("documents.documents_retrieve", added.id, client=client)).status != "ready":
        assert state.status != "failed" and time.monotonic() < deadline
        time.sleep(0.2)

    query = models.SearchRequestRequest("How long does the zirconium lamp burn?", knowledge_bases=[base.id])
    assert _call("search.search", client=client, body=query).hits[0].document_id == added.id
    stream = _call(
        "chat.chat_conversation_create", client=client, body=models.ConversationRequest("How long does the lamp burn?")
    )
    assert "4711" in stream and stream.rstrip().endswith("data: DONE:")
    (message,) = [line for line in stream.splitlines() if line.startswith("data: MESSAGE:")]
    answer = _call("chat.chat_messages_retrieve", int(message.rpartition(":")[2]), client=client)
    assert "4711" in answer.content and answer.role == "assistant"

    missing = _call("documents.documents_retrieve", 10**9, client=client)
    assert isinstance(missing, models.ApiError) and missing.code == "not_found"


def _generate(document: Any, folder: Path) -> None:
    path = folder / "schema.json"
    path.write_text(json.dumps(document))
    # The client's own formatting is left out: it changes nothing, and takes time.
    (folder / "config.yml").write_text("post_hooks: []\n")
    command = [
        sys.executable, "-m", "openapi_python_client", "generate", "--path", str(path), "--meta", "none",
        "--output-path", str(folder / "ragsite_client"), "--config", str(folder / "config.yml"),
    ]  # fmt: skip
    made = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert "WARNING" not in made.stdout + made.stderr


def _call(name: str, *arguments: Any, **named: Any) -> Any:
    return importlib.import_module(f"ragsite_client.api.{name}").sync(*arguments, **named)
