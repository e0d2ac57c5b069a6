"""What the workers run: ids in, services do the work."""

from knowledge.ingestion import worker
from retrieval.embedding_models import jobs
from retrieval.engine import index
from retrieval.evaluation import runs


def run_evaluation(run_id: int) -> bool:
    """Do a queued evaluation run, which may take long, while documents are read; see `runs.execute`."""
    return worker.run_while_ingesting(lambda: runs.execute(run_id))


def run_model_job(job_id: int) -> bool:
    """Add, try or take into use an embedding model, while documents are read; see `jobs.execute`."""
    return worker.run_while_ingesting(lambda: jobs.execute(job_id))


def fill_active_space() -> bool:
    """See that the space in use gets the vectors that it lacks; see `jobs.fill_active_space`."""
    return jobs.fill_active_space()


def renew_index() -> int:
    """Analyse anew what an earlier version of the site indexed, while documents are read; see `index.renew`."""
    return worker.run_while_ingesting(index.renew)
