"""Database work on other threads."""

import pytest
from django.utils.translation import get_language, override

from ragsite.db import in_database


@pytest.mark.parametrize("language", ["en", "zh-hans"])
async def test_the_callers_language_goes_along(language: str) -> None:
    with override(language):
        assert await in_database(get_language) == language
