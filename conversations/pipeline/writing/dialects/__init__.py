"""Parses a model's output, Markdown or block events in JSON, into the parts of an answer. Pure."""

from conversations.pipeline.writing.dialects.reader import AnswerReader

__all__ = ["AnswerReader"]
