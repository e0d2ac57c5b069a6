"""The OpenAPI schema of the streams: their frames and the events in them."""

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from drf_spectacular.plumbing import resolve_type_hint

from conversations.blocks import KINDS as KINDS_OF_BLOCKS
from conversations.events import KINDS, Event

_DATA = {"type": "string", "contentMediaType": "application/json"}
_STRING = {"type": "string"}


def _stream(component: str, description: str) -> dict[str, Any]:
    """Return the schema of a stream: of each event, and as text for other clients."""
    as_text = {"type": "string", "description": "The stream as it is sent."}
    return {"anyOf": [{"$ref": f"#/components/schemas/{component}"}, as_text], "description": description}


STEP_STREAM = _stream("StepStreamEvent", "Server-sent events, each a step or a piece of the answer, to the end.")
PREFIX_STREAM = _stream("ConversationStreamEvent", "Server-sent events; a prefix says what each brings.")


def _server_sent(data: dict[str, Any]) -> dict[str, Any]:
    identity = {"type": "string", "description": "The event's number, counted from 1; for `Last-Event-ID`."}
    properties = {"id": identity, "event": {"type": "string", "description": "Always `message`."}, "data": data}
    return {"type": "object", "properties": properties, "required": ["data"]}


def _name(kind: type[Event]) -> str:
    return kind.__name__.removesuffix("Event") + "Event"


def _event(kind: type[Event]) -> dict[str, Any]:
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in kind.names()}
    properties = {name: resolve_type_hint(hint) for name, hint in hints.items()}  # type: ignore[no-untyped-call]
    if "kind" in properties:
        properties["kind"]["enum"] = list(KINDS_OF_BLOCKS)
    if "usage" in properties:
        properties["usage"] = {"$ref": "#/components/schemas/Usage"}
    required = [item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING]
    kinds = {name: {"type": "string", "enum": [kind.type]} for name in ("t", "type")}
    return {
        "type": "object",
        "description": kind.__doc__,
        "properties": kinds | properties,
        "required": ["type", "seq", *required],
    }


def add_frames(result: dict[str, Any], generator: Any, **kwargs: Any) -> dict[str, Any]:
    """Add the frames and events to the schema's components; a hook for the generator."""
    streamed = [kind for kind in KINDS.values() if kind.type not in ("step", "error")]
    frame = {"step_name": _STRING, "status": _STRING}
    steps = [{"type": "integer", "enum": [0, 8]}, {"type": "string", "enum": ["done"]}]
    payload = _DATA | {"contentSchema": {"$ref": "#/components/schemas/StreamedEvent"}}
    components = {_name(kind): _event(kind) for kind in streamed} | {
        "StreamedEvent": {"oneOf": [{"$ref": f"#/components/schemas/{_name(kind)}"} for kind in streamed]},
        "StepFrame": {
            "type": "object",
            "description": "A node of the pipeline starts or ends.",
            "properties": {
                "step": {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7, 9]},
                "step_name": {"type": "string", "description": "In the language of the request."},
                "status": {"type": "string", "enum": ["processing", "completed", "skipped", "error"]},
                "message": _STRING,
            },
            "required": ["step", "step_name", "status", "message"],
        },
        "EventFrame": {
            "type": "object",
            "description": "The beginning (step 0), a piece of the answer (8) or the end; `message` is the event.",
            "properties": {"step": {"anyOf": steps}, **frame, "message": payload},
            "required": ["step", "step_name", "status", "message"],
        },
        "ErrorFrame": {
            "type": "object",
            "description": "What went wrong, in words for a person; the end follows.",
            "properties": {
                "step": {"type": "string", "enum": ["error"]},
                "status": {"type": "string", "enum": ["error"]},
                "message": _STRING,
            },
            "required": ["step", "status", "message"],
        },
        "StepStreamEvent": _server_sent(
            _DATA
            | {
                "contentSchema": {
                    "oneOf": [
                        {"$ref": f"#/components/schemas/{name}"} for name in ("StepFrame", "EventFrame", "ErrorFrame")
                    ]
                }
            }
        ),
        "ConversationStreamEvent": _server_sent(
            {
                "type": "string",
                "pattern": r"^(SESSION:\d+|MESSAGE:\d+|(STEP|CONTENT|THINK|SOURCE|ERROR):[\s\S]+|DONE:)$",
                "description": "`SESSION:` and `MESSAGE:` with the ids of the chat and of the answer; before there is "
                "text, `STEP:` with the `key`, number (`step`) and `step_name` of a step that begins, as JSON; "
                "`CONTENT:` with a piece of the answer as Markdown; `THINK:` with thinking text; `SOURCE:` with a "
                "citation as JSON; "
                "`ERROR:` with words for a person; `DONE:`, last.",
            }
        ),
    }
    result["components"]["schemas"] |= components
    return result
