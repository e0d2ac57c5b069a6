"""Background tasks of conversations."""

import logging
from dataclasses import asdict

from conversations import retention

logger = logging.getLogger(__name__)


def clean_up() -> dict[str, int]:
    """Remove expired data; return the number of rows removed, by kind."""
    removed = asdict(retention.clean_up())
    logger.info("Cleaned up conversations: %s", ", ".join(f"{count} {kind}" for kind, count in removed.items()))
    return removed
