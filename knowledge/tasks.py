"""The tasks of the workers, which call services."""

from knowledge import services
from knowledge.ingestion import ingestion, worker
from knowledge.many import bulk
from ragsite.limits import ballast


def ingest_waiting() -> int:
    """Read and index waiting documents; see `worker.work`."""
    return worker.work()


def requeue_stalled() -> int:
    """Requeue documents and jobs whose worker is dead, tidy the queue, and keep space for a full disk.

    See `ingestion.requeue_stalled` and `ballast`.
    """
    ballast.keep()
    services.tidy_queue()
    bulk.resume_stalled()
    return ingestion.requeue_stalled()


def run_bulk_job(job_id: int) -> bool:
    """Run a bulk job while documents are read; see `bulk.run`."""
    return worker.run_while_ingesting(lambda: bulk.run(job_id))
