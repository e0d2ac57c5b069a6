"""The word lists, and the functions that read them."""

import re
from pathlib import Path

import pytest

import ragsite
from ragsite.language import word_lists
from ragsite.language.word_lists import alternatives, lines_of, words_of

ROOT = Path(ragsite.__file__).parent.parent
LISTS = sorted(Path(word_lists.__file__).with_name("words").glob("*.txt"))


@pytest.fixture
def a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(word_lists, "_FOLDER", tmp_path)
    (tmp_path / "measures.txt").write_text("# Units.\nday days 天\n\n  hour 小时\n天数\nfull moon", encoding="utf-8")
    yield "measures"
    lines_of.cache_clear()


def test_a_list_is_read_without_comments(a_list: str) -> None:
    assert lines_of(a_list) == ("day days 天", "hour 小时", "天数", "full moon")
    assert words_of(a_list) == ["day", "days", "天", "hour", "小时", "天数", "full", "moon"]


def test_lines_become_alternatives_by_language(a_list: str) -> None:
    english, chinese = alternatives(a_list)
    assert re.fullmatch(english, "full  moon") and not re.fullmatch(english, "天数")
    assert re.fullmatch(chinese, "天数")


def test_every_list_is_used() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for app in ("ragsite", "knowledge", "retrieval", "conversations")
        for path in (ROOT / app).rglob("*.py")
    )
    assert LISTS
    assert [path.stem for path in LISTS if f'"{path.stem}")' not in sources] == []
