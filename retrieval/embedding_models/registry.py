"""Which embedding models the site has, which one is in use, and what may be done with each.

What the environment names decides: then another model can be added and tried, but not taken into use.
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
# Of those that fastembed knows: made for pictures, or for one side of a search only.
_UNSUITABLE = ("(text&image)", "query-side", "document side")


class NotPossible(Exception):
    """This can't be done with a model now; the message is for the person who asked."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A registered model with its vectors and whether it is in use."""

    model: RegisteredModel
    vectors: int  # of all its spaces
    disk: int  # bytes that they take, with their indexes
    in_use: bool
    filled: bool  # has all vectors, where it is in use
    kept: bool  # has the vectors of a time in which it was in use
    left_at: datetime | None
    named: bool  # by the environment

    @property
    def can_be_removed(self) -> bool:
        """Whether its vectors or itself can go."""
        return not self.in_use and not self.named and (self.model.source != Source.BUNDLED or bool(self.vectors))


def all_models() -> list[ModelStatus]:
    """Return every model, the one in use first, then those that were, then by name."""
    _notice()
    found: dict[tuple[str, str], list[EmbeddingSpace]] = {}
    for space in EmbeddingSpace.objects.annotate(total=Sum("counts__vectors")):
        found.setdefault((space.provider, space.model), []).append(space)
    known, sizes = [], partitions.sizes()
    # As long as nothing was indexed or asked for, the settings' model is the one that will be searched by.
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
    """Return a model's vectors, and whether it is in use."""
    return next(each for each in all_models() if each.model.pk == model.pk)


def previous() -> RegisteredModel | None:
    """Return the model that was in use before the present one and still has its vectors, or None."""
    kept = [each for each in all_models() if each.kept]
    return max(kept, key=lambda each: str(each.left_at)).model if kept else None


def find(name: str) -> RegisteredModel:
    """Return a model by its name, in any case; raises `NotPossible`."""
    _notice()
    model = RegisteredModel.objects.filter(name__iexact=name.strip()).first()
    if model is None:
        raise NotPossible(_("There is no embedding model “{name}” here.").format(name=name.strip()))
    return model


def offered() -> list[RegisteredModel]:
    """Return the models that can be downloaded, as unsaved rows: those that know many languages first, then by size."""
    from fastembed import TextEmbedding

    found = []
    for each in TextEmbedding.list_supported_models():
        told = each["description"].lower()
        if each["model"].startswith(IN_FOLDER) or any(mark in told for mark in _UNSUITABLE):
            continue
        if each["model_file"].endswith(".onnx"):
            known, size = languages(each["model"], told), int(each["size_in_GB"] * 1e9)
            found.append(
                RegisteredModel(
                    name=each["model"], languages=known, license=each["license"], size=size, dimension=each["dim"]
                )
            )
    return sorted(found, key=lambda one: (not one.knows("zh"), len(one.languages), one.size or 0))


def languages(name: str, description: str = "") -> list[str]:
    """Return the languages that a model knows by its name, or by fastembed's description; empty means every one."""
    told = description.lower()
    if "multilingual (" in told and "german" not in told and "programming" not in told:
        return []
    if ", multilingual," in told or "multi-lingual" in told:
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
    """Make the row of a model that is to be added, or take up one that failed. Raises `NotPossible`.

    `known` are the languages that it knows, empty for every one, None for what its name tells. `own_network` is that of
    `ragsite.llm.types.Endpoint`. An endpoint's model that is there already gets its address and key anew, also where it
    is in use.
    """
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise NotPossible(_("A model needs a name of at most 200 characters."))
    described = model_files.known_to_fastembed(name)
    name = described["model"] if described and source != Source.ENDPOINT else name
    if source == Source.HUB and described is None:
        raise NotPossible(_("“{name}” is no model that can be downloaded.").format(name=name))
    if known is None:
        told = described["description"] if described else ""
        known = languages_of(EmbeddingModel("openai", name)) if source == Source.ENDPOINT else languages(name, told)
    _notice()
    with transaction.atomic():
        model = RegisteredModel.objects.select_for_update().filter(name__iexact=name).first()
        if model is not None:
            again = model.state == State.FAILED or (model.source == source == Source.ENDPOINT)
            if not again or model.jobs.filter(status__in=ModelJob.UNFINISHED).exists():
                raise NotPossible(_("There is a model of this name already."))
        else:
            model = RegisteredModel(name=name)
        model.source, model.state = source, State.NEW if model.state != State.READY else State.READY
        # A key is sent nowhere but to where it was given for.
        if key or not model.pk or not same_server(base_url, model.base_url):
            model.encrypted_key = secrets.encrypt(key)
        model.languages, model.base_url = list(known), base_url.rstrip("/")
        model.own_network = own_network
        model.license = described["license"] if described and source == Source.HUB else model.license
        model.added_by_id = user_id
        model.save()
    return model


def set_languages(model: RegisteredModel, known: Iterable[str]) -> None:
    """Say which languages a model knows, empty for every one: search goes by it at once. Raises `NotPossible`."""
    if settings.EMBEDDING_LANGUAGES is not None and _is_configured(model):
        raise NotPossible(_("EMBEDDING_LANGUAGES of the environment says which languages this model knows."))
    model.languages = list(known)
    model.save(update_fields=["languages"])
    EmbeddingSpace.objects.filter(provider=model.provider, model=model.name).update(languages=model.languages)


def check_can_be_used(model: RegisteredModel) -> None:
    """Raise `NotPossible` unless a model may be taken into use."""
    # To complete what is searched anyway is no change.
    active = EmbeddingSpace.objects.filter(provider=model.provider, model=model.name, active=True)
    given = settings.EMBEDDING_GIVEN
    if given and not _is_configured(model) and not active.exists():
        message = _("The environment names the embedding model “{name}” ({variables}), and decides. Change it there.")
        raise NotPossible(message.format(name=settings.EMBEDDING_MODEL, variables=", ".join(given)))
    check_is_ready(model)


def check_is_ready(model: RegisteredModel) -> None:
    """Raise `NotPossible` unless a model was added as a whole."""
    if model.state == State.GONE:
        raise NotPossible(_("“{name}” came with an earlier version of this site.").format(name=model.name))
    if model.state != State.READY:
        raise NotPossible(_("“{name}” isn't ready: it has to be added first.").format(name=model.name))


def check_files(model: RegisteredModel) -> None:
    """Raise `NotPossible` unless a model's files are still what they were; reads them all."""
    if not model.digests:
        return
    folder = model_files.added(model.name)
    if folder is None or model_files.digests(folder) != model.digests:
        message = _("The files of “{name}” are not those that were added: remove it and add it again.")
        raise NotPossible(message.format(name=model.name))


def remove(model: RegisteredModel) -> None:
    """Remove a model that isn't in use, with its vectors and files; of the bundled one the vectors. `NotPossible`."""
    known = status_of(model)
    if known.in_use:
        raise NotPossible(_("“{name}” is in use: search needs it.").format(name=model.name))
    if known.named:
        raise NotPossible(_("The environment names “{name}”.").format(name=model.name))
    if model.jobs.filter(status__in=ModelJob.UNFINISHED).exists():
        raise NotPossible(_("Something is being done with “{name}”; stop that first.").format(name=model.name))
    try:
        reembedding.drop(EmbeddingSpace.objects.filter(provider=model.provider, model=model.name))
    except AlreadyRunning:
        raise NotPossible(_("Another change of model is under way; wait for it.")) from None
    except Busy:
        raise NotPossible(_("The tables are too busy to be changed. Try again in a moment.")) from None
    if model.source != Source.BUNDLED:
        if model.source in (Source.HUB, Source.FILES):
            model_files.remove(model.name)
        for job in model.jobs.filter(details__uploaded=True):
            Path(job.details["origin"]).unlink(missing_ok=True)
        model.delete()


def remove_gone() -> None:
    """Remove models that came with an earlier version of the site, once search needs no space that replaces them."""
    gone = list(RegisteredModel.objects.filter(state=State.GONE))
    if gone and not EmbeddingSpace.objects.filter(active=True, filled=False).exists():
        for model in gone:
            with suppress(NotPossible):  # for the moment
                remove(model)


def _is_configured(model: RegisteredModel) -> bool:
    """Whether this is the settings' model."""
    return (model.provider, model.name) == (settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL)


def passages() -> int:
    """Return how many passages are indexed."""
    return CorpusSize.objects.aggregate(all=Sum("chunks"))["all"] or 0


def _notice() -> None:
    """Make the rows of models that came without being added: the bundled one, that of the settings, those of spaces."""
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
