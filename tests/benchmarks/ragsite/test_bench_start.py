"""`manage.py bench_start`: each checkout is started twice and is in the table."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.benchmarks.ragsite import starting
from tests.site import ROOT


@pytest.mark.nightly
def test_a_site_is_started_on_an_empty_folder_and_again() -> None:
    out = StringIO()
    call_command("bench_start", runs=1, rest=0.0, stdout=out)
    heads, row = (line.split("|")[1:-1] for line in out.getvalue().splitlines() if "|" in line and "--" not in line)
    assert heads[0].strip() == "checkout" and row[0].strip() == str(ROOT)
    empty, again, web_pss, web_rss, worker_pss = map(float, row[1:])
    assert 0 < again < empty and 0 < web_pss <= web_rss and worker_pss > 0


def test_checkouts_alternate_and_medians_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "manage.py").touch()
    measured: list[Path] = []

    def measure(checkout: Path, rest: float) -> starting.Start:
        measured.append(checkout)
        return starting.Start(len(measured), 1, 100, 200, 150)

    monkeypatch.setattr(starting, "_measured", measure)
    out = StringIO()
    call_command("bench_start", runs=3, against=tmp_path, stdout=out)
    assert measured == [ROOT, tmp_path] * 3
    rows = [line for line in out.getvalue().splitlines() if line.startswith("| /")]
    assert [row.split("|")[2].strip() for row in rows] == ["3.00", "4.00"]


@pytest.mark.parametrize("options", [{"runs": 0}, {"rest": -1.0}, {"against": Path("/nowhere")}])
def test_errors_are_reported(options: dict[str, object]) -> None:
    with pytest.raises(CommandError, match=r"--runs must be at least 1|There is no manage\.py in /nowhere"):
        call_command("bench_start", **options)
