"""The data entered so far, kept in the session. The key is encrypted and never sent to a page."""

from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

from django.http import HttpRequest

from ragsite.llm import secrets
from ragsite.llm.types import Endpoint

_SESSION_KEY = "model_setup"
# Timeouts in seconds for a list of models, and for an answer, which may begin with reasoning.
LIST_PATIENCE, ANSWER_PATIENCE = 15.0, 90.0


@dataclass(slots=True)
class Offered:
    """A model that the endpoint offers; prices are decimal strings, since sessions are stored as JSON."""

    name: str
    kind: str
    context_window: int | None = None
    input_price: str | None = None
    output_price: str | None = None


@dataclass(slots=True)
class Trial:
    """The result of testing a model, with the milliseconds to the first token, the first word and the end.

    `thinks`, `streams` and `json` are None if the test didn't show whether the model does that. `thinking_off` is the
    `ModelProfile.Thinking` by which a model that thinks can be asked not to; empty if that wasn't tested.
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
    thinking_off: str = ""
    streams: bool | None = None
    json: bool | None = None


@dataclass(slots=True)
class Draft:
    """An unfinished set-up. `models` maps purposes to models; `own_network` is a field of the profiles."""

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
        """Return the session's draft, or None."""
        kept: dict[str, Any] | None = request.session.get(_SESSION_KEY)
        if kept is None:
            return None
        offered = [Offered(**row) for row in kept["offered"]]
        trials = [Trial(**row) for row in kept["trials"]]
        return cls(**{**kept, "offered": offered, "trials": trials})

    @staticmethod
    def forget(request: HttpRequest) -> None:
        """Remove the draft from the session."""
        request.session.pop(_SESSION_KEY, None)

    def keep(self, request: HttpRequest) -> None:
        """Store the draft in the session."""
        request.session[_SESSION_KEY] = asdict(self)

    def keep_trials(self, request: HttpRequest) -> None:
        """Store the results of tests after the response has started, unless the session's draft has changed."""
        session = type(request.session)(request.session.session_key)
        kept = session.get(_SESSION_KEY)
        if kept == asdict(replace(self, trials=[])):
            session[_SESSION_KEY] = asdict(self)
            session.save()

    def endpoint(self, model: str = "", patience: float = ANSWER_PATIENCE) -> Endpoint:
        """Return the endpoint of a model. Raises `LLMError` if the key can no longer be decrypted."""
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
        """Return a model as listed by the endpoint, or None."""
        return next((each for each in self.offered if each.name == model), None)

    def trial(self, model: str) -> Trial | None:
        """Return the test result of a model, or None."""
        return next((each for each in self.trials if each.model == model), None)


def price(text: str | None) -> Decimal | None:
    """Return a price as a decimal, as profiles store it."""
    return Decimal(text) if text is not None else None
