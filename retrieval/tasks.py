"""Tasks for the workers: they take ids and call the services."""

from knowledge.ingestion import worker
from retrieval.embedding_models import jobs
from retrieval.engine import index
from retrieval.evaluation import runs


def run_evaluation(run_id: int) -> bool:
    """Execute a queued evaluation run, which may take long, while documents are ingested; see `runs.execute`."""
    return worker.run_while_ingesting(lambda: runs.execute(run_id))


def run_model_job(job_id: int) -> bool:
    """Add, try or switch to an embedding model, while documents are ingested; see `jobs.execute`."""
    return worker.run_while_ingesting(lambda: jobs.execute(job_id))


def fill_active_space() -> bool:
    """Make sure that the active space gets its missing vectors; see `jobs.fill_active_space`."""
    return jobs.fill_active_space()


def renew_index() -> int:
    """Re-analyse chunks indexed by an earlier version, while documents are ingested; see `index.renew`."""
    return worker.run_while_ingesting(index.renew)
