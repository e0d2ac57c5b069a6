"""The search engine inside PostgreSQL: BM25 word search, vector search, and the index for both."""
