"""Ranking: running both retrievers, fusing, reordering, reranking and merging neighbours."""
