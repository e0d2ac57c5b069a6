"""What `knowledge` announces to the rooms above it; it knows none of its listeners."""

from django.dispatch import Signal

# A document's chunks are stored. Arguments: document_id (int), progress (callable taking 0-100).
# Sent inside the ingestion task; listeners make the document searchable before they return.
document_chunked = Signal()

# Chunks are about to be deleted (document deleted or parsed anew). Arguments: document_ids (list of int),
# knowledge_base_id (int). Sent inside the transaction that deletes them.
documents_unindexed = Signal()
