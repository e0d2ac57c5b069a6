"""What an answer from a search's hits would be."""

from retrieval.types import SearchRequest, SearchResult


async def judge_result(question: str, request: SearchRequest, result: SearchResult) -> str:
    """Return "answered", "nearest" or "nothing" for what was found for a question."""
    return "answered" if result.hits else "nothing"
