"""The base class of the pipeline's nodes, which declare their place in the graph."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from conversations.events import Event
from conversations.pipeline.description import Description
from conversations.pipeline.state import State

Emit = Callable[[Event], Awaitable[None]]

# In `after`: the previous node in the setting's list.
PREVIOUS = "<previous>"


@dataclass(frozen=True, slots=True)
class When:
    """A conditional edge: `after = (When("understand", searches, "search"),)`.

    `label` is shown at the edge in drawings of the graph and may be a lazy translation.
    """

    node: str
    condition: Callable[[State], bool]
    label: Any = ""


class NodeError(Exception):
    """An error whose message is shown to the user as it is; other errors are shown with a general message."""

    def __init__(self, message: str, code: str = "node_failed", retryable: bool = True) -> None:
        super().__init__(message)
        self.message = str(message)  # a lazy translation is resolved in the turn's language
        self.code = code
        self.retryable = retryable


class NodeFailed(Exception):
    """A node's failure that ends the turn. `cause` is the error, `node` the node's key."""

    def __init__(self, node: str, cause: BaseException) -> None:
        super().__init__(f"{node}: {cause}")
        self.node = node
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Context:
    """The arguments of a node's run in addition to the state: `emit` sends an event to the user.

    `detail` contains the facts noted about the run; `later` contains work to do once everything is stored and sent.
    """

    emit: Emit
    detail: dict[str, Any] = field(default_factory=dict)
    later: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    def note(self, **facts: Any) -> None:
        """Add JSON-safe facts about this run to the trace."""
        self.detail.update(facts)


class Node(ABC):
    """One step of the pipeline. Subclasses set the class variables and implement `run`."""

    key: ClassVar[str]
    # Its number among a stream's step events; None if the node reports its own steps or none at all.
    step: ClassVar[int | None] = None
    # Its name shown to the user, and the text shown while it runs (the title if empty); lazy translations.
    title: ClassVar[Any] = ""
    progress: ClassVar[Any] = ""
    # The keys of the steps that it reports itself, instead of its own key.
    reports: ClassVar[tuple[str, ...]] = ()
    # Seconds; None leaves it to the node (a model's stream has timeouts of its own).
    timeout: ClassVar[float | None] = 30.0
    on_error: ClassVar[Literal["skip", "fail"]] = "fail"
    # The nodes that must have run: keys, `PREVIOUS`, or `When`. The node is reached if one of these edges is taken;
    # an empty tuple makes it start with the turn. None means the previous node in the list.
    after: ClassVar[tuple[str | When, ...] | None] = None
    # Keys of the only nodes that may follow; `choose` selects among them. None means every node that comes after it.
    branches: ClassVar[tuple[str, ...] | None] = None
    # Whether it runs even if the turn failed, was stopped or took another way, such as to save what there is.
    always: ClassVar[bool] = False
    # Fields of the state, such as "plan.queries": those that an earlier node must have filled, those that are optional,
    # and those that it fills. The request needs no declaration.
    reads: ClassVar[tuple[str, ...]] = ()
    may_read: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()

    def wanted(self, state: State) -> bool:
        """Return whether this state needs the node; otherwise it is skipped, and the nodes after it run."""
        return True

    @abstractmethod
    async def run(self, state: State, ctx: Context) -> None:
        """Do the work: change the state, emit events and note facts; return nothing."""

    def choose(self, state: State) -> Collection[str]:
        """Return which of `branches` the turn continues with; called after the node ran or was not wanted."""
        return self.branches or ()

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Return a short result of a run, shown beside the step. `detail` contains the facts that the run noted."""
        return ""

    def describe(self, detail: Mapping[str, Any]) -> Description | None:
        """Return a readable form of a run's trace, which may be of an earlier version; None shows the raw trace."""
        return None
