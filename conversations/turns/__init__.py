"""A turn's life: started, run, checkpointed, followed by who listens, and ended."""
