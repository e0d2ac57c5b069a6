"""What goes to a language model and what comes back."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str

    def to_dict(self) -> dict[str, str]:
        """Return the message as the protocol writes it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is asked. Time-outs are seconds; windows and limits are tokens.

    `idle_timeout` is the longest silence of a running answer, `total_timeout` bounds the whole answer; `concurrency` is
    how many requests run at once in one process, 0 for any number.
    """

    base_url: str
    api_key: str = field(default="", repr=False)
    model: str = ""
    connect_timeout: float = 10
    idle_timeout: float = 60
    total_timeout: float = 600
    context_window: int = 16_384
    max_tokens: int = 2048
    temperature: float = 0.3
    concurrency: int = 0
    # Whether it is asked to think before it answers (None: as it does by itself), and by which field of the request:
    # `reasoning_effort`, `enable_thinking` or `thinking`; empty where it can't be asked.
    think: bool | None = None
    thinking_field: str = ""
    # Whether its name may lead to this machine or its local network, which each request checks; None where nothing is
    # checked: what the settings name, those who run the machine have written.
    own_network: bool | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkPiece:
    """A piece of what the model thinks before and while it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """Tokens that the provider counted for the whole request."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class FinishPiece:
    """The model has ended; `reason` as the provider says it: `stop`, `length`, `content_filter` …"""

    reason: str


Piece = TextPiece | ThinkPiece | UsagePiece | FinishPiece


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer; `usage` where the provider counted."""

    text: str
    thinking: str = ""
    finish_reason: str = ""
    usage: UsagePiece | None = None
