"""Quoting: choosing what to quote from passages, and what their tables say, without a model."""
