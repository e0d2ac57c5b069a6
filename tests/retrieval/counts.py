"""The stored counts of a knowledge base's index."""

from knowledge.models import KnowledgeBase
from retrieval.models import CorpusSize, VectorCount


def counted(base: KnowledgeBase) -> tuple[int, int]:
    """Return the number of chunks indexed by words, and the number with vectors."""
    vectors = VectorCount.objects.filter(knowledge_base=base, space__active=True).values_list("vectors", flat=True)
    return CorpusSize.objects.filter(pk=base.pk).values_list("chunks", flat=True).first() or 0, sum(vectors)
