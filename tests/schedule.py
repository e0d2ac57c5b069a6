"""The distribution of tests to the workers of pytest-xdist, and their order."""

from collections import Counter

import pytest
from xdist.scheduler import LoadGroupScheduling

_LONG = ("browser", "site", "slow")


def order(items: list[pytest.Item]) -> None:
    """Sort the longest work first, so that workers finish at about the same time.

    Groups come first, then files with long tests, then other files, those with most tests first.
    """
    count = Counter(item.path for item in items)
    long = {item.path for item in items if any(item.get_closest_marker(name) for name in _LONG)}
    items.sort(key=lambda item: (not item.get_closest_marker("xdist_group"), item.path not in long, -count[item.path]))


class ByFile(LoadGroupScheduling):
    """Keeps groups together, like `--dist loadgroup`, and also the other tests of a file, in the order set by `order`.

    If tests were distributed individually, every worker would create the fixtures that the tests of a file share, and
    the scheduler would count all distributed tests after each one.
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return nodeid.split("::")[0] if scope == nodeid else scope
