"""Shared fixtures of the chat's tests, for its benchmarks."""

from tests.conversations.conftest import *  # noqa: F403
