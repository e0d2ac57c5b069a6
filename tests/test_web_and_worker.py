"""The processes of a site of several machines, each by itself: `manage.py web` and `manage.py worker`."""

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil
import psycopg
import pytest

from tests.fakes.provider import FakeProvider
from tests.site import PATIENCE, Site, Web, Worker, run_command

pytestmark = pytest.mark.xdist_group("up")

ENDED = re.compile("The cluster has ended; another is started")


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A folder whose database is prepared, and has the account `demo`; its server runs as long as the tests."""
    with TemporaryDirectory(prefix="ragsite-web-", ignore_cleanup_errors=True) as name:
        with Site(Path(name) / "data") as site:
            data_dir = site.data_dir
        yield data_dir


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def web(data_dir: Path, provider: FakeProvider) -> Iterator[Web]:
    with Web(data_dir, LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as web:
        yield web


@pytest.fixture(scope="module")
def api(data_dir: Path, web: Web) -> Iterator[httpx.Client]:
    token = run_command(data_dir, "create_token", "demo").stdout.split()[-1]
    headers = {"Authorization": f"Token {token}"}
    with httpx.Client(base_url=f"{web.url}/api", headers=headers, timeout=PATIENCE) as client:
        yield client


def _becomes_searchable(api: httpx.Client, name: str) -> bool:
    """Upload a document, and wait until a worker has read it."""
    base = api.get("/knowledge-bases").json()["results"][0]["id"]
    files = {"file": (name, f"What {name} says.".encode())}
    uploaded = api.post(f"/knowledge-bases/{base}/documents", files=files)
    assert uploaded.status_code in (200, 201, 202), uploaded.text
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        status = api.get(f"/knowledge-bases/{base}/documents", params={"q": name}).json()["results"][0]["status"]
        if status in ("ready", "failed"):
            return bool(status == "ready")
        time.sleep(0.1)
    return False


def _sentinel(worker: Worker) -> psutil.Process:
    (sentinel,) = psutil.Process(worker.process.pid).children()
    return sentinel


def _wait_until_gone(gone: list[psutil.Process]) -> None:
    _gone, alive = psutil.wait_procs(gone, timeout=PATIENCE)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_the_web_process_serves_and_leaves_forms_to_django(web: Web) -> None:
    assert httpx.get(f"{web.url}/readyz", timeout=PATIENCE).text == "ok"
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    refused = httpx.post(f"{web.url}/api/search", content=b"no form", headers=headers, timeout=PATIENCE)
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("which", range(3), ids=["worker", "monitor", "pusher"])
def test_a_worker_whose_idle_process_is_killed_goes_on(data_dir: Path, api: httpx.Client, which: int) -> None:
    with Worker(data_dir) as worker:
        assert _becomes_searchable(api, f"before-{which}.txt")
        left = _sentinel(worker).children()
        sorted(left, key=lambda process: process.create_time())[which].kill()
        worker.wait_for(ENDED, PATIENCE)
        _wait_until_gone(left)
        assert _becomes_searchable(api, f"after-{which}.txt")
        everything = psutil.Process(worker.process.pid).children(recursive=True)
        assert worker.stop(signal.SIGTERM) == 0
        _wait_until_gone(everything)


def test_a_worker_whose_sentinel_is_killed_goes_on_and_is_killed_without_a_rest(
    data_dir: Path, api: httpx.Client
) -> None:
    with Worker(data_dir) as worker:
        assert _becomes_searchable(api, "before-sentinel.txt")
        sentinel = _sentinel(worker)
        left = sentinel.children()
        sentinel.kill()
        worker.wait_for(ENDED, PATIENCE)
        _wait_until_gone(left)
        assert _becomes_searchable(api, "after-sentinel.txt")
        everything = psutil.Process(worker.process.pid).children(recursive=True)
        worker.stop(signal.SIGKILL)
        _wait_until_gone(everything)


def _asked(url: str, api: httpx.Client) -> int:
    """Ask at a web process, wait until the answer is being written and stored, and return its number."""
    session = api.post("/chat/sessions", json={}).json()["session_id"]
    question = {"question": "How long is the warranty of the fans?"}
    with api.stream("POST", f"{url}/api/chat/sessions/{session}/content", json=question) as stream:
        for line in stream.iter_lines():
            if '"delta' in line.replace("\\", ""):
                break
    messages = api.get(f"/chat/sessions/{session}/content").json()["results"]
    return int(next(message["id"] for message in messages if message["role"] == "assistant"))


def test_another_process_ends_the_answers_of_one_that_was_killed(
    data_dir: Path, web: Web, api: httpx.Client, provider: FakeProvider
) -> None:
    """Though nobody opens the chat."""
    provider.reply("The fans have a warranty of two years. " * 2000, delay=0.05)
    with Web(data_dir, LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as other:
        message = _asked(other.url, api)
        other.process.kill()
    socket = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[4]
    with psycopg.connect(host=socket, user="postgres", dbname="ragsite", autocommit=True) as database:
        query = "SELECT status FROM conversations_message WHERE id = %s"
        deadline = time.monotonic() + PATIENCE
        while (found := database.execute(query, [message]).fetchone()) == ("streaming",):
            assert time.monotonic() < deadline
            time.sleep(0.5)
    assert found == ("interrupted",)


def test_the_web_process_ends_answers_when_it_is_asked_to_stop(
    data_dir: Path, web: Web, api: httpx.Client, provider: FakeProvider
) -> None:
    provider.reply("The fans have a warranty of two years. " * 200, delay=0.05)
    session = api.post("/chat/sessions", json={}).json()["session_id"]
    question = {"question": "How long is the warranty of the fans?"}
    frames: list[str] = []
    with api.stream("POST", f"/chat/sessions/{session}/content", json=question) as stream:
        for line in stream.iter_lines():
            frames += [line] if line.startswith("data:") else []
            if '"delta' in line.replace("\\", "") and web.process.poll() is None:
                web.process.send_signal(signal.SIGTERM)
    assert web.process.wait(PATIENCE) == 0
    last = json.loads(frames[-1].removeprefix("data:"))
    assert (last["step"], last["status"]) == ("done", "interrupted"), frames[-3:]


def test_a_database_that_is_not_prepared_is_told(tmp_path: Path) -> None:
    for command in ("web", "worker"):
        with TemporaryDirectory(prefix="ragsite-new-", ignore_cleanup_errors=True) as name:
            refused = run_command(Path(name) / "data", command)
        assert refused.returncode == 1
        assert "run `manage.py migrate` first" in refused.stderr
