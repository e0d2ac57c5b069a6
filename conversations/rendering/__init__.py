"""Answers as HTML: blocks, Markdown, fragments and frames."""
