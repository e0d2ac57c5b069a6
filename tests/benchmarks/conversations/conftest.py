"""What tests of the chat share, for its benchmarks too."""

from tests.conversations.conftest import *  # noqa: F403
