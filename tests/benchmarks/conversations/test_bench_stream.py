"""`manage.py bench_stream`: every way runs in its own processes, loses nothing, and is in the table."""

import pytest
from django.core.management import CommandError, call_command

from tests.benchmarks.conversations.streaming import measuring, provider
from tests.benchmarks.retrieval.scratch import NoDatabase
from tests.site import data_folder, run_command


@pytest.mark.nightly
def test_each_way_is_compared_with_the_relay() -> None:
    # In a separate process, since it forks the processes that it measures.
    with data_folder() as data_dir:
        done = run_command(data_dir, "bench_stream", "--streams", "2", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    heads, *rest = [row for row in rows if not row[0].startswith("-")]
    found = {row[0]: dict(zip(heads, row, strict=True)) for row in rest}
    assert list(found) == ["relay", "sse", "websocket"]
    assert [row["lost"] for row in found.values()] == ["0", "0", "0"]
    assert all(float(row["frames/s"]) > 0 for row in found.values())


def test_an_answer_numbers_its_words() -> None:
    text = "".join(provider.text(300)).encode()
    assert [int(number) for number in provider.WORD.findall(text)] == list(range(1, 301))


@pytest.mark.parametrize("options", [{"streams": "0"}, {"streams": "x"}, {"ways": "pigeon"}, {"seconds": 0.0}])
def test_errors_are_reported(options: dict[str, object]) -> None:
    with pytest.raises(CommandError, match="--streams must be at least 1, --ways some of relay, sse, websocket"):
        call_command("bench_stream", **options)


@pytest.mark.parametrize("trouble", [NoDatabase("permission denied"), TimeoutError("Not all answers began")])
def test_failures_to_measure_are_reported(trouble: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(plan: object, say: object) -> None:
        raise trouble

    monkeypatch.setattr(measuring, "run", fail)
    with pytest.raises(CommandError, match=str(trouble)):
        call_command("bench_stream")
