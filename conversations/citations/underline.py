"""Underlining of the sentences of an answer that their sources don't fully support. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from conversations.citations.markers import MARKER
from conversations.citations.statements import sentences
from ragsite.language.facts import letters_and_digits

# Text without this, such as a full stop after a marker, is not underlined.
_WORDS = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class SentenceMark:
    """The verdict on a sentence: its `verdict.Status`, the status's label, and the reasons."""

    status: str = ""
    label: str = ""
    why: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether the sentence is not fully supported."""
        return self.status in ("partly", "not_found", "contradicted", "uncited")


def underlined(
    tokens: Sequence[Token], verdict: Callable[[int], SentenceMark], uncited: Mapping[str, SentenceMark]
) -> list[Token]:
    """Return the inline tokens of a Markdown block with doubtful sentences between `doubt_open` and `doubt_close`.

    `verdict` is called once for each citation, in order; its result is stored in the token's `meta`. `uncited` maps the
    `letters_and_digits` of sentences without citations to their verdicts; `doubt_end` follows such sentences.
    """
    found: list[tuple[int, SentenceMark]] = []
    text = ""
    for token in tokens:
        if token.type == "citation":
            token.meta["verdict"] = judged = verdict(token.meta["number"])
            if judged.doubtful:
                found.append((len(text), judged))
        text += _text_of(token)
    doubts: list[tuple[int, int, SentenceMark]] = []  # start and end of a sentence in the text, and its verdict
    end = 0
    for sentence in sentences(text) if found or uncited else ():
        start, end = end, end + len(sentence)
        doubt = next((judged for at, judged in found if start <= at < end), None)
        if doubt is None and uncited and not MARKER.search(sentence):
            doubt = uncited.get(letters_and_digits(sentence))
        if doubt is not None:
            doubts.append((start, start + len(sentence.rstrip()), doubt))
    if not doubts:
        return list(tokens)
    result: list[Token] = []
    start = 0
    for token in tokens:
        result += _cut(token, start, doubts)
        start += len(_text_of(token))
    return result


def _text_of(token: Token) -> str:
    match token.type:
        case "citation":
            # With the space that was removed before it: a full stop ends a sentence only before a space.
            return f" [{token.meta['number']}]"
        case "softbreak" | "hardbreak":
            return "\n"
        case "text" | "code_inline" | "math_inline":
            return token.content
        case _:
            return ""


def _cut(token: Token, start: int, doubts: Sequence[tuple[int, int, SentenceMark]]) -> Iterator[Token]:
    """Yield a token, with the doubtful parts of its text between marking tokens; code and formulas are not split."""
    if token.type not in ("text", "code_inline", "math_inline"):
        yield token
        return
    end = 0
    for first, last, verdict in doubts:
        begin, until = max(0, first - start), min(len(token.content), last - start)
        if begin >= until:
            continue
        ends = verdict.status == "uncited" and until == last - start
        if not _WORDS.search(token.content, begin, until):
            if ends:
                yield from _part(token, end, until)
                yield Token("doubt_end", "", 0, meta={"verdict": verdict})
                end = until
            continue
        if token.type != "text":
            begin, until = 0, len(token.content)
        yield from _part(token, end, begin)
        yield Token("doubt_open", "span", 1, meta={"verdict": verdict})
        yield from _part(token, begin, until)
        yield Token("doubt_close", "span", -1)
        if ends:
            yield Token("doubt_end", "", 0, meta={"verdict": verdict})
        end = until
    yield from _part(token, end, len(token.content))


def _part(token: Token, start: int, end: int) -> Iterator[Token]:
    if start < end:
        yield token.copy(content=token.content[start:end])
