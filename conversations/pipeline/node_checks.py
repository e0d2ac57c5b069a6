"""Checks of a node's class variables and methods before it becomes part of a graph.

Most of these mistakes would not fail but change the meaning: a string would be read as a tuple of its letters, an
unknown policy as `skip`, and an asynchronous `wanted` as always true.
"""

from collections.abc import Iterator
from inspect import iscoroutinefunction

from conversations.pipeline.node import Node, When

_LISTS = ("after", "branches", "reads", "may_read", "writes")
_PLAIN = {"wanted": "state", "choose": "state", "message": "state, detail", "describe": "detail"}


def node_problems(node: Node) -> Iterator[tuple[str, str]]:
    """Yield each problem of a node with a hint on how to fix it."""
    for name in _LISTS:
        value = getattr(node, name)
        if value is None and name in ("after", "branches"):
            continue
        if not isinstance(value, tuple | list | set | frozenset):
            yield f"Its `{name}` is {value!r}.", f"Write a tuple, such as `{name} = ({value!r},)`."
            continue
        for item in value:
            if isinstance(item, When) and name == "after":
                if not callable(item.condition):
                    yield (
                        f"The condition of its `after` is {item.condition!r}.",
                        "Give a function that takes the state.",
                    )
            elif not isinstance(item, str):
                yield f"Its `{name}` contains {item!r}.", "Give a key, as a string."
    if not iscoroutinefunction(node.run):
        yield "Its `run` is not asynchronous.", "Write `async def run(self, state, ctx)`."
    for name, arguments in _PLAIN.items():
        if iscoroutinefunction(getattr(node, name)):
            yield (
                f"Its `{name}` is asynchronous.",
                f"Write `def {name}(self, {arguments})`; slow work belongs in `run`.",
            )
    if node.on_error not in ("skip", "fail"):
        yield f"Its `on_error` is {node.on_error!r}.", 'Write "skip" or "fail".'
    if node.timeout is not None and not (isinstance(node.timeout, int | float) and node.timeout > 0):
        yield f"Its `timeout` is {node.timeout!r}.", "Write seconds above 0, or None for no limit."
    if node.step is not None and type(node.step) is not int:
        yield f"Its `step` is {node.step!r}.", "Write a whole number, or None for a node that reports nothing."
