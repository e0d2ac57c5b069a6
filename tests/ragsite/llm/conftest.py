"""The model clients need no database."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from ragsite.llm.chat import ChatClient
from ragsite.llm.types import Endpoint
from tests.fakes.provider import FakeProvider

MakeClient = Callable[..., ChatClient]


@pytest.fixture
async def make_client(provider: FakeProvider) -> AsyncIterator[MakeClient]:
    """Clients of the fake provider; options are those of `Endpoint`."""
    async with AsyncExitStack() as stack:

        def make(**options: Any) -> ChatClient:
            defaults: dict[str, Any] = {"base_url": provider.base_url, "model": "fake-model", "idle_timeout": 30}
            endpoint = Endpoint(**defaults | options)
            client = ChatClient(endpoint, pause=0.01)
            stack.push_async_callback(client.aclose)
            return client

        yield make


@pytest.fixture
def client(make_client: MakeClient) -> ChatClient:
    """A client of the fake provider."""
    return make_client()
