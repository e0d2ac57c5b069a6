"""Analysis of English and Chinese text: pure functions and word lists. Imports no app."""
