"""What the workers run: ids in, services do the work."""

from knowledge import services
from knowledge.ingestion import ingestion, worker


def ingest_waiting() -> int:
    """Read and index the documents that wait; see `worker.work`."""
    return worker.work()


def requeue_stalled() -> int:
    """Offer documents again whose worker is gone, and tidy the queue; see `ingestion.requeue_stalled`."""
    services.tidy_queue()
    return ingestion.requeue_stalled()
