"""What the workers run: ids in, services do the work."""

from knowledge import services
from knowledge.ingestion import ingestion, worker
from knowledge.many import bulk


def ingest_waiting() -> int:
    """Read and index the documents that wait; see `worker.work`."""
    return worker.work()


def requeue_stalled() -> int:
    """Offer documents again whose worker is gone, and tidy the queue; see `ingestion.requeue_stalled`."""
    services.tidy_queue()
    bulk.resume_stalled()
    return ingestion.requeue_stalled()


def run_bulk_job(job_id: int) -> bool:
    """Do one thing to many documents, while others are read; see `bulk.run`."""
    return worker.run_while_ingesting(lambda: bulk.run(job_id))
