"""Which language a text is in, as far as Ragsite's analysis and prompts tell languages apart. Pure."""

import re

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
