"""Responses to random requests, and to those at the limits of the schema, conform to the OpenAPI document."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import httpx
import pytest

from tests.prepared import site_folder
from tests.site import PATIENCE, ROOT, Site, run_command

pytestmark = [pytest.mark.site, pytest.mark.nightly, pytest.mark.xdist_group("contract")]


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


@pytest.mark.timeout(3600)
def test_every_response_conforms_to_the_document(api: Api, tmp_path: Path) -> None:
    document = httpx.get(f"{api.url}/api/schema/?format=json", headers=api.headers, timeout=PATIENCE).json()
    (tmp_path / "schema.json").write_text(json.dumps(document))
    (tmp_path / "schemathesis.toml").write_text(_configuration(api))
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "run", "schema.json", "--url", api.url, "--no-color",
        "--checks", "all", "--phases", "coverage,fuzzing", "--max-examples", "3", "--seed", "1",
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
