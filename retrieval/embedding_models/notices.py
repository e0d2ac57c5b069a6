"""Notices for users: the embedding model doesn't know the language of most passages, or vectors are still missing."""

from collections import Counter
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count
from django.utils.functional import Promise

from knowledge.models import Chunk
from ragsite.language.detection import LANGUAGE_NAMES
from ragsite.llm.embedding.embedding import configured, languages_of
from retrieval.embedding_models.models import ModelJob
from retrieval.engine import spaces
from retrieval.models import EmbeddingSpace

# Seconds for which the counts of a base's passages, and of the site's, are cached. For a base with few passages they
# aren't, since each new document may change the majority.
_KEPT, _KEPT_OF_SITE = 60, 600
_FEW = 10_000


@dataclass(frozen=True, slots=True)
class Notice:
    """Most passages are in a language that the model doesn't know."""

    language: str  # its code
    percent: int
    model: str

    @property
    def name(self) -> str | Promise:
        """The language's name."""
        return LANGUAGE_NAMES.get(self.language, self.language)


@dataclass(frozen=True, slots=True)
class Filling:
    """The model in use replaced the one of an earlier version, and vectors are still missing."""

    model: str
    percent: int
    seconds_left: int | None
    status: str  # of the job that computes them; empty if there is none yet


def filling() -> Filling | None:
    """Return how far the active space is filled; None if it is complete or there is none, which is usual."""
    space = EmbeddingSpace.objects.filter(active=True, filled=False).first()
    if space is None:
        return None
    job = ModelJob.objects.filter(model__name=space.model, kind=ModelJob.Kind.USE).first()
    left, status = (job.seconds_left, job.status) if job is not None else (None, "")
    return Filling(space.model, spaces.percent_filled(space), left, status)


def passages_by_language(knowledge_base_id: int | None = None) -> Counter[str]:
    """Return the number of passages of a base, or of the whole site, by language; unknown languages are left out."""
    key = f"retrieval:passages-by-language:{knowledge_base_id or 'all'}"
    found: dict[str, int] | None = cache.get(key)
    if found is None:
        chunks = Chunk.objects.exclude(document__language="").order_by()
        if knowledge_base_id is not None:
            chunks = chunks.filter(document__knowledge_base=knowledge_base_id)
        found = dict(chunks.values_list("document__language").annotate(Count("pk")))
        if knowledge_base_id is None or sum(found.values()) > _FEW:
            cache.set(key, found, _KEPT if knowledge_base_id is not None else _KEPT_OF_SITE)
    return Counter(found)


def notice_of(knowledge_base_id: int | None = None) -> Notice | None:
    """Return the notice for a base, or for the whole site; usually None."""
    space = EmbeddingSpace.objects.filter(active=True).first()
    if space is not None:
        model, known = space.model, list(space.languages)
    else:
        chosen = configured()
        model = chosen.model
        known = languages_of(chosen)
    if not known:
        return None
    counts = passages_by_language(knowledge_base_id)
    unknown = Counter({language: count for language, count in counts.items() if language not in known})
    if 2 * unknown.total() <= counts.total():
        return None
    language = unknown.most_common(1)[0][0]
    return Notice(language, round(100 * unknown.total() / counts.total()), model)
