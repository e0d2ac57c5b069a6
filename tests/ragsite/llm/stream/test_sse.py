"""Decoding of server-sent events, wherever the network splits them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsite.llm.errors import BadReply
from ragsite.llm.stream.sse import SSEDecoder

RECORDED = (
    "\ufeff: OPENROUTER PROCESSING\n\n"
    'data: {"a": "检索😀"}\n\n'
    'data:{"b":1}\r\n\r\n'
    "event: error\rdata: one\rdata: two\r\r"
    "id: 7\nretry: 100\ndata\n\n"
    ":\n\n\n"
    "data:  kept space \n\n"
    "data: [DONE]"
).encode()
FRAMES = [
    '{"a": "检索😀"}',
    '{"b":1}',
    "one\ntwo",
    "",
    " kept space ",
    "[DONE]",
]


def decode(*chunks: bytes) -> list[str]:
    decoder = SSEDecoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.close()


def test_whole() -> None:
    assert decode(RECORDED) == FRAMES


@pytest.mark.parametrize("at", range(len(RECORDED) + 1))
def test_cut_anywhere(at: int) -> None:
    assert decode(RECORDED[:at], RECORDED[at:]) == FRAMES


def test_byte_by_byte() -> None:
    assert decode(*(RECORDED[at : at + 1] for at in range(len(RECORDED)))) == FRAMES


@given(st.lists(st.integers(0, len(RECORDED)), max_size=8))
def test_cut_in_many_places(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(RECORDED)]
    assert decode(*(RECORDED[a:b] for a, b in pairwise(edges))) == FRAMES


@given(st.binary(max_size=300), st.integers(0, 300))
def test_any_bytes_decode_alike_however_cut(data: bytes, at: int) -> None:
    assert decode(data) == decode(data[:at], data[at:])


def test_frames_come_as_soon_as_they_end() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: 1\r\n\r") == ["1"]
    assert decoder.feed(b"\ndata: 2\n\n") == ["2"]


def test_broken_characters_are_replaced() -> None:
    assert decode(b"data: \xe6\xa3\n\n") == ["\ufffd"]


@pytest.mark.parametrize("line_end", [b"", b"\n"])
def test_a_giant_frame_is_refused_before_it_fills_the_memory(line_end: bytes) -> None:
    decoder = SSEDecoder(limit=10_000)
    with pytest.raises(BadReply):
        for _ in range(20):
            decoder.feed(b"data: " + b"x" * 1000 + line_end)


def test_many_small_chunks_of_a_large_frame_take_linear_time() -> None:
    decoder = SSEDecoder()
    for _ in range(20_000):
        decoder.feed(b"data: x" if not decoder._scanned else b"x" * 100)
    assert len(decoder.close()[0]) == 1 + 19_999 * 100
