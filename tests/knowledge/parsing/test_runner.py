"""Whatever a file does to its parser, the runner ends in limited time with a reason."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from knowledge.parsing import limits as limits_module
from knowledge.parsing.elements import Element, Notice, PageBreak, Paragraph, Picture, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import Format
from knowledge.parsing.sandbox import processes, runner
from knowledge.parsing.sandbox.runner import ParseLimits, ParseStopped, parse_file
from tests.knowledge.reading import message_of


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Return a file; `_parse` reads it with a parser of `parsing_child`."""
    processes._close_idle()
    monkeypatch.setattr(processes, "_COMMAND", (sys.executable, "-m", "tests.knowledge.parsing_child"))
    monkeypatch.setattr(runner, "format_of", lambda filename: Format("Test", (), "", "tests.knowledge.parsing_child.x"))
    monkeypatch.setattr(runner, "GRACE_S", 60.0)  # the machine may be busy
    path = tmp_path / "file"
    path.write_bytes(b"content")
    yield path
    processes._close_idle()


def _parse(path: Path, parser: str, **kwargs: int) -> Iterator[Element]:
    return parse_file(path, f"name.{parser}", path.parent / "out", ParseLimits(**({"timeout_s": 30} | kwargs)))


def _failure(path: Path, parser: str, **kwargs: int) -> ParseError:
    with pytest.raises(ParseError) as caught:
        list(_parse(path, parser, **kwargs))
    return caught.value


def test_a_hanging_parser_times_out_but_its_elements_are_kept(misbehaving: Path) -> None:
    elements = _parse(misbehaving, "hang", timeout_s=3)
    assert next(elements) == Paragraph(text="before")
    assert next(elements) == PageBreak(page=1, total=2)
    with pytest.raises(ParseError) as caught:
        next(elements)
    assert caught.value.code == "timeout"
    assert "3 seconds" in message_of(caught.value)


def test_a_spinning_parser_times_out(misbehaving: Path) -> None:
    assert _failure(misbehaving, "spin", timeout_s=1).code == "timeout"


def test_memory_is_bounded(misbehaving: Path) -> None:
    error = _failure(misbehaving, "devour", memory_mb=512)
    assert error.code == "memory"
    assert "512 MB" in message_of(error)


def test_a_killed_parser_is_not_called_the_fault_of_the_file(misbehaving: Path) -> None:
    error = _failure(misbehaving, "killed")
    assert error.code == "killed"
    assert "SIGKILL" in message_of(error) and "damaged" not in message_of(error)


def test_a_crash_names_the_signal(misbehaving: Path) -> None:
    error = _failure(misbehaving, "crash")
    assert error.code == "broken"
    assert "SIGSEGV" in message_of(error)


def test_a_silent_exit_is_an_error(misbehaving: Path) -> None:
    assert "exit code 3" in message_of(_failure(misbehaving, "vanish"))


def test_an_unknown_error_reports_its_type_but_not_the_document(
    misbehaving: Path, caplog: pytest.LogCaptureFixture
) -> None:
    error = _failure(misbehaving, "fail")
    assert error.code == "broken"
    assert "KeyError" in message_of(error)
    assert "secret" not in message_of(error) + caplog.text
    assert "parsing_child.py" in caplog.text


def test_a_parsers_reason_is_passed_on(misbehaving: Path) -> None:
    error = _failure(misbehaving, "refuse")
    assert (error.key, error.params) == ("too_many_rows", {"rows": 3})


def test_prints_do_not_disturb_and_text_is_cleaned(misbehaving: Path) -> None:
    assert list(_parse(misbehaving, "chatter")) == [Paragraph(text="lone  surrogate, nul , bell ")]


def test_stopping(misbehaving: Path) -> None:
    stop = iter([False, False, True, True])
    elements = parse_file(misbehaving, "x.hang", misbehaving.parent, ParseLimits(), should_stop=lambda: next(stop))
    with pytest.raises(ParseStopped) as caught:
        list(elements)
    assert caught.value.code == "cancelled"


def test_closing_the_generator_ends_the_child(misbehaving: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[processes.Process] = []
    start = processes.start

    def remember(module: str, job: bytes) -> processes.Process:
        children.append(start(module, job))
        return children[-1]

    monkeypatch.setattr(processes, "start", remember)
    elements = _parse(misbehaving, "endless")
    next(elements)
    elements.close()  # type: ignore[attr-defined]
    assert children[0].exit_code == -signal.SIGKILL


def test_the_child_dies_with_its_parent(misbehaving: Path) -> None:
    job = {"task": "parse", "path": str(misbehaving), "filename": "x.hang", "output_dir": "", "timeout_s": 60}
    job |= {"memory_mb": 1024, "max_pages": 1, "max_rows": 1, "hidden": False, "ocr": ["off", "", [], ""]}
    child = processes.start("json", json.dumps(job).encode() + b"\n")
    assert b"before" in child.channel.recv(1000)
    child.channel.close()  # like the kernel when the parent is killed
    assert child.wait(60) not in (0, None)
    child.end()


def test_files_are_read_separately_by_forks_of_one_server(misbehaving: Path) -> None:
    """Whatever a file does to its process, the next one gets a new process, and the server continues."""
    first, server = _pids(misbehaving)
    for parser in ("crash", "vanish", "fail"):
        _failure(misbehaving, parser)
    assert _failure(misbehaving, "devour", memory_mb=512).code == "memory"
    assert _failure(misbehaving, "hang", timeout_s=1).code == "timeout"
    second, same_server = _pids(misbehaving)
    assert same_server == server
    assert second != first


def test_a_dead_server_is_replaced(misbehaving: Path) -> None:
    _, server = _pids(misbehaving)
    os.kill(server, signal.SIGKILL)
    _, other = _pids(misbehaving)
    assert other != server


def _pids(path: Path) -> tuple[int, int]:
    """Return the IDs of a parsing process and its server."""
    (element,) = _parse(path, "whoami")
    assert isinstance(element, Paragraph)
    own, parent = element.text.split()
    return int(own), int(parent)


def test_the_time_of_a_slow_consumer_does_not_count(misbehaving: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed))
    elements = _parse(misbehaving, "endless", timeout_s=30)
    for _ in range(1000):
        next(elements)
        passed += 20
    assert isinstance(next(elements), Paragraph)
    elements.close()  # type: ignore[attr-defined]


def test_long_elements_are_split(misbehaving: Path) -> None:
    elements = list(_parse(misbehaving, "large"))
    texts = [element.text for element in elements if isinstance(element, Paragraph)]
    assert len(texts) > 1
    assert "".join(texts).split() == ["word"] * 100_000
    tables = [element for element in elements if isinstance(element, Table)]
    assert len(tables) > 1
    assert all(table.columns == ("a", "b") for table in tables)
    assert [row[0] for table in tables for row in table.rows] == [str(i) for i in range(20_000)]


def test_truncated_cells_are_reported() -> None:
    long = "x" * (limits_module.MAX_CELL + 1)
    table, notice = limits_module.bounded(Table(columns=("a", "b"), rows=(("short", long),)))
    assert isinstance(table, Table) and len(table.rows[0][1]) == limits_module.MAX_CELL
    assert notice == Notice(key="left_out.cell", params={"characters": 20_001, "most": 20_000})


@pytest.mark.parametrize("kind", [Picture(path="a.png", alt="x" * 20_001), Table(columns=("a",), caption="x" * 20_001)])
def test_truncated_captions_are_reported(kind: Element) -> None:
    cut, notice = limits_module.bounded(kind)
    assert len(getattr(cut, "alt", "") or getattr(cut, "caption", "")) == limits_module.MAX_CELL
    assert notice == Notice(key="left_out.caption", params={"most": 20_000})


def test_the_child_sees_no_secrets_and_no_django(misbehaving: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret")
    names, django = list(_parse(misbehaving, "environment"))
    assert isinstance(names, Paragraph) and "LLM_API_KEY" not in names.text
    assert django == Paragraph(text="no Django")


def test_progress_follows_page_breaks(misbehaving: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    elements = parse_file(
        misbehaving, "x.crash", misbehaving.parent, ParseLimits(), lambda done, total: seen.append((done, total))
    )
    with pytest.raises(ParseError):
        list(elements)
    assert seen == [(1, 1)]


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(ParseError) as caught:
        list(parse_file(tmp_path / "empty", "a.pdf", tmp_path, ParseLimits()))
    assert caught.value.code == "empty"


def test_an_unsupported_extension(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        list(parse_file(tmp_path / "x", "a.exe", tmp_path, ParseLimits()))
    assert caught.value.code == "unsupported"
