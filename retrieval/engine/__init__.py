"""The search engine inside PostgreSQL: text to terms, words by BM25, vectors, and the index that holds both."""
