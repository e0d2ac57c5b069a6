"""The event stream as server-sent events, in its two forms: step frames and prefix frames. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from conversations.blocks import kind_of, table_row
from conversations.events import (
    BlockEnd,
    BlockStart,
    BlockUpdate,
    Delta,
    DoneEvent,
    ErrorEvent,
    Event,
    SessionEvent,
    SourcesEvent,
    StepEvent,
    ThinkEvent,
)

HEARTBEAT = ": heartbeat\n\n"


def frame(data: str, seq: int = 0) -> str:
    """Return one server-sent event; lines of the data become `data:` lines, a `seq` above 0 its id."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    identity = f"id: {seq}\n" if seq else ""
    return identity + "".join(f"data: {line}\n" for line in lines) + "\n"


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def step_frame(event: Event) -> str:
    """Return an event as a step frame.

    A step is unchanged and an error is `{"step": "error", "status": "error", "message"}`. The session is step 0, the
    end is `{"step": "done"}` with the final status; everything else (blocks, thinking, sources) is step 8. Their
    `message` is the event's JSON as a string, with its type under both `t` and `type`.
    """
    match event:
        case StepEvent():
            body = _body(event.step, event.step_name, event.status, event.message)
        case ErrorEvent():
            body = {"step": "error", "status": "error", "message": event.message}
        case SessionEvent():
            body = _body(0, _("Session"), "completed", _payload(event))
        case DoneEvent():
            body = _body("done", _("Done"), event.status, _payload(event))
        case ThinkEvent():
            body = _body(8, _("Thinking"), "processing", _payload(event))
        case SourcesEvent():
            body = _body(8, _("Sources"), "processing", _payload(event))
        case _:
            body = _body(8, _("Answer"), "processing", _payload(event))
    return frame(_json(body), event.seq)


def _body(step: int | str, step_name: str, status: str, message: str) -> dict[str, Any]:
    return {"step": step, "step_name": step_name, "status": status, "message": message}


def _payload(event: Event) -> str:
    return _json({"t": event.type} | event.to_dict())


@dataclass(slots=True)
class PrefixFrames:
    """Converts events into prefix frames.

    They are `SESSION:`, `MESSAGE:`, `STEP:`, `CONTENT:`, `THINK:`, `SOURCE:`, `ERROR:` and `DONE:`.

    `MESSAGE:` contains the answer's id, for stopping, rating and fetching it. The joined `CONTENT:` frames of an answer
    are its Markdown, including tables and images; there is one `SOURCE:` per citation, which also contains
    the answer's state. Until there is text, a `STEP:` frame at the beginning of each step says what is being done;
    later steps have none, so that a client that shows only the newest frame doesn't hide the text.
    """

    thinking: bool = True
    _blocks: dict[str, BlockStart] = field(default_factory=dict)

    def feed(self, event: Event) -> list[str]:
        """Return the frames for one event; most have none."""
        match event:
            case StepEvent():
                told = {"key": event.key, "step": event.step, "step_name": event.step_name}
                texts = [f"STEP:{_json(told)}"] if event.status == "processing" and not self._blocks else []
            case SessionEvent():
                texts = [f"SESSION:{event.session_id}", f"MESSAGE:{event.assistant_message_id}"]
            case ThinkEvent():
                texts = [f"THINK:{event.text}"] if self.thinking else []
            case SourcesEvent():
                state = {"answer_state": event.answer_state}
                texts = [f"SOURCE:{_json(citation | state)}" for citation in event.citations]
            case ErrorEvent():
                texts = [f"ERROR:{event.message}"]
            case DoneEvent():
                texts = ["DONE:"]
            case _:
                texts = [f"CONTENT:{self._markdown(event)}"]
        return [frame(text, event.seq) for text in texts if text not in ("CONTENT:", "THINK:")]

    def _markdown(self, event: Event) -> str:
        match event:
            case BlockStart():
                self._blocks[event.id] = event
                gap = "\n\n" if len(self._blocks) > 1 else ""
                given = event.to_dict()
                return gap + kind_of(given).opening(given)
            case Delta() if event.row is not None:
                return table_row(event.row)
            case Delta():
                return event.text or ""
            case BlockUpdate() if event.id in self._blocks:
                return f"![{self._blocks[event.id].alt or ''}]({event.url})"
            case BlockEnd() if event.id in self._blocks:
                return kind_of(self._blocks[event.id].to_dict()).closing()
            case _:
                return ""
