"""Helpers for tests of the retrieval pages: a base with indexed passages, and sets on it."""

from django.contrib.auth.models import User

from knowledge.models import Chunk, KnowledgeBase
from retrieval.evaluation import sets
from retrieval.evaluation.models import EvaluationResult, EvaluationRun, EvaluationSet
from tests import factories

PASSAGES = [
    "A cat purrs when it is content.",
    "The TL-SE2109 switch has eight gigabit ports.",
    "PostgreSQL keeps statistics about the columns of a table.",
]
FIGURES = {"nDCG@10": 0.5, "recall@5": 0.5, "recall@10": 1.0, "MRR@10": 0.5}
HTMX = {"HX-Request": "true"}


def make_base(owner: User, name: str = "Facts") -> KnowledgeBase:
    """Create a base whose passages are all indexed."""
    base = factories.make_knowledge_base(owner, name)
    document = factories.make_document(base, "facts.txt")
    factories.make_chunks(document, PASSAGES, heading_path=["Facts"], page_from=2)
    factories.index_document(document.pk)
    return base


def chunk_of(base: KnowledgeBase, words: str) -> Chunk:
    return Chunk.objects.get(document__knowledge_base=base, content__contains=words)


def make_set(base: KnowledgeBase, name: str = "Golden") -> EvaluationSet:
    """Create a set of one question, whose passage exists."""
    made = sets.create_set(base.owner, base, name)
    sets.add_question(made, "How many ports?", [chunk_of(base, "ports").pk])
    return made


def make_run(evaluation_set: EvaluationSet, ndcg: float = 0.5, **fields: object) -> EvaluationRun:
    """Create a completed run, with results for the set's questions."""
    given = {"status": "done", "progress": 100, "question_count": 1, "settings": {"mode": "hybrid"}} | fields
    run = EvaluationRun.objects.create(
        evaluation_set=evaluation_set,
        figures=FIGURES | {"nDCG@10": ndcg},
        **given,  # type: ignore[arg-type]
    )
    for question in evaluation_set.questions.all():
        chunk = chunk_of(evaluation_set.knowledge_base, "ports")
        place = {"chunk_id": chunk.pk, "document_id": chunk.document_id, "filename": "facts.txt", "page": None}
        hit = place | {"heading": "", "snippet": chunk.content, "score": 0.1, "grade": 1}
        EvaluationResult.objects.create(
            run=run, key=question.key, text=question.text, ndcg_10=ndcg, recall_5=1, recall_10=1, mrr_10=1, hits=[hit]
        )
    return run
