"""What `knowledge` announces to the rooms above it; it knows none of its listeners."""

from django.dispatch import Signal

# A document's chunks are stored. Arguments: document_id (int); go_on, to be called now and then, which raises `Lost`
# when the document is no longer this worker's. Sent inside the ingestion task; listeners make the document findable by
# its words before they return.
document_chunked = Signal()

# Documents are found by their words and wait for what takes longer. Argument: claims (iterable of `Claim | None`). One
# listener takes the claims, works on each under `ingestion.guarded`, tells `ingestion.report` how far it is, and ends
# it with `finish` or `pause`. The iterable gives None before it waits for the next claim: what is in hand is to be
# finished then. It ends when the worker turns to something else.
indexing_due = Signal()

# Chunks are about to be deleted (document deleted or parsed anew). Arguments: document_ids (list of int),
# knowledge_base_id (int). Sent inside the transaction that deletes them.
documents_unindexed = Signal()
