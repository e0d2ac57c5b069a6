"""`manage.py up` starts, reports errors in one line, and leaves no processes behind."""

import re
import signal
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.site import PATIENCE, Site, data_folder, processes, run_up

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("up")]


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    with data_folder() as data_dir:
        yield data_dir


@pytest.fixture(scope="module")
def site(data_dir: Path) -> Iterator[Site]:
    with Site(data_dir, RAGSITE_TIMEZONE="UTC") as site:
        yield site


def _get(url: str) -> str:
    return httpx.get(url, timeout=PATIENCE).text


def _wait_until_gone(data_dir: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while (left := processes(data_dir)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, [process.cmdline() for process in left]


def _one_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    return lines[0]


def _sign_in(url: str, password: str) -> httpx.Client:
    client = httpx.Client(base_url=url, follow_redirects=True, timeout=PATIENCE)
    page = client.get("/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token
    form = {"csrfmiddlewaretoken": token.group(1), "username": "demo", "password": password}
    client.post("/login/", data=form, headers={"Referer": url})
    return client


def _loopback() -> str:
    """Return this machine's own address, of IPv6 where it speaks that."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return "::1"
    except OSError:
        return "127.0.0.1"


def test_a_first_start_responds_and_prints_the_password(site: Site) -> None:
    assert _get(f"{site.url}/healthz") == "ok"
    assert _get(f"{site.url}/readyz") == "ok"
    site.wait_for(re.compile("Press Ctrl-C"), PATIENCE)
    kept = site.data_dir / "demo-password"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "RAGSITE_TIMEZONE is unknown and has no effect. Did you mean RAGSITE_TIME_ZONE?" in "".join(site.output)
    password = kept.read_text().strip()
    assert len(password) >= 12
    assert f"with password {password} " in "".join(site.output)
    assert "sessionid" in _sign_in(site.url, password).cookies
    assert "sessionid" not in _sign_in(site.url, "wrong").cookies


def test_forms_are_left_to_django(site: Site) -> None:
    """The server before it would read them whole into memory, and refuse what it can't read without a word."""
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    refused = httpx.post(f"{site.url}/api/search", content=b"no form", headers=headers, timeout=PATIENCE)
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")


def test_a_second_start_on_the_same_folder_is_refused(site: Site) -> None:
    ended = run_up(site.data_dir, "--port", "0")
    assert ended.returncode == 1
    assert "is in use by another Ragsite" in _one_line(ended.stderr)
    assert _get(f"{site.url}/healthz") == "ok"


def test_a_child_that_dies_is_started_again(site: Site) -> None:
    port = int(site.url.rsplit(":", 1)[1])
    (web,) = (
        process
        for process in psutil.Process(site.process.pid).children()
        if any(c.laddr.port == port for c in process.net_connections("tcp") if c.status == "LISTEN")
    )
    web.kill()
    site.wait_for(re.compile(r"The web server was killed by SIGKILL; restarting it in \d s"), PATIENCE)
    assert _get(f"{site.url}/readyz") == "ok"


def _guard(site: Site) -> psutil.Process:
    children = psutil.Process(site.process.pid).children()
    (guard,) = (process for process in children if "guard.main()" in " ".join(process.cmdline()))
    return guard


@pytest.mark.nightly
def test_the_guard_is_started_again_and_the_site_outlives_it(site: Site) -> None:
    guard = _guard(site)
    assert guard.memory_info().rss < 30 * 2**20
    others = [process for process in psutil.Process(site.process.pid).children() if process != guard]
    guard.kill()
    for process in others:  # so that the supervisor has something to tell a guard that is gone
        process.kill()
    site.wait_for(re.compile("The guard died"), PATIENCE)
    site.wait_for(re.compile(r"background worker was killed by SIGKILL"), PATIENCE)
    assert _get(f"{site.url}/readyz") == "ok"
    assert _guard(site).pid != guard.pid


def test_stopping_and_being_killed_leave_nothing_behind_and_the_data_stay(site: Site) -> None:
    password = (site.data_dir / "demo-password").read_text().strip()
    assert any(process.name().startswith("postgres") for process in processes(site.data_dir))
    assert site.stop(signal.SIGTERM) == 0
    _wait_until_gone(site.data_dir)

    with Site(site.data_dir) as again:
        assert password not in "".join(again.output)
        assert "sessionid" in _sign_in(again.url, password).cookies
        _guard(again).kill()
        again.wait_for(re.compile("The guard died"), PATIENCE)
        again.process.kill()
        again.process.wait(PATIENCE)
        with Site(site.data_dir, "--host", _loopback()) as after_the_kill:
            assert after_the_kill.url.startswith(("http://[::1]:", "http://127.0.0.1:"))
            assert "sessionid" in _sign_in(after_the_kill.url, password).cookies
    _wait_until_gone(site.data_dir)


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run_up(tmp_path / "data", "--port", str(port))
    assert ended.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in _one_line(ended.stderr)
    _wait_until_gone(tmp_path)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    ended = run_up(tmp_path / "file" / "data")
    assert ended.returncode == 1
    assert "can't be written: Not a directory" in _one_line(ended.stderr)


def test_a_broken_cluster_is_reported(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir(mode=0o700)
    (cluster / "PG_VERSION").write_text("18\n")
    ended = run_up(tmp_path, "--port", "0")
    assert ended.returncode == 1
    assert "The embedded PostgreSQL in" in _one_line(ended.stderr)
    _wait_until_gone(tmp_path)


def test_an_unreachable_database_is_reported(tmp_path: Path) -> None:
    ended = run_up(tmp_path, "--port", "0", DATABASE_URL="postgres://nobody@127.0.0.1:9/nothing")
    assert ended.returncode == 1
    assert "The database at DATABASE_URL can't be used" in _one_line(ended.stderr)


def test_an_invalid_variable_is_reported(tmp_path: Path) -> None:
    ended = run_up(tmp_path, RAGSITE_MAX_UPLOAD_MB="much")
    assert ended.returncode == 1
    assert "RAGSITE_MAX_UPLOAD_MB is 'much'" in _one_line(ended.stderr)


def test_an_invalid_port_and_time_zone_are_reported(tmp_path: Path) -> None:
    ended = run_up(tmp_path, "--port", "65536")
    assert ended.returncode != 0
    assert "'65536' isn't a port" in ended.stderr and "Traceback" not in ended.stderr
    assert "RAGSITE_TIME_ZONE is 'Mars'" in _one_line(run_up(tmp_path, RAGSITE_TIME_ZONE="Mars").stderr)


@pytest.mark.parametrize("url", ["postgres://me:s3/cret@127.0.0.1:9/name", "postgres://me:12/s3cret@127.0.0.1:9/name"])
def test_a_password_is_not_shown(tmp_path: Path, url: str) -> None:
    output = run_up(tmp_path, "--port", "0", DATABASE_URL=url).stderr
    assert "DATABASE_URL can't be read" in _one_line(output)
    assert "cret" not in output
