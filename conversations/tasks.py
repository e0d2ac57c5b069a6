"""What the background workers do for conversations."""

import logging
from dataclasses import asdict

from conversations import retention

logger = logging.getLogger(__name__)


def clean_up() -> dict[str, int]:
    """Remove what has outlived its time; return how much of each kind."""
    removed = asdict(retention.clean_up())
    logger.info("Cleaned up conversations: %s", ", ".join(f"{count} {kind}" for kind, count in removed.items()))
    return removed
