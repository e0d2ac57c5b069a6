"""What tests of assistants share."""

from collections.abc import Callable
from typing import Any

import pytest

from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration
from conversations.models import Assistant

Make = Callable[..., Assistant]


@pytest.fixture
def make_assistant() -> Make:
    """Make assistants: `make("Legal", {"settings": …}, everyone=False)`."""

    def make(name: str, says: dict[str, Any] | None = None, **fields: Any) -> Assistant:
        assistant = Assistant.objects.create(name=name, **fields)
        save_version(assistant, Configuration.from_dict(says or {}), None)
        return assistant

    return make
