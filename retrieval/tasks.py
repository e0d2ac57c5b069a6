"""What the workers run: ids in, services do the work."""

from retrieval.evaluation import runs


def run_evaluation(run_id: int) -> bool:
    """Do a queued evaluation run; see `runs.execute`."""
    return runs.execute(run_id)
