"""Hooks for schemathesis: constraints that the OpenAPI document can't express, and a limit on the cases."""

from typing import Any

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData

_tried: set[tuple[object, ...]] = set()


@schemathesis.hook
def filter_case(context: Any, case: schemathesis.Case) -> bool:
    """Test each limit of each field with one value instead of up to six, which halves the number of requests.

    The conditions on documents' metadata share a schema in many operations; each of its limits is tested in only one.
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
    """Correct bodies that conform to the schema but aren't valid."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not isinstance(case.body, dict):
        return
    if "chunk_overlap" in case.body:  # One field limits the other: the overlap must be smaller.
        case.body["chunk_size"] = 2000
    elif "chunk_size" in case.body:  # The same with the stored value of the other field.
        case.body["chunk_overlap"] = 0
    if case.body.get("metadata") and "file" in case.body:  # In a form, it is a string of JSON.
        case.body["metadata"] = '{"year": 2026}'
    if "file" in case.body and case.operation.path == "/api/evaluation-sets":  # The contents of files aren't described.
        case.body["file"] = b'{"question": "How many ports?", "relevant": ["manual.pdf"]}'
    if case.body.get("questions"):  # Their `_id`s must differ.
        case.body["questions"] = case.body["questions"][:1]
    if case.operation.path.endswith("/documents/bulk"):  # Each action requires a different field.
        case.body |= {"target": 1, "tags": ["new"], "metadata": {"year": 2026}}
