"""What the workers run: ids in, services do the work."""

from knowledge import ingestion, work


def ingest_waiting() -> int:
    """Read and index the documents that wait; see `work.work`."""
    return work.work()


def requeue_stalled() -> int:
    """Offer documents again whose worker is gone; see `ingestion.requeue_stalled`."""
    return ingestion.requeue_stalled()
