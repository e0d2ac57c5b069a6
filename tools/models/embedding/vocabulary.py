"""The reduced vocabulary, a selection of the original's 250,002 pieces, and its tokenizer.

It includes all pieces of Han characters, symbols and digits, every single character of any script, Latin pieces with a
rank below 60,000 or at least two occurrences in English corpora, and kana, Hangul, Cyrillic and Greek pieces with a
rank below 80,000. The list is stored in `kept_pieces.txt.xz`, with a number or a range of numbers per line, since the
corpora for the counts aren't part of the repository.
"""

import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

HERE = Path(__file__).resolve().parent
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


def kept_pieces(path: Path = HERE / "kept_pieces.txt.xz") -> list[int]:
    """Return the numbers of the kept pieces, in order; a piece's index is its number in the reduced vocabulary."""
    return parse_ranges(lzma.decompress(path.read_bytes()).decode())


def parse_ranges(text: str) -> list[int]:
    """Return the numbers in lines such as `7` and `9-12`."""
    numbers: list[int] = []
    for line in text.split():
        first, _, last = line.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


def format_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers in the format that `parse_ranges` reads."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return "".join("-".join(map(str, run)) + "\n" for run in runs)


def tokenizer_of(pieces: Sequence[str], scores: Sequence[float], max_tokens: int = 512) -> Tokenizer:
    """Return a Unigram tokenizer of pieces and their scores, the first of which must be those in `SPECIAL`.

    Raises `ValueError` otherwise, since the numbers of special tokens are part of the model.
    """
    if tuple(pieces[:4]) != SPECIAL:
        raise ValueError(f"the vocabulary begins with {pieces[:4]}")
    tokenizer = Tokenizer(Unigram(list(zip(pieces, map(float, scores), strict=True)), unk_id=3, byte_fallback=False))
    # SentencePiece's character table: `normalizer_spec.precompiled_charsmap` of any model with the rule nmt_nfkc.
    table = lzma.decompress((HERE / "nmt_nfkc.charsmap.xz").read_bytes())
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(table), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_truncation(max_length=max_tokens)
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
    return tokenizer
