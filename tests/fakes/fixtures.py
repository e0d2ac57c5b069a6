"""Fixtures of the fakes: `provider` (a real server) and `fake_llm` (a queue)."""

from collections.abc import Iterator

import pytest

from tests.fakes.llm import FakeLLM
from tests.fakes.provider import FakeProvider


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A provider on a port of its own."""
    with FakeProvider() as server:
        yield server


@pytest.fixture
def fake_llm() -> FakeLLM:
    """A queued fake model; hand it to what takes a `ChatClient`."""
    return FakeLLM()
