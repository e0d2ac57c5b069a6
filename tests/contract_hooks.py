"""What schemathesis is told beside the OpenAPI document: what that can't say, one reason each, and what is enough."""

from typing import Any

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData

_tried: set[tuple[object, ...]] = set()


@schemathesis.hook
def filter_case(context: Any, case: schemathesis.Case) -> bool:
    """Try each limit of each field once, where it would take up to six values; half of the requests say it all.

    The conditions on documents' metadata are one schema in many operations: each of its limits is tried in one of them.
    """
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData):
        return True
    field = (data.location, data.parameter_location, data.parameter, data.description)
    shared = "'metadata' value: Object with additional property" in data.description
    limit = field if shared else (case.operation.label, case.method, *field)
    if limit in _tried:
        return False
    _tried.add(limit)
    return True


@schemathesis.hook
def before_call(context: Any, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    """Mend what only looks valid."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not isinstance(case.body, dict):
        return
    if "chunk_overlap" in case.body:  # A passage repeats less than all of the one before: one field limits another.
        case.body["chunk_size"] = 2000
    elif "chunk_size" in case.body:  # ... here, one that is stored.
        case.body["chunk_overlap"] = 0
    if case.body.get("metadata") and "file" in case.body:  # In a form it's JSON in a text.
        case.body["metadata"] = '{"year": 2026}'
    if "file" in case.body and case.operation.path == "/api/evaluation-sets":  # What is in a file isn't described.
        case.body["file"] = b'{"question": "How many ports?", "relevant": ["manual.pdf"]}'
    if case.body.get("questions"):  # Their `_id`s differ.
        case.body["questions"] = case.body["questions"][:1]
    if case.operation.path.endswith("/documents/bulk"):  # Each action needs something of its own.
        case.body |= {"target": 1, "tags": ["new"], "metadata": {"year": 2026}}
