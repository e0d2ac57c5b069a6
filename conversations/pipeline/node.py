"""What a node of the pipeline is, and how it says where it stands in the graph."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from conversations.events import Event
from conversations.pipeline.state import State

Emit = Callable[[Event], Awaitable[None]]

# In `after`: the node before this one in the list of the setting.
PREVIOUS = "<previous>"


@dataclass(frozen=True, slots=True)
class When:
    """An edge that is taken only for some states: `after = (When("understand", wants_search, "search"),)`.

    `label` is written at the edge in drawings of the graph; a lazy translation where it is for people.
    """

    node: str
    condition: Callable[[State], bool]
    label: Any = ""


class NodeError(Exception):
    """A failure in words that are shown to the reader as they stand; any other error is shown in general words."""

    def __init__(self, message: str, code: str = "node_failed", retryable: bool = True) -> None:
        super().__init__(message)
        self.message = str(message)  # a lazy translation is read in the language of the turn
        self.code = code
        self.retryable = retryable


class NodeFailed(Exception):
    """A node whose failure ends the turn. `cause` is the error, `node` its key."""

    def __init__(self, node: str, cause: BaseException) -> None:
        super().__init__(f"{node}: {cause}")
        self.node = node
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Context:
    """What a node's run is given beside the state: `emit` sends an event to the reader."""

    key: str
    state: State
    emit: Emit

    def note(self, **detail: Any) -> None:
        """Remember JSON-safe facts about this run for the trace."""
        self.state.note(self.key, **detail)


class Node(ABC):
    """One step of the pipeline. Subclasses set the class variables and write `run`."""

    key: ClassVar[str]
    # CHAT's step number for the event stream; None when the node reports by itself or not at all.
    step: ClassVar[int | None] = None
    # Shown to the reader; a lazy translation.
    title: ClassVar[Any] = ""
    # Seconds; None leaves the bound to the node (a model's stream has time-outs of its own).
    timeout: ClassVar[float | None] = 30.0
    on_error: ClassVar[Literal["skip", "fail"]] = "fail"
    # The nodes that must have run: keys, `PREVIOUS`, or `When`. The node is reached if one of these edges is taken;
    # without any it begins the turn. None means the one before it in the list.
    after: ClassVar[tuple[str | When, ...] | None] = None
    # Keys of the only nodes that may follow, of which `choose` takes those that do. None means all that come after it.
    branches: ClassVar[tuple[str, ...] | None] = None
    # Runs also when the turn failed, was stopped or went another way, to save what there is.
    always: ClassVar[bool] = False
    # State fields: those that a node before it must have filled, those that it does without, and those that it fills.
    reads: ClassVar[tuple[str, ...]] = ()
    may_read: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()

    def wanted(self, state: State) -> bool:
        """Whether this state needs the node; a node that is not wanted is skipped, and those after it run."""
        return True

    @abstractmethod
    async def run(self, state: State, ctx: Context) -> None:
        """Do the work: change the state, emit events and note facts on the way; return nothing."""

    def choose(self, state: State) -> Collection[str]:
        """Say which of `branches` the turn goes on with; asked after the node has run, or was not wanted."""
        return self.branches or ()

    def message(self, state: State) -> str:
        """Say in a few words what came of it; shown beside the step."""
        return ""
