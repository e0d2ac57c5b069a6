"""Child processes of a site, and when they are restarted."""

from ragsite.runtime.children import Child


def _child(started: float) -> Child:
    return Child("web server", lambda: None, started=started)


def test_a_child_that_ran_long_is_restarted_at_once() -> None:
    child = _child(started=100.0)
    assert child.pause(now=111.0) == 0.0


def test_a_child_that_keeps_dying_waits_longer_each_time_but_never_long() -> None:
    child = _child(started=100.0)
    assert [child.pause(now=101.0) for _ in range(6)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_child_that_recovered_starts_counting_again() -> None:
    child = _child(started=100.0)
    child.pause(now=101.0)
    child.pause(now=102.0)
    child.started = 200.0
    assert child.pause(now=260.0) == 0.0
    child.started = 260.0
    assert child.pause(now=261.0) == 1.0
