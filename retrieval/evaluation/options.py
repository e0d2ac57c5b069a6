"""The options of a run: how its search differs from the site's settings."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from django.utils.translation import gettext as _

from retrieval.evaluation.answering import Assistant
from retrieval.ranking.fusion import Query
from retrieval.ranking.rerank_options import METHODS, RerankOptions
from retrieval.types import Mode, SearchRequest

MODES: tuple[str, ...] = get_args(Mode)
LARGEST = 1_000_000
# Options stored with a run that users can't set.
_INTERNAL = {"model", "reader_model", "assistant_name", "rehearsal"}
# Numeric options: type and minimum.
NUMBERS: dict[str, tuple[type, float]] = {
    "vector_weight": (float, 0.0),
    "rrf_constant": (int, 1),
    "vector_threshold": (float, -1.0),
    "bm25_threshold": (float, 0.0),
    "per_document": (int, 1),
}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to search. None means the site's setting; `rerank` is the name of a method; the rest as in a request."""

    mode: Mode = "hybrid"
    reorder: bool | None = None
    rerank: str | None = None
    vector_weight: float | None = None
    rrf_constant: int | None = None
    vector_threshold: float | None = None
    bm25_threshold: float | None = None
    per_document: int | None = None
    reader: bool | None = None
    # The embedding model on trial, whose vectors were searched.
    model: str | None = None
    # The reader on trial, used even if the site's reader is off.
    reader_model: str | None = None
    # The assistant that answers each question with its own settings, so that no other option applies: its id; its
    # version number, at first None for the newest; its name then, with the number; and the rehearsal of a change.
    assistant: int | None = None
    assistant_version: int | None = None
    assistant_name: str | None = None
    rehearsal: int | None = None

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "RunOptions":
        """Validate options given by a user. Raises `ValueError` with a message for them."""
        options = {name: value for name, value in given.items() if value is not None}
        if unknown := options.keys() - (cls.__dataclass_fields__.keys() - _INTERNAL):
            raise ValueError(_("Unknown setting: {names}").format(names=", ".join(sorted(unknown))))
        for name in ("assistant", "assistant_version"):
            if name in options and (type(options[name]) is not int or not 1 <= options[name] < 2**63):
                raise ValueError(_("“{name}” must be {kind} of at least {least:g}.").format(
                    name=name, kind=_("a whole number"), least=1
                ))  # fmt: skip
        if "assistant" in options:
            if chosen := sorted(options.keys() - {"assistant", "assistant_version", "mode"}):
                words = _("An assistant uses its own search settings. Leave out: {names}")
                raise ValueError(words.format(names=", ".join(chosen)))
            return cls(assistant=options["assistant"], assistant_version=options.get("assistant_version"))
        if "assistant_version" in options:
            raise ValueError(_("“assistant_version” requires “assistant”."))
        _one_of(options, "mode", MODES)
        _one_of(options, "rerank", METHODS)
        for name in ("reorder", "reader"):
            if not isinstance(options.get(name, True), bool):
                raise ValueError(_("“{name}” must be true or false.").format(name=name))
        for name, (kind, least) in NUMBERS.items():
            if name in options:
                value = options[name]
                allowed = int if kind is int else (int, float)
                if isinstance(value, bool) or not isinstance(value, allowed) or not least <= value <= LARGEST:
                    whole = _("a whole number") if kind is int else _("a number")
                    raise ValueError(
                        _("“{name}” must be {kind} of at least {least:g}.").format(name=name, kind=whole, least=least)
                    )
                options[name] = kind(value)
        return cls(**options)

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> "RunOptions":
        """Return the options of a stored run, without those that no longer exist."""
        return cls(**{name: value for name, value in stored.items() if name in cls.__dataclass_fields__})

    def to_dict(self) -> dict[str, Any]:
        """Return the options that are set, for JSON; the mode is left out for an assistant."""
        without = None if self.assistant is None else "mode"
        return {name: value for name, value in asdict(self).items() if value is not None and name != without}

    @property
    def by(self) -> Assistant | None:
        """The assistant that answers; None for a search, or if its version isn't known yet."""
        if self.assistant is None or self.assistant_version is None:
            return None
        return Assistant(self.assistant, self.assistant_version, self.assistant_name or "", self.rehearsal)

    @property
    def label(self) -> str:
        """The options in one line, for users."""
        if self.assistant is not None:
            name = self.assistant_name or _("assistant {id}").format(id=self.assistant)
            return _("{name}, changed").format(name=name) if self.rehearsal is not None else name
        modes = {"hybrid": _("hybrid"), "vector": _("by meaning"), "fulltext": _("by words")}
        parts = [modes.get(self.mode, self.mode)]
        if self.reorder is not None:
            parts.append(_("reordered") if self.reorder else _("not reordered"))
        if self.reader_model is not None:
            parts.append(_("reader on trial: {name}").format(name=Path(self.reader_model).name))
        elif self.reader is not None:
            parts.append(_("with reader") if self.reader else _("without reader"))
        if self.rerank is not None:
            parts.append(_("reranked: {method}").format(method=self.rerank))
        shown = {
            _("vector weight"): self.vector_weight,
            _("RRF constant"): self.rrf_constant,
            _("vector threshold"): self.vector_threshold,
            _("BM25 threshold"): self.bm25_threshold,
            _("hits per document"): self.per_document,
        }
        if self.model is not None:
            parts.append(_("model on trial: {name}").format(name=self.model))
        return " · ".join([*parts, *(f"{name} {value:g}" for name, value in shown.items() if value is not None)])

    def request(self, text: str, knowledge_base_id: int, k: int) -> SearchRequest:
        """Return the search for a question; reranking keeps k hits whatever their scores, since ranks are measured."""
        whole = {"threshold": 0.0, "top_k": k}
        rerank = RerankOptions.from_name(self.rerank, **whole) if self.rerank else RerankOptions.from_settings(**whole)
        names = "vector_threshold", "bm25_threshold", "vector_weight", "rrf_constant", "reorder", "per_document"
        chosen: dict[str, Any] = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.reader is not None:
            chosen["read"] = self.reader
        if self.reader_model is not None:
            chosen |= {"read": True, "reader": self.reader_model}
        return SearchRequest(
            queries=(Query(text),),
            knowledge_base_ids=(knowledge_base_id,),
            k=k,
            mode=self.mode,
            rerank=rerank,
            fresh=True,  # a run measures the time of its searches, and repeats none
            patient=True,  # results must not depend on how busy the machine is
            **chosen,
        )


def _one_of(options: dict[str, Any], name: str, values: tuple[str, ...]) -> None:
    if name in options and options[name] not in values:
        message = _("“{name}” must be one of: {values}.")
        raise ValueError(message.format(name=name, values=", ".join(values)))
