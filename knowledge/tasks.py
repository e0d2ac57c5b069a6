"""What the workers run: ids in, services do the work."""

from knowledge import ingestion


def ingest_document(document_id: int) -> bool:
    """Make a document searchable; see `ingestion.ingest`."""
    return ingestion.ingest(document_id)


def requeue_stalled() -> int:
    """Offer documents again whose worker is gone; see `ingestion.requeue_stalled`."""
    return ingestion.requeue_stalled()
