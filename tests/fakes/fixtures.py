"""Fixtures of the fakes: `provider` (a real server) and `fake_llm` (a queue)."""

from collections.abc import Iterator

import pytest

from ragsite.llm.stream import reader
from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    """A provider on its own port."""
    # Its thread may be late to end what it has sent; connections are to be used again all the same.
    monkeypatch.setattr(reader, "AFTER_DONE", 30.0)
    with FakeProvider() as server:
        yield server


@pytest.fixture
def fake_llm() -> FakeLLM:
    """A queued fake model, to be used as a `ChatClient`."""
    return FakeLLM()
