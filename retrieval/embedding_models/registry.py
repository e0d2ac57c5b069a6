"""The registry of embedding models: which exist, which one is in use, and what may be done with each.

A model named in the environment takes precedence: others can be added and tried, but not switched to.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from ragsite.llm import secrets
from ragsite.llm.addresses import same_server
from ragsite.llm.embedding import model_files
from ragsite.llm.embedding.embedding import EmbeddingModel, languages_of
from ragsite.llm.embedding.local import BUNDLED, IN_FOLDER
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.engine import partitions, reembedding
from retrieval.engine.partitions import Busy
from retrieval.engine.reembedding import AlreadyRunning
from retrieval.models import CorpusSize, EmbeddingSpace

Source, State = RegisteredModel.Source, RegisteredModel.State
# Marks of fastembed's models for pictures, or for only queries or only documents.
_UNSUITABLE = ("(text&image)", "query-side", "document side")


class NotPossible(Exception):
    """An operation on a model isn't possible now; the message is shown to users."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A registered model, its vectors, and whether it is in use."""

    model: RegisteredModel
    vectors: int  # in all its spaces
    disk: int  # their bytes on disk, with indexes
    in_use: bool
    filled: bool  # whether all vectors are there, if it is in use
    kept: bool  # whether it was in use before and still has its vectors
    left_at: datetime | None
    named: bool  # by the environment

    @property
    def can_be_removed(self) -> bool:
        """Whether the model, or its vectors if it is the bundled one, can be removed."""
        return not self.in_use and not self.named and (self.model.source != Source.BUNDLED or bool(self.vectors))


def all_models() -> list[ModelStatus]:
    """Return every model: the one in use, then those used before, then the others by name."""
    _notice()
    found: dict[tuple[str, str], list[EmbeddingSpace]] = {}
    for space in EmbeddingSpace.objects.annotate(total=Sum("counts__vectors")):
        found.setdefault((space.provider, space.model), []).append(space)
    known, sizes = [], partitions.sizes()
    # Until something is indexed or searched for, the model in the settings counts as in use.
    begun = any(space.active for spaces in found.values() for space in spaces)
    for model in RegisteredModel.objects.all():
        spaces = found.get((model.provider, model.name), [])
        left = max((space.left_at for space in spaces if space.left_at), default=None)
        in_use = any(space.active for space in spaces) if begun else _is_configured(model)
        vectors = sum(getattr(space, "total", None) or 0 for space in spaces)
        disk = sum(sizes.get(space.table_name, 0) for space in spaces)
        filled = all(space.filled for space in spaces if space.active)
        kept = left is not None and not in_use and model.state != State.GONE
        named = bool(settings.EMBEDDING_GIVEN) and _is_configured(model)
        known.append(ModelStatus(model, vectors, disk, in_use, filled, kept, left, named))
    return sorted(known, key=lambda each: (not each.in_use, not each.kept, each.model.name))


def status_of(model: RegisteredModel) -> ModelStatus:
    """Return a model's status."""
    return next(each for each in all_models() if each.model.pk == model.pk)


def previous() -> RegisteredModel | None:
    """Return the model that was in use before the current one and still has its vectors, or None."""
    kept = [each for each in all_models() if each.kept]
    return max(kept, key=lambda each: str(each.left_at)).model if kept else None


def find(name: str) -> RegisteredModel:
    """Return a model by its case-insensitive name. Raises `NotPossible`."""
    _notice()
    model = RegisteredModel.objects.filter(name__iexact=name.strip()).first()
    if model is None:
        raise NotPossible(_("There is no embedding model named “{name}”.").format(name=name.strip()))
    return model


def offered() -> list[RegisteredModel]:
    """Return the models that can be downloaded, as unsaved rows: multilingual ones first, then by size."""
    from fastembed import TextEmbedding

    found = []
    for each in TextEmbedding.list_supported_models():
        description = each["description"].lower()
        if each["model"].startswith(IN_FOLDER) or any(mark in description for mark in _UNSUITABLE):
            continue
        if each["model_file"].endswith(".onnx"):
            known, size = languages(each["model"], description), int(each["size_in_GB"] * 1e9)
            found.append(
                RegisteredModel(
                    name=each["model"], languages=known, license=each["license"], size=size, dimension=each["dim"]
                )
            )
    return sorted(found, key=lambda one: (not one.knows("zh"), len(one.languages), one.size or 0))


def languages(name: str, description: str = "") -> list[str]:
    """Return a model's languages, inferred from its name or fastembed's description; empty means every language."""
    description = description.lower()
    if "multilingual (" in description and "german" not in description and "programming" not in description:
        return []
    if ", multilingual," in description or "multi-lingual" in description:
        return []
    return languages_of(EmbeddingModel("local", name))


def weights_of(name: str) -> str:
    """Return the path of a model's weights among its files."""
    known = model_files.known_to_fastembed(name)
    return str(known["model_file"]) if known else "model.onnx"


def register(
    name: str,
    source: str,
    *,
    base_url: str = "",
    own_network: bool | None = None,
    key: str = "",
    known: Iterable[str] | None = None,
    user_id: int | None = None,
) -> RegisteredModel:
    """Create the row of a model to be added, or reuse that of one that failed. Raises `NotPossible`.

    `known` are the languages it knows: empty for every language, None to infer them from its name. `own_network` is
    that of `ragsite.llm.types.Endpoint`. An existing model at an endpoint gets the new address and key, even if it is
    in use.
    """
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise NotPossible(_("A model needs a name of at most 200 characters."))
    described = model_files.known_to_fastembed(name)
    name = described["model"] if described and source != Source.ENDPOINT else name
    if source == Source.HUB and described is None:
        raise NotPossible(_("“{name}” isn't a model that can be downloaded.").format(name=name))
    if known is None:
        description = described["description"] if described else ""
        is_endpoint = source == Source.ENDPOINT
        known = languages_of(EmbeddingModel("openai", name)) if is_endpoint else languages(name, description)
    _notice()
    with transaction.atomic():
        model = RegisteredModel.objects.select_for_update().filter(name__iexact=name).first()
        if model is not None:
            again = model.state == State.FAILED or (model.source == source == Source.ENDPOINT)
            if not again or model.jobs.filter(status__in=ModelJob.UNFINISHED).exists():
                raise NotPossible(_("A model with this name already exists."))
        else:
            model = RegisteredModel(name=name)
        model.source, model.state = source, State.NEW if model.state != State.READY else State.READY
        # A key is sent only to the server it was entered for.
        if key or not model.pk or not same_server(base_url, model.base_url):
            model.encrypted_key = secrets.encrypt(key)
        model.languages, model.base_url = list(known), base_url.rstrip("/")
        model.own_network = own_network
        model.license = described["license"] if described and source == Source.HUB else model.license
        model.added_by_id = user_id
        model.save()
    return model


def set_languages(model: RegisteredModel, known: Iterable[str]) -> None:
    """Set the languages that a model knows, empty for every language; applies at once. Raises `NotPossible`."""
    if settings.EMBEDDING_LANGUAGES is not None and _is_configured(model):
        raise NotPossible(_("The languages of this model are set by EMBEDDING_LANGUAGES in the environment."))
    model.languages = list(known)
    model.save(update_fields=["languages"])
    EmbeddingSpace.objects.filter(provider=model.provider, model=model.name).update(languages=model.languages)


def check_can_be_used(model: RegisteredModel) -> None:
    """Raise `NotPossible` unless search may be switched to a model."""
    # Completing the active space isn't a switch.
    active = EmbeddingSpace.objects.filter(provider=model.provider, model=model.name, active=True)
    given = settings.EMBEDDING_GIVEN
    if given and not _is_configured(model) and not active.exists():
        message = _("The environment sets the embedding model to “{name}” ({variables}). Change it there.")
        raise NotPossible(message.format(name=settings.EMBEDDING_MODEL, variables=", ".join(given)))
    check_is_ready(model)


def check_is_ready(model: RegisteredModel) -> None:
    """Raise `NotPossible` unless a model is ready."""
    if model.state == State.GONE:
        raise NotPossible(_("“{name}” came with an earlier version of this site.").format(name=model.name))
    if model.state != State.READY:
        raise NotPossible(_("“{name}” isn't ready. Finish adding it first.").format(name=model.name))


def check_files(model: RegisteredModel) -> None:
    """Raise `NotPossible` if a model's files have changed since they were added. Reads them all."""
    if not model.digests:
        return
    folder = model_files.added(model.name)
    if folder is None or model_files.digests(folder) != model.digests:
        message = _("The files of “{name}” have changed since it was added. Remove it and add it again.")
        raise NotPossible(message.format(name=model.name))


def remove(model: RegisteredModel) -> None:
    """Remove an unused model with its vectors and files, or the bundled model's vectors. Raises `NotPossible`."""
    known = status_of(model)
    if known.in_use:
        raise NotPossible(_("“{name}” is in use and can't be removed.").format(name=model.name))
    if known.named:
        raise NotPossible(_("“{name}” is named in the environment and can't be removed.").format(name=model.name))
    if model.jobs.filter(status__in=ModelJob.UNFINISHED).exists():
        raise NotPossible(_("“{name}” has a job in progress. Stop it first.").format(name=model.name))
    try:
        reembedding.drop(EmbeddingSpace.objects.filter(provider=model.provider, model=model.name))
    except AlreadyRunning:
        raise NotPossible(_("Another switch of models is in progress. Wait until it has finished.")) from None
    except Busy:
        raise NotPossible(_("The database tables are too busy to be changed. Try again in a moment.")) from None
    if model.source != Source.BUNDLED:
        if model.source in (Source.HUB, Source.FILES):
            model_files.remove(model.name)
        for job in model.jobs.filter(details__uploaded=True):
            Path(job.details["origin"]).unlink(missing_ok=True)
        model.delete()


def remove_gone() -> None:
    """Remove the models of an earlier version, once the space that replaces theirs is filled."""
    gone = list(RegisteredModel.objects.filter(state=State.GONE))
    if gone and not EmbeddingSpace.objects.filter(active=True, filled=False).exists():
        for model in gone:
            with suppress(NotPossible):  # retried later
                remove(model)


def _is_configured(model: RegisteredModel) -> bool:
    """Return whether this is the model in the settings."""
    return (model.provider, model.name) == (settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL)


def passages() -> int:
    """Return the number of indexed passages."""
    return CorpusSize.objects.aggregate(all=Sum("chunks"))["all"] or 0


def _notice() -> None:
    """Create the rows of models that nobody added: the bundled one, that of the settings, and those of spaces."""
    there = set(RegisteredModel.objects.values_list("name", flat=True))
    found: dict[str, RegisteredModel] = {}
    for space in EmbeddingSpace.objects.exclude(model__in=there):
        found[space.model] = _row(space.model, space.provider, space.languages, space.dimension)
        found[space.model].base_url, found[space.model].encrypted_key = space.base_url, space.encrypted_key
        found[space.model].own_network = space.own_network
    remote = settings.EMBEDDING_PROVIDER == "openai"
    if (name := settings.EMBEDDING_MODEL) not in there | found.keys():
        found[name] = _row(name, settings.EMBEDDING_PROVIDER, settings.EMBEDDING_LANGUAGES)
        found[name].base_url = settings.EMBEDDING_BASE_URL if remote else ""
        found[name].encrypted_key = secrets.encrypt(settings.EMBEDDING_API_KEY) if remote else b""
    if BUNDLED not in there | found.keys():
        found[BUNDLED] = _row(BUNDLED, "local")
    RegisteredModel.objects.bulk_create(found.values(), ignore_conflicts=True)


def _row(name: str, provider: str, known: Sequence[str] | None = None, dimension: int | None = None) -> RegisteredModel:
    model = RegisteredModel(name=name, state=State.READY, source=Source.ENDPOINT, dimension=dimension)
    model.languages = languages_of(EmbeddingModel(provider, name)) if known is None else list(known)
    if provider == "openai":
        return model
    described = model_files.known_to_fastembed(name)
    folder = Path(settings.BUNDLED_MODEL_DIR) if name == BUNDLED else Path(name).expanduser()
    model.source = Source.HUB if described else Source.FILES
    if name == BUNDLED:
        model.source = Source.BUNDLED
    if folder.is_dir():
        model.size, model.license = model_files.size_of(folder), model_files.licence_of(folder)
        model.dimension = model_files.description(folder).get("hidden_size", dimension)
    elif described:
        model.license, model.size = described["license"], int(described["size_in_GB"] * 1e9)
    return model
