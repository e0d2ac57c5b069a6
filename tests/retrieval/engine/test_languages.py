"""How much of a text a model understands."""

import pytest

from retrieval.engine.languages import share_understood


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("How many ports has the switch?", 1.0, 0.0),
        ("交换机有多少个端口", 0.0, 1.0),
        ("端口 of switch", 2 / 3, 1 / 3),
        ("TL-SE2109 有几个端口", 2 / 4.5, 2.5 / 4.5),
        ("42 %", 1.0, 1.0),
        ("", 1.0, 1.0),
    ],
)
def test_the_share_of_the_words_in_languages_that_are_known(text: str, english: float, chinese: float) -> None:
    assert share_understood(text, {"zh"}) == pytest.approx(english)
    assert share_understood(text, {"en"}) == pytest.approx(chinese)
    assert share_understood(text, set()) == pytest.approx(1.0)
