"""Chinese characters, and language detection: Chinese or English, which analysis and prompts distinguish. Pure."""

import re

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# The languages that are distinguished: their names, and the languages of the interface for answers in them.
LANGUAGE_NAMES: dict[str, Promise] = {"en": _("English"), "zh": _("Chinese")}
LANGUAGES = frozenset(LANGUAGE_NAMES)
UI_LANGUAGE = {"en": "en", "zh": "zh-hans"}
# Han characters, as character classes of regular expressions: all, and those of words, names and snippets, which are of
# the Basic Multilingual Plane and no compatibility characters. Terms may also contain 々 and 〇, see `analysis`.
HAN_BMP = r"\u3400-\u4dbf\u4e00-\u9fff"
HAN = rf"{HAN_BMP}\uf900-\ufaff\U00020000-\U0003fa1f"
HAN_CHARACTER = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")


def language_of(text: str) -> str:
    """Return `"zh"`, `"en"` or `""` (neither) for the first 20,000 characters of a text.

    A Han character weighs about half as much as a Latin word, since a Chinese word has about two characters; a
    Chinese question about `CREATE INDEX` is still a Chinese question.
    """
    sample = text[:20_000]
    han = len(HAN_CHARACTER.findall(sample))
    latin = len(_LATIN_WORD.findall(sample))
    if not han and not latin:
        return ""
    return "zh" if han >= latin * 0.6 and han else "en"
