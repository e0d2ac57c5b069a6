"""The processes of a site with several machines: `manage.py web` and `manage.py worker`."""

import json
import os
import re
import signal
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from tests import prepared
from tests.fakes.provider import FakeProvider
from tests.site import PASSWORD, PATIENCE, Site, Web, Worker, data_folder, processes, run_command

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("up")]

ENDED = re.compile("The cluster has ended; starting a new one")
LOST = re.compile("Lost the database connection while ingesting|Indexing failed; its documents will be indexed again")


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """The folder of a site that was started and stopped; its database server runs as long as the tests."""
    with prepared.site_folder() as data_dir:
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


def _upload(api: httpx.Client, name: str, text: str) -> str:
    """Upload a document, and return the path of what the API tells of it."""
    base = api.get("/knowledge-bases").json()["results"][0]["id"]
    uploaded = api.post(f"/knowledge-bases/{base}/documents", files={"file": (name, text.encode())})
    assert uploaded.status_code == 202, uploaded.text
    return f"/documents/{uploaded.json()[0]['id']}"


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _becomes_searchable(api: httpx.Client, name: str) -> bool:
    """Upload a document, and wait until a worker has read it."""
    path = _upload(api, name, f"What {name} says.")
    _wait_for(lambda: api.get(path).json()["status"] in ("ready", "failed"))
    return bool(api.get(path).json()["status"] == "ready")


def _in_shell(data_dir: Path, *lines: str) -> str:
    """Run lines of Python with the site's models, and return what they print."""
    done = run_command(data_dir, "shell", "-v", "0", "-c", "\n".join(lines))
    assert done.returncode == 0, done.stderr
    return done.stdout


def _database(data_dir: Path) -> psycopg.Connection:
    """Connect to the site's database."""
    socket = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[4]
    return psycopg.connect(host=socket, user="postgres", dbname="ragsite", autocommit=True)


def _sentinel(worker: Worker) -> psutil.Process:
    (sentinel,) = psutil.Process(worker.process.pid).children()
    return sentinel


def _wait_until_gone(gone: list[psutil.Process]) -> None:
    _gone, alive = psutil.wait_procs(gone, timeout=PATIENCE)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


class Endless(Site):
    """A management command that has started the embedded database and a child, and goes on for ever."""

    command = (
        "shell", "-v", "0", "-c",
        "import multiprocessing, os, time; from django.db import connection; connection.ensure_connection();"
        "context = multiprocessing.get_context('fork');"
        "context.Process(target=time.sleep, args=(3600,), daemon=True).start();"
        "Late = type('Late', (), {'__del__': lambda self: print('It has begun', flush=True) or time.sleep(3600)});"
        "print('It has begun', flush=True) if 'EARLY' in os.environ else Late(); time.sleep(3600)",
    )  # fmt: skip
    ready = re.compile("(has begun)")


@pytest.mark.parametrize(
    ("number", "environment", "code"),
    [
        (signal.SIGTERM, {"EARLY": "1"}, 143),
        pytest.param(signal.SIGHUP, {"EARLY": "1"}, 129, marks=pytest.mark.nightly),
        pytest.param(signal.SIGTERM, {}, 142, marks=pytest.mark.nightly),  # in a finalizer
    ],
)
def test_a_command_that_is_asked_to_stop_leaves_nothing_running(
    number: signal.Signals, environment: dict[str, str], code: int
) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # what this process ignores, as under nohup, its children do too
    with data_folder() as data_dir, Endless(data_dir, **environment) as command:
        signal.signal(number, before)
        assert [process for process in processes(data_dir) if process.name().startswith("postgres")]
        assert command.stop(number) == code
        assert processes(data_dir) == []


def test_the_web_process_serves_and_leaves_forms_to_django(web: Web) -> None:
    assert httpx.get(f"{web.url}/readyz", timeout=PATIENCE).text == "ok"
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    refused = httpx.post(f"{web.url}/api/search", content=b"no form", headers=headers, timeout=PATIENCE)
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")


def test_bodies_that_come_in_chunks_are_read(api: httpx.Client) -> None:
    said = api.post("/search", content=iter([b'{"query": ', b'"x"}']), headers={"Content-Type": "application/json"})
    assert said.status_code == 200 and said.json()["query"] == "x", said.text
    form = httpx.Request("POST", api.base_url, files={"file": ("chunks.txt", b"It came in chunks.")})
    base = api.get("/knowledge-bases").json()["results"][0]["id"]
    headers = {"Content-Type": form.headers["Content-Type"]}
    taken = api.post(f"/knowledge-bases/{base}/documents", content=iter([form.read()]), headers=headers)
    assert taken.status_code == 202 and taken.json()[0]["filename"] == "chunks.txt", taken.text


@pytest.mark.parametrize(
    ("offer", "accepted"),
    [
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        (
            "x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=9",
            "permessage-deflate; server_max_window_bits=9",
        ),
        ("", None),
    ],
)
def test_sockets_of_pages_are_compressed_if_the_browser_offers_it(web: Web, offer: str, accepted: str | None) -> None:
    with httpx.Client(base_url=web.url, follow_redirects=True, timeout=PATIENCE) as client:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/login/").text)
        assert token
        form = {"csrfmiddlewaretoken": token[1], "username": "demo", "password": PASSWORD}
        page = client.post("/login/", data=form, headers={"Referer": web.url}).text
        chat = re.search(r"/ws/sessions/\d+/", page)
        assert chat, page
        headers = {
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Cookie": f"sessionid={client.cookies['sessionid']}",
        }  # fmt: skip
        lines = [f"GET {chat[0]} HTTP/1.1", f"Host: {client.base_url.netloc.decode()}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Sec-WebSocket-Extensions: {offer}"] if offer else []
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=PATIENCE) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            opened = connection.makefile("rb")
            received = {}
            assert opened.readline().split()[1] == b"101"
            while line := opened.readline().decode().strip():
                name, _colon, value = line.partition(": ")
                received[name.lower()] = value
            assert received.get("sec-websocket-extensions") == accepted
            # A masked empty message, which is answered with a toast.
            connection.sendall(b"\x81\x80\x00\x00\x00\x00")
            first, length = opened.read(2)
            size = int.from_bytes(opened.read(2)) if length == 126 else length
            content = opened.read(size)
        assert bool(first & 0x40) == bool(accepted)  # whether the message is compressed
        text = zlib.decompressobj(-15).decompress(content + b"\x00\x00\xff\xff") if accepted else content
        assert b"out of date" in text


def test_the_web_process_loads_what_the_first_question_needs(web: Web) -> None:
    _wait_for(lambda: any("onnxruntime" in part.path for part in psutil.Process(web.process.pid).memory_maps()))


@pytest.mark.parametrize(
    "which",
    [
        pytest.param(0, id="worker", marks=pytest.mark.nightly),
        pytest.param(1, id="monitor", marks=pytest.mark.nightly),
        pytest.param(2, id="pusher", marks=pytest.mark.nightly),
    ],
)
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_document_survives_the_death_of_the_database_while_vectors_are_written(
    data_dir: Path, api: httpx.Client
) -> None:
    turns = [f"In step {step} fan {n} turns left or right, {n} times." for n in range(130) for step in range(35)]
    text = "\n\n".join(" ".join(turns[n : n + 35]) for n in range(0, len(turns), 35))
    with Worker(data_dir) as worker:
        path = _upload(api, "long.txt", text)
        _wait_for(lambda: (document := api.get(path).json())["status"] == "indexing" and document["progress"] > 40)
        os.kill(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        worker.wait_for(LOST, PATIENCE)
        _wait_for(lambda: api.get(path).status_code == 200)  # the next to ask starts it again
        worker.stop()
    assert api.get(path).json()["status"] != "failed"
    document = f"Document.objects.filter(pk={path.rpartition('/')[2]})"
    # Unless so much time has passed that the worker had taken it up again.
    _in_shell(data_dir, f"{document}.filter(status='indexing').update(heartbeat_at='2026-01-01T00:00Z')")
    with Worker(data_dir):
        _wait_for(lambda: api.get(path).json()["status"] in ("ready", "failed"))
    status, *held = _in_shell(
        data_dir,
        f"document = {document}.get(); chunks = document.chunks.all(); print(document.status)",
        "print(chunks.values('content').distinct().count(), chunks.count())",
        "print(*[rows.count() for rows in (IndexEntry.objects.filter(document_id=document.pk),"
        " Vector.objects.filter(entry__document=document))])",
    ).split()
    assert status == "ready"
    assert int(held[0]) > 100 and len(set(held)) == 1, held


@pytest.mark.nightly
def test_evaluations_of_a_killed_worker_fail_or_are_taken_over(data_dir: Path, api: httpx.Client) -> None:
    """One was running; the other had left the queue, and waited in the worker for its turn."""

    def make_set() -> int:
        base = api.get("/knowledge-bases").json()["results"][0]["id"]
        questions = [{"question": f"Fan {n}?", "relevant": ["fans.txt"]} for n in range(4000)]
        made = api.post("/evaluation-sets", json={"name": "Many", "knowledge_base": base, "questions": questions})
        assert made.status_code == 201, made.text
        return int(made.json()["id"])

    def start(**options: object) -> str:
        started = api.post(f"/evaluation-sets/{golden}/runs", json={"mode": "fulltext"} | options)
        assert started.status_code == 202, started.text
        return f"/evaluation-runs/{started.json()['id']}"

    def status_of(run: str) -> str:
        return str(api.get(run).json()["status"])

    with Worker(data_dir, RAGSITE_INGEST_WORKERS="1") as worker:
        assert _becomes_searchable(api, "fans.txt")
        golden = make_set()
        first = start()
        _wait_for(lambda: status_of(first) == "running")
        second = start(reorder=False)
        waiting = "SELECT count(*) FROM django_q_ormq WHERE lock <= now()"
        with _database(data_dir) as database:
            _wait_for(lambda: database.execute(waiting).fetchone() == (0,))
        worker.stop(signal.SIGKILL)
    assert (status_of(first), status_of(second)) == ("running", "queued")
    with Worker(data_dir):
        _wait_for(lambda: status_of(first) == "failed" and status_of(second) != "queued")
    assert "Start the run again" in api.get(first).json()["error"]


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


@pytest.mark.nightly
def test_another_process_ends_the_answers_of_one_that_was_killed(
    data_dir: Path, web: Web, api: httpx.Client, provider: FakeProvider
) -> None:
    """Though nobody opens the chat."""
    provider.reply("The fans have a warranty of two years. " * 2000, delay=0.05)
    with Web(data_dir, LLM_BASE_URL=provider.base_url, LLM_MODEL="fake-model") as other:
        message = _asked(other.url, api)
        other.process.kill()
    with _database(data_dir) as database:
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


def test_unapplied_migrations_are_reported() -> None:
    for command, *options in (("web", "--port", "0"), ("worker",)):
        with data_folder() as data_dir:
            refused = run_command(data_dir, command, *options)
        assert refused.returncode == 1
        assert "run `manage.py migrate` first" in refused.stderr
