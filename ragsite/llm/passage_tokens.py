"""Count tokens as the bundled embedding model does, to size passages; for prompts, see `prompt_tokens`.

Counts are those of the bundled model's vocabulary (SentencePiece, unigrams), an estimate for any other model. English
text has about as many tokens as with GPT-like tokenizers. Each Chinese character counts one, although the vocabulary
has words of several, so that passages of the same size contain about as much in both languages. White space counts
nothing. Callers keep a reserve.
"""

from functools import cache

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from ragsite.language.detection import HAN_CHARACTER

_UNKNOWN = "<unk>"
_SPACE = "\u2581"  # stands for white space in the vocabulary


def count_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text, without the model's special tokens. Thread-safe."""
    if not text:
        return 0
    # Without offsets it takes half the time.
    ids = bundled_tokenizer().encode_batch_fast([text], add_special_tokens=False)[0].ids
    if _unknown_id() not in ids:
        return int(_weights()[ids].sum())
    return sum(weight for weight, _ in _weighed(_encode(text)))


def truncate_to_tokens(text: str, limit: int) -> str:
    """Return the longest beginning of a text that has at most `limit` tokens, without white space at its end."""
    total = 0
    end = 0
    for weight, (start, stop) in _weighed(_encode(text)):
        if total + weight > limit:
            end = max(end, start + limit - total) if weight > 1 and total < limit else end
            cut = text[:end].rstrip()
            while cut and count_tokens(cut) > limit:  # a part may be tokenised differently from the whole
                cut = cut[:-1].rstrip()
            return cut
        total += weight
        end = stop
    return text


def _encode(text: str) -> Encoding:
    return bundled_tokenizer().encode(text, add_special_tokens=False)


def _weighed(encoding: Encoding) -> list[tuple[int, tuple[int, int]]]:
    """Return each token's weight and its character span; text that isn't in the vocabulary counts by character."""
    unknown, weights = _unknown_id(), _weights()
    return [
        (max(1, stop - start) if token == unknown else int(weights[token]), (start, stop))
        for token, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True)
    ]


@cache
def bundled_tokenizer() -> Tokenizer:
    """Return the bundled model's tokenizer, without truncation and padding; it takes 60 MB, so it is shared."""
    tokenizer = Tokenizer.from_file(str(settings.BUNDLED_MODEL_DIR / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@cache
def _weights() -> NDArray[np.int64]:
    """Return the weight of each piece of the vocabulary: its number of Chinese characters, or one."""
    weights = np.ones(bundled_tokenizer().get_vocab_size(), np.int64)
    for piece, number in bundled_tokenizer().get_vocab().items():
        weights[number] = max(len(HAN_CHARACTER.findall(piece)), piece != _SPACE)
    return weights


@cache
def _unknown_id() -> int:
    return int(bundled_tokenizer().token_to_id(_UNKNOWN) or 0)
