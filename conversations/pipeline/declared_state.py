"""A view of the state that limits a node to the fields it declares, so that the declarations stay true.

Nodes get this view in tests and on sites with debugging on; elsewhere they get the state itself.
"""

from collections.abc import Iterator, MutableMapping
from typing import Any, cast

from conversations.pipeline.node import Node
from conversations.pipeline.state import PARTS, State


class UndeclaredAccess(Exception):
    """A node read or wrote a field that it does not declare; the message names both."""


def declared(node: Node, state: State) -> State:
    """Return the state limited to a node: it may read `reads`, `may_read` and `writes`, and set `writes`."""
    return cast(State, DeclaredState(node, state, ""))


class DeclaredState:
    """The state, or one of its parts; `path` is the part's name followed by a dot, or empty."""

    __slots__ = ("_node", "_path", "_target")

    def __init__(self, node: Node, target: Any, path: str) -> None:
        for name, value in (("_node", node), ("_target", target), ("_path", path)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = getattr(type(self._target), name, None)
        if isinstance(own, property) and own.fget is not None:
            return own.fget(self)  # so that each field the property reads is checked
        if not self._path and name == "extra":
            return _Extra(self._node, self._target.extra)
        value = getattr(self._target, name)
        if not self._path and name in PARTS:
            return DeclaredState(self._node, value, f"{name}.")
        if name != "request" and not callable(value):
            _check(self._node, self._path + name, "reads")
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        _check(self._node, self._path + name, "writes")
        setattr(self._target, name, value)


class _Extra(MutableMapping[str, Any]):
    """The values that third-party nodes share: each is a field of its own, such as "extra.weather"."""

    def __init__(self, node: Node, values: dict[str, Any]) -> None:
        self._node, self._values = node, values

    def __getitem__(self, key: str) -> Any:
        _check(self._node, f"extra.{key}", "reads")
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        _check(self._node, f"extra.{key}", "writes")
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        _check(self._node, f"extra.{key}", "writes")
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _check(node: Node, field: str, kind: str) -> None:
    """Raise `UndeclaredAccess` unless the node declares the field; it may read any field that it writes."""
    if field not in node.writes and (kind == "writes" or field not in (*node.reads, *node.may_read)):
        verb, where = ("reads", "`reads` or `may_read`") if kind == "reads" else ("writes", "`writes`")
        raise UndeclaredAccess(f"The pipeline node {node.key!r} {verb} {field!r}, which is missing from its {where}.")
