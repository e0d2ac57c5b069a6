"""The compared ways of searching, all over the same rows of the same database."""

from tests.benchmarks.retrieval.baselines.base import MissingPackage, Way
from tests.benchmarks.retrieval.baselines.llamaindex import LlamaIndex
from tests.benchmarks.retrieval.baselines.memory import InMemory
from tests.benchmarks.retrieval.baselines.ours import Exact, Ours
from tests.benchmarks.retrieval.baselines.tutorial import Tutorial

__all__ = ["ALL", "MissingPackage", "Way"]

# By their names on the command line.
ALL: dict[str, type[Way]] = {
    "ours": Ours,
    "exact": Exact,
    "tutorial": Tutorial,
    "llamaindex": LlamaIndex,
    "memory": InMemory,
}
