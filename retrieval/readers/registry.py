"""Which readers the site has: the bundled one, that of `READER_MODEL`, and those put into the data folder.

What there is, is read from the files and the settings each time; nothing of it is stored.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ragsite.llm.embedding import model_files
from ragsite.llm.embedding.local import BUNDLED, weights_in
from ragsite.llm.embedding.model_card import ModelCard
from ragsite.llm.errors import LLMError
from ragsite.llm.reranking.reader import OFF, has_heads, own_folder, reader_folder
from ragsite.site_settings.config import config
from retrieval.answerability import reading
from retrieval.embedding_models.models import RegisteredModel

Source = RegisteredModel.Source


class NoSuchReader(Exception):
    """There is no reader of this name; the message is for the person who asked."""


class State(models.TextChoices):
    """Whether a reader reads. `OFF` is of the site's own, where `ENABLE_READER` is off."""

    IN_USE = "in-use", gettext_lazy("In use")
    OFF = "off", gettext_lazy("Off")
    READY = "ready", gettext_lazy("Ready")
    BROKEN = "broken", gettext_lazy("Can't be loaded")


@dataclass(frozen=True, slots=True)
class KnownReader:
    """A reader that the site has. `name` is what `READER_MODEL` and a trial call it.

    `is_configured` tells that `READER_MODEL` names it. `languages` is None where its files don't say, empty for every
    language; `size` is in bytes. `finds_answers` tells that it says whether a passage answers, and `finds_places` that
    it says where; every reader puts passages in order. `is_calibrated` is whether a `calibration.json` says what its
    scores mean. `problem` is why it can't be loaded.
    """

    name: str
    source: Source
    state: State
    is_configured: bool
    full_name: str = ""
    languages: list[str] | None = None
    license: str = ""
    size: int | None = None
    finds_answers: bool = False
    finds_places: bool = False
    is_calibrated: bool = False
    problem: str = ""

    @property
    def tells(self) -> str:
        """What it says of a passage, for a person."""
        if self.finds_places:
            return _("Order, whether a passage answers, and where")
        return _("Order, and whether a passage answers") if self.finds_answers else _("Order only")


def all_readers() -> list[KnownReader]:
    """Return every reader: the one that `READER_MODEL` names, the bundled one, then by name."""
    folders = own_folder()
    # A folder of a name that means something else can't be called by it.
    names = [BUNDLED, *sorted(path.name for path in folders.glob("*/") if path.name not in (BUNDLED, OFF))]
    configured = settings.READER_MODEL
    if configured not in (OFF, *names):
        # A path to one that is listed by its name anyway isn't listed twice.
        there = Path(configured).expanduser().resolve()
        configured = next((name for name in names if (folders / name).resolve() == there), configured)
        names += [] if configured in names else [configured]
    found = [_reader(name, is_configured=name == configured) for name in names]
    return sorted(found, key=lambda each: not each.is_configured)


def find(name: str) -> KnownReader:
    """Return a reader by its name; raises `NoSuchReader`."""
    for each in all_readers():
        if each.name == name:
            return each
    raise NoSuchReader(_("There is no reader “{name}” here.").format(name=name))


def _reader(name: str, *, is_configured: bool) -> KnownReader:
    state = State.READY
    if is_configured:
        state = State.IN_USE if config.ENABLE_READER else State.OFF
    try:
        folder = reader_folder(name)
    except LLMError as error:
        return KnownReader(name, Source.FILES, State.BROKEN, is_configured, problem=error.detail)
    if folder is None:
        return _by_name(name, state)
    card, four = ModelCard.of(folder), has_heads(folder)
    weights = weights_in(folder)
    needed = [weights if (folder / weights).is_file() else "model.onnx", "tokenizer.json"]
    # A model with one score per pair is loaded by fastembed, which wants to know more of its tokens.
    needed += ["config.json"] if four else ["tokenizer_config.json"]
    missing = [file for file in needed if not (folder / file).is_file()]
    problem = _("It lacks {files}.").format(files=", ".join(missing)) if missing else ""
    if not problem and state == State.IN_USE:  # the process has it loaded, or will for the next question
        try:
            reading.check(name)
        except LLMError as error:
            problem = error.detail
    return KnownReader(
        name,
        Source.BUNDLED if name == BUNDLED else Source.FILES,
        State.BROKEN if problem else state,
        is_configured,
        full_name=str(model_files.description(folder).get("name") or ""),
        languages=None if card.languages is None else list(card.languages),
        license=model_files.licence_of(folder),
        size=model_files.size_of(folder),
        finds_answers=four or card.reader.answers is not None,
        finds_places=four,
        is_calibrated=card.reader.answers is not None,
        problem=problem,
    )


def _by_name(name: str, state: State) -> KnownReader:
    """Return a cross-encoder that fastembed knows, which is downloaded when it is needed first."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    known: list[dict[str, Any]] = TextCrossEncoder.list_supported_models()
    told = next((each for each in known if each["model"].lower() == name.lower()), None)
    problem = "" if told else _("It is neither a folder here nor a model that can be downloaded.")
    return KnownReader(
        name,
        Source.HUB,
        State.BROKEN if problem else state,
        is_configured=True,
        languages=[] if "multilingual" in name.lower() else None,
        license=told["license"] if told else "",
        size=int(told["size_in_GB"] * 1e9) if told else None,
        problem=problem,
    )
