"""Telling Chinese from English, mixed as they come."""

from pathlib import Path

import pytest

import ragsite
from ragsite.language import join_sentences, language_of, lines_of, words_of


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


def test_no_space_follows_a_chinese_stop() -> None:
    assert join_sentences("Done.", "", None, "Two were left out.") == "Done. Two were left out."
    assert join_sentences("已删除 2 个文档。", "1 个被跳过。", "Retry!") == "已删除 2 个文档。1 个被跳过。Retry!"


def test_a_list_of_words_lies_beside_its_module(tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "units.txt").write_text("# Units.\nday days 天\n\n  hour 小时\n", encoding="utf-8")
    module = str(tmp_path / "quantities.py")
    assert lines_of(module, "units") == ["day days 天", "hour 小时"]
    assert words_of(module, "units") == ["day", "days", "天", "hour", "小时"]


def test_every_list_of_words_is_read() -> None:
    root = Path(ragsite.__file__).parent.parent
    lists = [path for app in root.glob("*/apps.py") for path in app.parent.rglob("words/*.txt")]
    assert lists
    for path in lists:
        sources = "".join(module.read_text(encoding="utf-8") for module in path.parent.parent.glob("*.py"))
        assert f'"{path.stem}")' in sources, path
