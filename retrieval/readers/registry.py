"""The site's readers: the bundled one, that of `READER_MODEL`, and those in the data folder.

They are looked up in the files and settings each time; nothing is stored.
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
    """There is no usable reader with this name; the message is shown to users."""


class State(models.TextChoices):
    """Whether a reader is in use. `OFF` is the state of the configured reader if `ENABLE_READER` is off."""

    IN_USE = "in-use", gettext_lazy("In use")
    OFF = "off", gettext_lazy("Off")
    READY = "ready", gettext_lazy("Ready")
    BROKEN = "broken", gettext_lazy("Can't be loaded")


@dataclass(frozen=True, slots=True)
class KnownReader:
    """A reader of the site. `name` is its name for `READER_MODEL` and trials.

    `is_configured` is whether `READER_MODEL` names it. `languages` is None if its files don't give them, and empty for
    every language; `size` is in bytes. Every reader ranks passages; `finds_answers` is whether it also judges whether a
    passage answers, and `finds_places` whether it locates the answer. `is_calibrated` is whether a `calibration.json`
    gives the meaning of its scores. `problem` is why it can't be loaded.
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
        """The reader's output for a passage, for users."""
        if self.finds_places:
            return _("Ranks passages, judges whether they answer, and finds where")
        return _("Ranks passages and judges whether they answer") if self.finds_answers else _("Ranks passages")


def all_readers() -> list[KnownReader]:
    """Return every reader: the configured one, the bundled one, then the others by name."""
    folders = own_folder()
    # A folder with a reserved name can't be selected by it.
    names = [BUNDLED, *sorted(path.name for path in folders.glob("*/") if path.name not in (BUNDLED, OFF))]
    configured = settings.READER_MODEL
    if configured not in (OFF, *names):
        # A path to a folder that is already listed by name isn't listed twice.
        there = Path(configured).expanduser().resolve()
        configured = next((name for name in names if (folders / name).resolve() == there), configured)
        names += [] if configured in names else [configured]
    found = [_reader(name, is_configured=name == configured) for name in names]
    return sorted(found, key=lambda each: not each.is_configured)


def find(name: str) -> KnownReader:
    """Return a reader by its name. Raises `NoSuchReader`."""
    for each in all_readers():
        if each.name == name:
            return each
    raise NoSuchReader(_("There is no reader named “{name}”.").format(name=name))


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
    # A model with one score per pair is loaded by fastembed, which needs the tokenizer's configuration.
    needed += ["config.json"] if four else ["tokenizer_config.json"]
    missing = [file for file in needed if not (folder / file).is_file()]
    problem = _("Missing files: {files}.").format(files=", ".join(missing)) if missing else ""
    if not problem and state == State.IN_USE:  # loaded already, or needed for the next question anyway
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
    """Return a cross-encoder from fastembed's list, which is downloaded when it is first used."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    known: list[dict[str, Any]] = TextCrossEncoder.list_supported_models()
    entry = next((each for each in known if each["model"].lower() == name.lower()), None)
    problem = "" if entry else _("This is neither a folder on the server nor a model that can be downloaded.")
    return KnownReader(
        name,
        Source.HUB,
        State.BROKEN if problem else state,
        is_configured=True,
        languages=[] if "multilingual" in name.lower() else None,
        license=entry["license"] if entry else "",
        size=int(entry["size_in_GB"] * 1e9) if entry else None,
        problem=problem,
    )
