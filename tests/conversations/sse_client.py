"""A server-sent events decoder as browsers have it, written from the HTML standard and not from our encoder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    data: str
    id: str = ""


def decode(stream: str) -> list[Frame]:
    """Return the dispatched events of a whole stream; comments are skipped, an unfinished event is dropped."""
    frames: list[Frame] = []
    data: list[str] = []
    last_id = ""
    for line in stream.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            if data:
                frames.append(Frame("\n".join(data), last_id))
            data = []
            continue
        name, _colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "id":
            last_id = value
    return frames
