"""The search engine inside PostgreSQL: text analysis, word search by BM25, vector search, and the index of both."""
