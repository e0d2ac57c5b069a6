"""The geometry of the chart of figures over runs."""

import pytest

from retrieval.web.charts import HEIGHT, LEFT, RIGHT, WIDTH, Column, plot, scale


@pytest.mark.parametrize(
    ("least", "most", "axis"),
    [
        (0.0, 1.0, (0.0, 1.0, 0.2)),
        (0.70, 0.72, (0.7, 0.8, 0.1)),
        (0.53, 0.61, (0.52, 0.62, 0.02)),
        (1.0, 1.0, (0.9, 1.0, 0.1)),
        (0.0, 0.0, (0.0, 0.1, 0.1)),
    ],
)
def test_the_axis_fits_the_figures(least: float, most: float, axis: tuple[float, float, float]) -> None:
    assert scale(least, most) == pytest.approx(axis)


def test_runs_are_plotted_in_order() -> None:
    chart = plot([Column("Monday", {"nDCG@10": 0.5}), Column("Tuesday", {"nDCG@10": 0.7})], ["nDCG@10", "MRR@10"])
    assert chart is not None
    (line,) = chart.lines  # a figure missing from all runs is not drawn
    first, last = line.points
    assert (first.x, last.x) == (LEFT, WIDTH - RIGHT)
    assert 0 < last.y < first.y < HEIGHT
    assert line.path.startswith("M52.0 ") and line.path.count("L") == 1
    assert last.title == "nDCG@10 0.700 · Tuesday"
    assert [tick.label for tick in chart.runs] == ["Monday", "Tuesday"]


def test_without_figures_there_is_no_chart() -> None:
    assert plot([], ["nDCG@10"]) is None
    assert plot([Column("Monday", {})], ["nDCG@10"]) is None


def test_a_single_run_is_centred() -> None:
    chart = plot([Column("Monday", {"a": 0.5})], ["a"])
    assert chart is not None
    assert LEFT < chart.lines[0].points[0].x < WIDTH - RIGHT
