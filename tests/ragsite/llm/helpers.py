"""Helpers for the tests of the clients."""

from collections.abc import Sequence
from contextlib import aclosing

from ragsite.llm.chat import ChatClient
from ragsite.llm.errors import LLMError
from ragsite.llm.types import ChatMessage, Piece, TextPiece, ThinkPiece

QUESTION = [ChatMessage("system", "Be brief."), ChatMessage("user", "What is BM25?")]


async def collect(client: ChatClient) -> tuple[list[Piece], LLMError | None]:
    """Return all pieces of an answer, and the error that ended it."""
    pieces: list[Piece] = []
    try:
        async with aclosing(client.stream(QUESTION)) as stream:
            async for piece in stream:
                pieces.append(piece)
    except LLMError as error:
        return pieces, error
    return pieces, None


def text_of(pieces: Sequence[Piece]) -> str:
    """Return the answer."""
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def thinking_of(pieces: Sequence[Piece]) -> str:
    """Return the thinking."""
    return "".join(piece.text for piece in pieces if isinstance(piece, ThinkPiece))
