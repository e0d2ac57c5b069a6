"""Data types of requests to language models and their replies."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str

    def to_dict(self) -> dict[str, str]:
        """Return the message in the protocol's format."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model and the parameters of its requests. Time-outs are in seconds; limits are in tokens.

    `idle_timeout` is the longest silence during an answer, `total_timeout` bounds the whole answer; `concurrency` is
    the limit on concurrent requests per process, 0 for no limit.
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
    # Whether to ask it to think before it answers (None: its default), and the request field for that:
    # One of `ragsite.llm.chat.THINKING`, or "always" if there is none for it; empty if that is unknown.
    think: bool | None = None
    thinking_field: str = ""
    # Whether its name may resolve to this machine or its local network, which is checked on each request. None turns
    # the check off, for endpoints in the settings, which operators of the machine control.
    own_network: bool | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkPiece:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """The tokens of the whole request, as counted by the provider."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class FinishPiece:
    """The end of the answer; `reason` is the provider's: `stop`, `length`, `content_filter` …"""

    reason: str


Piece = TextPiece | ThinkPiece | UsagePiece | FinishPiece


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer; `usage` is None if the provider doesn't count."""

    text: str
    thinking: str = ""
    finish_reason: str = ""
    usage: UsagePiece | None = None
