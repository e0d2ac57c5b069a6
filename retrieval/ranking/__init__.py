"""Making one ranking: both retrievers asked, fused, reordered, reranked, neighbours joined."""
