"""A decoder of server-sent events, written from the HTML standard and independent of the site's encoder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    data: str
    id: str = ""


def decode(stream: str) -> list[Frame]:
    """Return the events of a complete stream; comments and an unfinished event are dropped."""
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
