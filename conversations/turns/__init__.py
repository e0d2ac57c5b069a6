"""The life of a turn: it is started, run, checkpointed, sent to its listeners, and ended."""
