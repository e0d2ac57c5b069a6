"""A summary of files that were uploaded together: how many are read, and which failed, by reason."""

from collections.abc import Collection
from typing import Any

from django.db.models import Sum

from knowledge import explanations
from knowledge.models import Document, KnowledgeBase

MOST = 10_000  # documents of one summary
_NAMES = 200  # listed per reason


def summary(knowledge_base: KnowledgeBase, document_ids: Collection[int]) -> dict[str, Any]:
    """Return how many of some documents of a base have ended, their progress in percent, and why some failed.

    A reason has a short title, the names of the files, and the explanation if it is the same for all of them.
    """
    documents = knowledge_base.documents.filter(pk__in=document_ids)
    total = documents.count()
    unfinished = documents.filter(status__in=Document.UNFINISHED)
    left = unfinished.count()
    percent = 100 * (total - left) + (unfinished.aggregate(sum=Sum("progress"))["sum"] or 0)
    failed = documents.filter(status=Document.Status.FAILED).order_by("folder", "original_filename", "pk")
    reasons: dict[str, dict[str, Any]] = {}
    for document in failed:
        message = document.error_message
        title = str(explanations.TITLES.get(document.error_code, "")) or message
        reason = reasons.setdefault(title, {"title": title, "text": message, "count": 0, "files": []})
        reason["count"] += 1
        if reason["text"] != message:
            reason["text"] = ""
        if len(reason["files"]) < _NAMES:
            reason["files"].append(document.path)
    return {
        "total": total,
        "ended": total - left,
        "ready": documents.filter(status=Document.Status.READY).count(),
        "percent": percent / total if total else 100.0,
        "reasons": sorted(reasons.values(), key=lambda reason: -reason["count"]),
    }
