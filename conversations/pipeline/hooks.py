"""Hooks around every node that runs, in the spirit of WeKnora's `OnEvent(event, state, next)`.

A hook of the setting `PIPELINE_HOOKS` is `async def hook(node, state, proceed)`, or a class whose instances take the
same arguments; it is instantiated once. It may do something before and after `await proceed()`, skip the node by not
calling it, call it again, or replace or suppress an error. The first hook of the setting is the outermost. The
node's timeout applies to each `proceed` of the innermost, and again to what all hooks do themselves.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from django.utils.module_loading import import_string

from conversations.pipeline.node import Node
from conversations.pipeline.state import State

Proceed = Callable[[], Awaitable[None]]
Hook = Callable[[Node, State, Proceed], Awaitable[None]]


class HookError(ValueError):
    """A path of `PIPELINE_HOOKS` is not a hook; the message names it and says what a hook is."""


def load_hooks(paths: Sequence[str]) -> tuple[Hook, ...]:
    """Return the hooks at dotted paths, in the same order; raises `HookError`."""
    if not isinstance(paths, list | tuple):
        raise HookError(f"The pipeline's hooks are {paths!r}, not a list of dotted paths.")
    return tuple(_hook(path) for path in paths)


def wrapped(hooks: Sequence[Hook], node: Node, state: State, run: Proceed) -> Proceed:
    """Return the run of a node wrapped in every hook."""
    for hook in reversed(hooks):
        run = partial(hook, node, state, run)
    return run


def _hook(path: str) -> Hook:
    if not isinstance(path, str):
        raise HookError(f"The pipeline hook {path!r} is not a dotted path.")
    try:
        found = import_string(path)
        hook = found() if isinstance(found, type) else found
    except (ImportError, TypeError) as error:
        raise HookError(f"The pipeline hook {path!r} can't be loaded: {error}") from None
    if not _is_hook(hook):
        raise HookError(f"{path!r} is not a pipeline hook: a hook is `async def hook(node, state, proceed)`.")
    return hook  # type: ignore[no-any-return]


def _is_hook(hook: Any) -> bool:
    call = hook if inspect.isfunction(hook) else getattr(hook, "__call__", None)  # noqa: B004
    if not inspect.iscoroutinefunction(call):
        return False
    try:
        inspect.signature(hook).bind(None, None, None)
    except TypeError:
        return False
    return True
