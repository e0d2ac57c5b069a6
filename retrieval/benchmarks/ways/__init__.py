"""The ways of searching that are compared, all over the same rows of the same database."""

from retrieval.benchmarks.ways.base import MissingPackage, Way
from retrieval.benchmarks.ways.llamaindex import LlamaIndex
from retrieval.benchmarks.ways.memory import InMemory
from retrieval.benchmarks.ways.ours import Exact, Ours
from retrieval.benchmarks.ways.tutorial import Tutorial

__all__ = ["ALL", "MissingPackage", "Way"]

# By the names that the command line takes.
ALL: dict[str, type[Way]] = {
    "ours": Ours,
    "exact": Exact,
    "tutorial": Tutorial,
    "llamaindex": LlamaIndex,
    "memory": InMemory,
}
