"""What a node of the pipeline is, and how it says where it stands in the graph."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from conversations.events import Event
from conversations.pipeline.description import Description
from conversations.pipeline.state import State

Emit = Callable[[Event], Awaitable[None]]

# In `after`: the node before this one in the list of the setting.
PREVIOUS = "<previous>"


@dataclass(frozen=True, slots=True)
class When:
    """An edge that is taken only for some states: `after = (When("understand", searches, "search"),)`.

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
    """What a node's run is given beside the state: `emit` sends an event to the reader.

    `detail` is what was noted of the run; `later` has what is to be done when everything is stored and sent.
    """

    emit: Emit
    detail: dict[str, Any] = field(default_factory=dict)
    later: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    def note(self, **facts: Any) -> None:
        """Remember JSON-safe facts about this run for the trace."""
        self.detail.update(facts)


class Node(ABC):
    """One step of the pipeline. Subclasses set the class variables and write `run`."""

    key: ClassVar[str]
    # Its number among the step frames of a stream; None when the node reports by itself or not at all.
    step: ClassVar[int | None] = None
    # Its name for the reader, and the text shown while it runs (the title if empty); lazy translations.
    title: ClassVar[Any] = ""
    progress: ClassVar[Any] = ""
    # The keys of steps that it reports by itself, in place of its own.
    reports: ClassVar[tuple[str, ...]] = ()
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
    # Fields of the state, as "plan.queries": those that a node before it must have filled, those that it does without,
    # and those that it fills. The request needs no declaration.
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

    def message(self, state: State, detail: Mapping[str, Any]) -> str:
        """Say in a few words what came of a run; shown beside the step. `detail` is what it has noted."""
        return ""

    def describe(self, detail: Mapping[str, Any]) -> Description | None:
        """Say in words what the trace keeps of a run, also of one of an earlier version; None shows it as it is."""
        return None
