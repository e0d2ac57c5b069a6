"""The time to read many thousands of repetitions grows linearly, not quadratically."""

import time
from pathlib import Path

import pytest

from knowledge.parsing.errors import ParseError
from tests.knowledge.reading import read_bytes

FEW, MANY = 25_000, 200_000  # characters


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "repeated"),
    [
        pytest.param("a.md", "<!--", id="comments without an end"),
        pytest.param("a.md", "<div <", id="tags without an end"),
        pytest.param("a.md", "a[", id="brackets without an end"),
        pytest.param("a.html", "<svg></svg>word ", id="dropped elements between words"),
        pytest.param("a.html", "word<sup>2</sup> ", id="raised numbers"),
        pytest.param("a.html", "<div><dt>a<dd>b</div>", id="grouped terms"),
        pytest.param("a.csv", 'a",""",\n', id="quotations without an end"),
        pytest.param("a.rtf", r"{\pard a\par}", id="groups"),
        pytest.param("a.rtf", r"\trowd\cellx10\intbl a\cell\row ", id="rows"),
        pytest.param("a.rtf", r"{\*\x {", id="groups without an end"),
        pytest.param("a.eml", "a: b\n c\n", id="headers"),
        pytest.param("a.eml", "\n> a", id="quoted lines"),
        pytest.param("a.json", '{"a": [1, {}]}\n', id="records"),
    ],
)
def test_time_is_linear(tmp_path: Path, name: str, repeated: str) -> None:
    start = "<dl>" if "<dt>" in repeated else {"a.rtf": r"{\rtf1 ", "a.eml": "Subject: x\n"}.get(name, "")

    def is_linear() -> bool:
        few, many = (_seconds(tmp_path, name, start + repeated * (length // len(repeated))) for length in (FEW, MANY))
        return many < 0.5 + 3 * few * MANY / FEW  # if quadratic, eight times more

    # A busy machine may be slow once or twice; quadratic growth shows every time.
    assert any(is_linear() for _try in range(5))


def _seconds(folder: Path, name: str, text: str) -> float:
    begun = time.process_time()
    try:
        read_bytes(folder, name, text, max_rows=MANY)
    except ParseError as error:
        assert error.code == "no_text" or error.key == "broken.too_deep"
    return time.process_time() - begun
