"""A site in use is backed up, and restored to another data folder, to an external database, and back."""

import hashlib
import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest

from tests import prepared, site
from tests.fakes.provider import FakeProvider
from tests.site import PASSWORD, PATIENCE, Site, run_command

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("up")]


class Use(threading.Thread):
    """People who upload and delete documents and ask questions until they are told to stop."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__()
        self.client = httpx.Client(base_url=f"{url}/api", headers={"Authorization": f"Token {token}"}, timeout=PATIENCE)
        self.base = self.client.get("/knowledge-bases").json()["results"][0]["id"]
        self.rounds = 0
        self._asked_to_stop = threading.Event()

    def run(self) -> None:
        for number in count():
            added = self.upload(f"note-{number}.txt", f"Locker {number} is opened with key {number * 7}.")
            self.ask("When can I work from home?")
            if number % 2:
                self.client.delete(f"/documents/{added}")
            self.rounds += 1
            if self._asked_to_stop.is_set():
                return

    def stop(self) -> None:
        self._asked_to_stop.set()
        self.join(PATIENCE)
        assert not self.is_alive()

    def upload(self, name: str, text: str) -> int:
        sent = self.client.post(f"/knowledge-bases/{self.base}/documents", files={"file": (name, text.encode())})
        assert sent.status_code == 202, sent.text
        return int(sent.json()[0]["id"])

    def ask(self, question: str) -> None:
        session = self.client.post("/chat/sessions", json={}).json()["session_id"]
        answer = self.client.post(f"/chat/sessions/{session}/content", json={"question": question})
        assert answer.status_code == 200, answer.text


def _manifest(path: Path) -> Any:
    with zipfile.ZipFile(path) as packed:
        return json.loads(packed.read("manifest.json"))


def _rows(path: Path) -> dict[str, int]:
    return {name: table["rows"] for name, table in _manifest(path)["database"]["tables"].items()}


def _command(data_dir: Path, command: str, *arguments: str, **environment: str) -> str:
    done = run_command(data_dir, command, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _refusal(data_dir: Path, *arguments: str, **environment: str) -> str:
    done = run_command(data_dir, "restore", *arguments, **environment)
    assert done.returncode == 1, done.stdout
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def _signed_in(url: str) -> httpx.Client:
    client = httpx.Client(base_url=url, follow_redirects=True, timeout=PATIENCE)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/login/").text)
    assert token
    form = {"csrfmiddlewaretoken": token.group(1), "username": "demo", "password": PASSWORD}
    client.post("/login/", data=form, headers={"Referer": url})
    assert "sessionid" in client.cookies
    return client


def _expect_a_whole_site(restored: Site, backup: Path, token: str) -> None:
    """Sign in with the old password and token, search, and open all documents and pictures."""
    client = _signed_in(restored.url)
    api = httpx.Client(base_url=f"{restored.url}/api", headers={"Authorization": f"Token {token}"}, timeout=PATIENCE)
    found = api.post("/search", json={"query": "Locker 0 is opened with which key?"}).json()
    assert "key 0" in json.dumps(found)
    with restored.database() as database:
        documents = database.execute("SELECT id, file, sha256 FROM knowledge_document WHERE file <> ''").fetchall()
        pictures = database.execute("SELECT id FROM knowledge_picture").fetchall()
        chats = database.execute("SELECT count(*) FROM conversations_turn").fetchone()
    rows = _rows(backup)
    assert len(documents) == rows["knowledge_document"] and len(pictures) == rows["knowledge_picture"] > 0
    assert chats == (rows["conversations_turn"],)
    for number, _file, digest in documents:
        content = client.get(f"/knowledge/documents/{number}/file").content
        assert hashlib.sha256(content).hexdigest() == digest
    for (number,) in pictures:
        assert client.get(f"/knowledge/pictures/{number}").headers["Content-Type"].startswith("image/")


def _expect_a_backup_by_button(running: Site) -> None:
    client = _signed_in(running.url)
    form = {"csrfmiddlewaretoken": client.cookies["csrftoken"]}
    client.post("/admin/ragsite/backups/", data=form, headers={"Referer": running.url})
    with running.database() as database:
        query, deadline = "SELECT state, error, file, size FROM ragsite_backuprun", time.monotonic() + PATIENCE
        while (run := database.execute(query).fetchone()) is None or run[0] == "running":
            assert time.monotonic() < deadline
            time.sleep(0.2)
    assert run[:2] == ("done", "")
    assert Path(run[2]).stat().st_size == run[3]
    assert Path(run[2]).parent == running.data_dir / "backups"


@pytest.fixture(scope="module")
def original() -> Iterator[Site]:
    with (
        prepared.site_folder() as data_dir,
        FakeProvider() as provider,
        Site(data_dir, LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as running,
    ):
        yield running


@pytest.fixture(scope="module")
def token(original: Site) -> str:
    return _command(original.data_dir, "create_token", "demo").split()[-1]


@pytest.fixture(scope="module")
def backup(original: Site, token: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup made while the site was used."""
    path = tmp_path_factory.mktemp("backups") / "site.zip"
    use = Use(original.url, token)
    first = use.upload("first.txt", "Locker 0 is opened with key 0, which hangs beside it.")
    use.start()
    try:
        while use.client.get(f"/documents/{first}").json()["status"] != "ready" or use.rounds < 3:
            assert use.is_alive()
        before = use.rounds
        said = _command(original.data_dir, "backup", str(path))
    finally:
        use.stop()
    assert use.rounds > before
    assert "The backup is complete" in said
    return path


def test_a_site_that_was_backed_up_in_use_is_restored(original: Site, token: str, backup: Path) -> None:
    assert "is running. Stop it" in _refusal(original.data_dir, str(backup), "--replace")
    with site.data_folder() as data_dir:
        assert "Start it with `manage.py up`" in _command(data_dir, "restore", str(backup))
        assert "use --replace" in _refusal(data_dir, str(backup))
        assert (data_dir / "secret-key").read_text() == (original.data_dir / "secret-key").read_text()
        with Site(data_dir) as restored:
            _expect_a_whole_site(restored, backup, token)
            _expect_a_backup_by_button(restored)


def test_a_site_moves_to_an_external_database_and_back(original: Site, backup: Path, tmp_path: Path) -> None:
    with original.database() as database:
        database.execute("CREATE DATABASE external")
        host = quote(database.info.host, safe="")
    url = f"postgres://postgres@{host}/external"
    again = tmp_path / "again.zip"
    with site.data_folder() as external, site.data_folder() as data_dir:
        _command(external, "restore", str(backup), DATABASE_URL=url)
        assert not (external / "postgres").exists()
        with psycopg.connect(url):  # as a worker on another machine
            assert "is in use (other connections: 1)" in _refusal(external, str(backup), "--replace", DATABASE_URL=url)
        _command(external, "backup", str(again), DATABASE_URL=url)
        assert _rows(again) == _rows(backup)
        assert _manifest(again)["files"] == _manifest(backup)["files"]
        _command(data_dir, "restore", str(again))
        _command(data_dir, "backup", str(tmp_path / "back.zip"))
    assert _rows(tmp_path / "back.zip") == _rows(backup)


def test_a_restore_that_was_interrupted_is_reverted_at_the_next_start(backup: Path) -> None:
    with site.data_folder() as data_dir:
        _command(data_dir, "restore", str(backup))
        # As if it had been killed between the moves of files and the commit of the database.
        (data_dir / "restore.old").mkdir()
        (data_dir / "restore.old" / "state.json").write_text(json.dumps({"token": "other", "new": ["media"]}))
        (data_dir / "media").rename(data_dir / "restore.old" / "media")
        said = site.run_up(data_dir, "--port", "0")
        assert said.returncode == 1
        assert "A restore had been interrupted" in said.stderr
        assert (data_dir / "media" / "documents").exists() and not (data_dir / "restore.old").exists()
        with Site(data_dir) as running:
            _signed_in(running.url)
