"""Which worker of pytest-xdist runs what, and when."""

from collections import Counter

import pytest
from xdist.scheduler import LoadGroupScheduling

_LONG = ("browser", "site", "slow")


def order(items: list[pytest.Item]) -> None:
    """Begin with what a worker is busy with longest, so that none waits for another in the end.

    That is groups, then files with long tests, then the other files: the fullest first.
    """
    count = Counter(item.path for item in items)
    long = {item.path for item in items if any(item.get_closest_marker(name) for name in _LONG)}
    items.sort(key=lambda item: (not item.get_closest_marker("xdist_group"), item.path not in long, -count[item.path]))


class ByFile(LoadGroupScheduling):
    """Keeps groups together, as `--dist loadgroup` does, and the other tests of a file too, in the order of `order`.

    Dealt out one by one, tests would have every worker make what those of a file share, and the scheduler count all
    that it has given out after each.
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return nodeid.split("::")[0] if scope == nodeid else scope
