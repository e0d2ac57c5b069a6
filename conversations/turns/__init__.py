"""The life cycle of a turn: starting, running, checkpoints, delivery to listeners, and the end."""
