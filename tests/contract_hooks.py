"""What OpenAPI can't say, for schemathesis: applied to what it generates as valid. One reason each."""

from typing import Any

import schemathesis


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
