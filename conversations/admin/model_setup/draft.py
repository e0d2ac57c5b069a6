"""What has been entered of a set-up so far, kept in the session: the key is encrypted, and no page is sent it."""

from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

from django.http import HttpRequest

from ragsite.llm import secrets
from ragsite.llm.types import Endpoint

_SESSION_KEY = "model_setup"
# Seconds that a person waits for a list of models; and for an answer, which a model may begin by thinking.
LIST_PATIENCE, ANSWER_PATIENCE = 15.0, 90.0


@dataclass(slots=True)
class Offered:
    """A model that the endpoint offers; prices are decimal texts, as a session keeps them."""

    name: str
    kind: str
    context_window: int | None = None
    input_price: str | None = None
    output_price: str | None = None


@dataclass(slots=True)
class Trial:
    """What came of asking a model. Times are milliseconds: to the first piece, to the first word, to the end.

    `thinks`, `streams` and `json` are None where it didn't show.
    """

    model: str
    works: bool
    reply: str = ""
    thinking: str = ""
    error: str = ""
    details: str = ""
    first_ms: int | None = None
    word_ms: int | None = None
    total_ms: int | None = None
    tokens: int | None = None
    thinks: bool | None = None
    streams: bool | None = None
    json: bool | None = None


@dataclass(slots=True)
class Draft:
    """A set-up on its way. `models` names the model of each purpose; `own_network` is the profiles'."""

    base_url: str
    encrypted_key: str = ""
    own_network: bool = False
    offered: list[Offered] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    context_window: int | None = None
    thinking: str = ""
    question: str = ""
    trials: list[Trial] = field(default_factory=list)

    @classmethod
    def of(cls, request: HttpRequest) -> Self | None:
        """Return what the session keeps, or None."""
        kept: dict[str, Any] | None = request.session.get(_SESSION_KEY)
        if kept is None:
            return None
        offered = [Offered(**row) for row in kept["offered"]]
        trials = [Trial(**row) for row in kept["trials"]]
        return cls(**{**kept, "offered": offered, "trials": trials})

    @staticmethod
    def forget(request: HttpRequest) -> None:
        """Take it out of the session."""
        request.session.pop(_SESSION_KEY, None)

    def keep(self, request: HttpRequest) -> None:
        """Keep it in the session."""
        request.session[_SESSION_KEY] = asdict(self)

    def keep_trials(self, request: HttpRequest) -> None:
        """Keep what came of asking, after the response has begun, unless the session has another set-up by now."""
        session = type(request.session)(request.session.session_key)
        kept = session.get(_SESSION_KEY)
        if kept == asdict(replace(self, trials=[])):
            session[_SESSION_KEY] = asdict(self)
            session.save()

    def endpoint(self, model: str = "", patience: float = ANSWER_PATIENCE) -> Endpoint:
        """Return where the model is; raises `LLMError` when the key can't be read any more."""
        return Endpoint(
            base_url=self.base_url,
            api_key=secrets.decrypt(self.encrypted_key.encode()),
            model=model,
            own_network=self.own_network,
            connect_timeout=min(10.0, patience),
            idle_timeout=patience,
            total_timeout=patience,
        )

    def offer(self, model: str) -> Offered | None:
        """Return what the endpoint tells of a model, or None."""
        return next((each for each in self.offered if each.name == model), None)

    def trial(self, model: str) -> Trial | None:
        """Return what came of asking a model, or None."""
        return next((each for each in self.trials if each.model == model), None)


def price(text: str | None) -> Decimal | None:
    """Return a price as a profile keeps it."""
    return Decimal(text) if text is not None else None
