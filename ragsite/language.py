"""Which language a text is in, as far as Ragsite's analysis and prompts tell languages apart; and lists of words."""

import re
from pathlib import Path

# The languages that are distinguished.
LANGUAGES = frozenset({"en", "zh"})
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fa1f]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")


def language_of(text: str) -> str:
    """Return `"zh"`, `"en"` or `""` (neither) for the first 20,000 characters of a text.

    A Han character weighs as much as half a Latin word, since that is what a Chinese word takes; a Chinese
    question about `CREATE INDEX` is still a Chinese question.
    """
    sample = text[:20_000]
    han = len(HAN.findall(sample))
    latin = len(_LATIN_WORD.findall(sample))
    if not han and not latin:
        return ""
    return "zh" if han >= latin * 0.6 and han else "en"


def join_sentences(*sentences: object) -> str:
    """Return sentences as one text, without empty ones: a space parts them, but none follows a Chinese stop."""
    told = [text for sentence in sentences if (text := str(sentence or ""))]
    return "".join(text if text.endswith(("。", "！", "？")) else f"{text} " for text in told).rstrip()


def lines_of(module: str, name: str) -> list[str]:
    """Return the lines of the list `words/NAME.txt` beside a module's file, without empty ones and comments (`#`)."""
    lines = Path(module).with_name("words").joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in map(str.strip, lines) if line and not line.startswith("#")]


def words_of(module: str, name: str) -> list[str]:
    """Return the words of such a list, which spaces part."""
    return " ".join(lines_of(module, name)).split()


def alternatives(module: str, name: str) -> tuple[str, str]:
    """Return the lines of such a list in English and in Chinese, each as alternatives of a pattern."""
    items = [item.replace(" ", r"\s+") for item in lines_of(module, name)]
    return "|".join(filter(str.isascii, items)), "|".join(item for item in items if not item.isascii())


GREETS_EN, GREETS_ZH = alternatives(__file__, "greetings")
ASKS_EN, ASKS_ZH = alternatives(__file__, "question_words")
