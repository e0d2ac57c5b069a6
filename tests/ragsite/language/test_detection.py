"""Language detection in mixed text."""

import pytest

from ragsite.language.detection import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("端口隔离默认是打开的吗？", "zh"),
        ("CREATE INDEX 怎么用？", "zh"),
        ("How do I restore the factory settings?", "en"),
        ("What does 端口 mean in this handbook of ours?", "en"),
        ("TL-SE2109 的价格是多少", "zh"),
        ("한국어", ""),
        ("12345 !?", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language
