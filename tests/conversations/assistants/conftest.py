"""Fixtures of the tests of assistants."""

from collections.abc import Callable
from typing import Any

import pytest

from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration
from conversations.models import Assistant

Make = Callable[..., Assistant]


@pytest.fixture
def make_assistant() -> Make:
    """Create assistants: `make("Legal", {"settings": …}, everyone=False)`."""

    def make(name: str, configuration: dict[str, Any] | None = None, **fields: Any) -> Assistant:
        assistant = Assistant.objects.create(name=name, **fields)
        save_version(assistant, Configuration.from_dict(configuration or {}), None)
        return assistant

    return make
