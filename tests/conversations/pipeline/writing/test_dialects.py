"""Both dialects of models' answers, read in pieces: the same parts wherever a stream is cut, and no lost words."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.pipeline.writing.dialects import AnswerReader
from conversations.pipeline.writing.dialects.markdown_text import plain_cell
from conversations.pipeline.writing.dialects.parts import (
    CodeHead,
    CodeText,
    End,
    Image,
    Part,
    TableHead,
    TableRow,
    Words,
)
from tests.nightly import sample

# Of the places at which a stream may be cut, as many are tried; at night all.
CUTS = 60


def read(*pieces: str) -> list[Part]:
    """Return the parts of an answer that arrives in these pieces, with adjacent pieces of a block joined."""
    reader = AnswerReader()
    parts: list[Part] = []
    for part in [*(part for piece in pieces for part in reader.feed(piece)), *reader.close()]:
        last = parts[-1] if parts else None
        if isinstance(part, Words) and isinstance(last, Words):
            parts[-1] = Words(last.text + part.text)
        elif isinstance(part, CodeText) and isinstance(last, CodeText):
            parts[-1] = CodeText(last.text + part.text)
        elif not (isinstance(part, End) and (last is None or isinstance(last, End | Image))):
            parts.append(part)
    return parts


def said(parts: Iterable[Part]) -> str:
    """Return every word of the parts."""
    words: list[str] = []
    for part in parts:
        match part:
            case Words(text) | CodeText(text):
                words.append(text)
            case TableHead(cells) | TableRow(cells):
                words += cells
            case CodeHead(language):
                words.append(language)
            case Image(alt, _url):
                words.append(alt)
    return "".join(words)


def bare(text: str) -> str:
    """Return a text without whitespace and the marks of Markdown's tables and fences."""
    return re.sub(r"[\s|`-]", "", text)


@dataclass
class Stream:
    """A model's answer; `spans` are the (start, end) of its contents, as opposed to syntax."""

    text: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)
    is_json: bool = False

    def frame(self, text: str) -> "Stream":
        """Add syntax."""
        self.text += text
        return self

    def say(self, text: str) -> "Stream":
        """Add contents."""
        self.spans.append((len(self.text), len(self.text) + len(text)))
        self.text += text
        return self

    def event(self, **fields: Any) -> "Stream":
        """Add an event as a line of JSON; its texts and cells are contents."""
        self.is_json = True
        source = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        begin = len(self.text)
        at = 0
        for value in [
            fields.get("text"),
            *fields.get("row", ()),
            *fields.get("columns", ()),
            fields.get("alt"),
            fields.get("language"),
        ]:
            if value:
                inside = json.dumps(value, ensure_ascii=False)[1:-1]
                at = source.index(inside, at)
                self.spans.append((begin + at, begin + at + len(inside)))
                at += len(inside)
        self.text += source
        return self

    def said_until(self, end: int) -> str:
        """Return the contents up to a position, unescaped."""
        parts = [self.text[start : min(stop, end)] for start, stop in self.spans if start < end]
        return "".join(decoded(part) if self.is_json else part for part in parts)


def decoded(text: str) -> str:
    """Return the value of a JSON string's inner text, without an incomplete escape at its end."""
    return str(json.loads('"' + re.sub(r"(?<!\\)((?:\\\\)*)\\\Z", r"\1", text) + '"'))


def events(stream: Stream, between: str = ",\n", *, ends: bool = True, first: tuple[str, ...] = ("t",)) -> Stream:
    """Add an answer with all kinds of blocks: braces and quotation marks in strings, Chinese, an unknown kind."""
    lines: list[dict[str, Any]] = [
        {"t": "block_start", "id": "b1", "kind": "text"},
        {"t": "delta", "id": "b1", "text": 'Hold the "reset" button {10 s} [1].\n'},
        {"t": "delta", "id": "b1", "text": "按住复位键：十秒 [2]，然后 C:\\temp。\n"},
        {"t": "block_end", "id": "b1"},
        {"t": "block_start", "id": "b2", "kind": "table", "columns": ["Model", "端口"]},
        {"t": "delta", "id": "b2", "row": ["TL-SE2109", "9 [1]"]},
        {"t": "delta", "id": "b2", "row": ["a, b", "c]}"]},
        {"t": "block_end", "id": "b2"},
        {"t": "block_start", "id": "b3", "kind": "code", "language": "sh"},
        {"t": "delta", "id": "b3", "text": "echo ${HOME} a[5]\n"},
        {"t": "block_end", "id": "b3"},
        {"t": "block_start", "id": "b4", "kind": "heading"},
        {"t": "delta", "id": "b4", "text": "Afterwards\n"},
        {"t": "block_end", "id": "b4"},
        {"t": "block_start", "id": "b5", "kind": "image", "alt": "The button"},
        {"t": "block_update", "id": "b5", "url": "passage:1"},
        {"t": "block_end", "id": "b5"},
    ]
    kept = [line for line in lines if ends or line["t"] != "block_end"]
    for number, line in enumerate(kept):
        stream.event(**({name: line[name] for name in first if name in line} | line))
        stream.frame(between if number + 1 < len(kept) else "")
    return stream


BLOCKS = [
    Words('Hold the "reset" button {10 s} [1].\n按住复位键：十秒 [2]，然后 C:\\temp。\n'), End(),
    TableHead(("Model", "端口")), TableRow(("TL-SE2109", "9 [1]")), TableRow(("a, b", "c]}")), End(),
    CodeHead("sh"), CodeText("echo ${HOME} a[5]\n"), End(),
    Words("Afterwards\n"), End(), Image("The button", "passage:1"),
]  # fmt: skip

JSON_STREAMS = {
    "list": events(Stream().frame("[\n")).frame("\n]"),
    "lines": events(Stream(), "\n"),
    "one line": events(Stream(), " "),
    "fenced": events(Stream().frame("```json\n[")).frame("]\n```\n"),
    "wrapped": events(Stream().frame('{"blocks": [')).frame("]}"),
    "without ends": events(Stream(), "\n", ends=False),
    "names later": events(Stream().frame("["), first=("kind", "id")).frame("]"),
}
MARKDOWN = (
    Stream()
    .say("The switch has nine ports [1].\n\n").frame("| ").say("Model").frame(" | ").say("Ports")
    .frame(" |\n|---|--:|\n| ").say("TL-SE2109").frame(" | ").say("9 [1]").frame(" |\n| ").say("其他").frame(" | ")
    .say("5 [2]").frame(" |\n\n").say("1. Log in:\n   ```\n   ssh\n   ```\n2. Then:\n\n").frame("```")
    .say("sh\nreboot a[5]\n").frame("```\n").say("Wait {ten} seconds [1, 2]. | is a pipe, ~~no~~ `code`.\n")
)  # fmt: skip
STREAMS = JSON_STREAMS | {"markdown": MARKDOWN}


@pytest.mark.parametrize("name", [name for name in JSON_STREAMS if name != "without ends"])
def test_events_become_blocks_however_they_are_wrapped(name: str) -> None:
    assert read(JSON_STREAMS[name].text) == BLOCKS


def test_missing_block_ends_lose_nothing() -> None:
    parts = [part for part in read(JSON_STREAMS["without ends"].text) if not isinstance(part, End)]
    assert parts == [part for part in BLOCKS if not isinstance(part, End)]


def test_markdown_becomes_the_same_kinds() -> None:
    assert read(MARKDOWN.text) == [
        Words("The switch has nine ports [1].\n\n"),
        TableHead(("Model", "Ports")), TableRow(("TL-SE2109", "9 [1]")), TableRow(("其他", "5 [2]")), End(),
        Words("\n1. Log in:\n   ```\n   ssh\n   ```\n2. Then:\n\n"),
        CodeHead("sh"), CodeText("reboot a[5]\n"), End(),
        Words("Wait {ten} seconds [1, 2]. | is a pipe, ~~no~~ `code`.\n"), End(),
    ]  # fmt: skip


def test_events_after_prose_and_prose_after_events() -> None:
    fenced = JSON_STREAMS["fenced"].text
    assert read(f"Here is the answer:\n\n{fenced}\nHope it helps [1].") == [
        Words("Here is the answer:\n\n"), End(), *BLOCKS, Words("Hope it helps [1]."), End(),
    ]  # fmt: skip


def test_prose_between_events_and_markdown_inside_them() -> None:
    stream = Stream().event(t="delta", id="b1", text="One.\n").frame("\nTwo [1]: see | below.\n")
    stream.event(t="delta", id="b1", text="| a | b |\n|---|---|\n| c | **d** |\n```py\nx\n```\n")
    assert read(stream.text) == [
        Words("One.\nTwo [1]: see | below.\n"),
        TableHead(("a", "b")), TableRow(("c", "d")), End(), CodeHead("py"), CodeText("x\n"), End(),
    ]  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_the_same_parts_wherever_a_stream_is_cut_in_two(name: str) -> None:
    text = STREAMS[name].text
    whole = read(text)
    assert read(*text) == whole
    for at in sample(range(len(text)), CUTS):
        assert read(text[:at], text[at:]) == whole, at


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_anywhere_keeps_the_text_so_far(name: str) -> None:
    stream = STREAMS[name]
    for end in sample(range(len(stream.text) + 1), CUTS):
        assert bare(said(read(stream.text[:end]))).startswith(bare(stream.said_until(end))), end


@pytest.mark.parametrize("name", JSON_STREAMS)
def test_a_cut_stream_of_events_shows_no_syntax(name: str) -> None:
    stream = JSON_STREAMS[name]
    for end in sample(range(len(stream.text) + 1), CUTS):
        shown = said(read(stream.text[:end]))
        assert not re.search(r'"(t|id|kind|text|row)"\s*:?|block_|\{"', shown.replace('"reset"', "")), (end, shown)


@pytest.mark.parametrize("name", ["list", "without ends", "markdown"])
@pytest.mark.parametrize("wrong", ['"', "{", "\\", ""])
def test_a_wrong_character_anywhere_loses_no_other_word(name: str, wrong: str) -> None:
    stream = STREAMS[name]
    for at in sample(range(len(stream.text)), CUTS):
        shown = bare(said(read(stream.text[:at] + wrong + stream.text[at + 1 :])))
        for start, end in stream.spans:
            if not start - 1 <= at <= end:
                words = bare(stream.text[start:end])
                plain = bare(decoded(stream.text[start:end])) if stream.is_json else words
                assert words in shown or plain in shown, (at, words, shown)


@given(st.lists(st.sampled_from([
    '{"t":"block_start","id":"b1","kind":"table","columns":["a"]}', '{"t":"delta","id":"b1","row":["c"]}', "[", "]",
    '{"t":"delta","text":"w"}', '{"t":"block_end"}', '{"t":', "{", "}", '"', "\\", "```json\n", "```", "\n", "|a|\n",
    "|-|\n", ",", " ", "é", "[1", "]", "~~~", '{"blocks":[', '{"t":"delta","id":"b2","row":{"k":1}}', "\r", "\x00",
]), max_size=14))  # fmt: skip
def test_any_mixture_is_read_the_same_in_pieces_and_never_fails(pieces: list[str]) -> None:
    text = "".join(pieces)
    whole = read(text)
    assert said(read(*pieces)) == said(whole)
    assert read(*text) == whole


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ('{"t":"delta","id":"b1","text":"He said "hi" to me."}', 'He said "hi" to me.'),
        ('{"t":"delta","id":"b1","text":"a 5" disk"}', 'a 5" disk'),
        ('{"t":"delta","id":"b1","text":"two\nlines"}', "two\nlines"),
        ('{"type":"delta","id":"b1","text":"typed"}', "typed"),
        ('{"t":"delta","id":"b1","content":"content"}', "content"),
        ('{"t":"delta","id":"b1","text":["a","b"]}', "a b"),
        ('{"t":"delta","id":"b1","markdown":"other"}', "other"),
        ('{"t":"delta","id":"b1","text":"half \\u4f', "half "),
        ('{"t":"block_start","id":"b1","kind":"text","text":"early"}', "early"),
        ('{"t":"block_end","id":"b1","text":"late"}', "late"),
        ('{"t":"block_end"}{"t":"note","body":"x"}', "x"),
        ('{"t":"delta","row":{"a":"1","b":2}}', "12"),
        ('{"t":"delta","id":"b1","rows":[["1","2"],["3"]]}', "123"),
        ('{"t":"delta","id":"b1","row":["x","y', "xy"),
    ],
)
def test_odd_events_keep_their_text(event: str, words: str) -> None:
    following = '\n{"t":"delta","id":"b9","text":"Next."}' if event.endswith("}") else ""
    shown = said(read('{"t":"block_start","id":"b1","kind":"text"}' + event + following))
    assert shown == words + ("Next." if following else "")


CHART = {
    "type": "block_start", "id": "b1", "kind": "chart", "chart_type": "bar", "colors": ["red", "blue"],
    "options": {"stacked": True, "title": "Sales"},
}  # fmt: skip
CHART_JSON = json.dumps({name: value for name, value in CHART.items() if name not in ("type", "id")})


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([CHART | {"content": "Nine ports [1]."}, {"type": "block_end", "id": "b1", "ms": 3}], "Nine ports [1]."),
        ([CHART, {"type": "delta", "id": "b1", "text": "Nine", "x": 7}, {"type": "block_end"}], "Nine"),
        ([CHART | {"content": [{"type": "text", "text": "Nine"}, {"type": "text", "text": "ports"}]}], "Nine ports"),
        ([CHART | {"columns": ["Model", "Ports"]}, {"type": "delta", "id": "b1", "row": ["SE", "9"]}], "ModelPortsSE9"),
        ([{"t": "block_start", "kind": "text", "style": "bold"}, {"t": "delta", "text": "Nine", "index": 3}], "Nine"),
        ([{"t": "block_start", "kind": "image", "alt": "Back", "format": "png"}], "Back"),
    ],
)
def test_attributes_of_blocks_are_not_shown(events: list[dict[str, Any]], words: str) -> None:
    lines = [json.dumps(event) for event in events]
    assert said(read("\n".join(lines))) == words
    assert said(read(*"\n".join(lines))) == words


@pytest.mark.parametrize(
    ("events", "parts"),
    [
        (
            [CHART, {"type": "delta", "id": "b1", "points": [[1, 2], [3, 4]]}, {"type": "block_end", "id": "b1"}],
            [CodeHead("json"), CHART_JSON[:-1] + ', "points": [[1, 2], [3, 4]]}', End()],
        ),
        ([CHART], [CodeHead("json"), CHART_JSON, End()]),
        # The following text does not belong to it.
        (
            [CHART, {"type": "block_end"}, {"t": "delta", "answer": "Nine."}],
            [CodeHead("json"), CHART_JSON, End(), Words("Nine."), End()],
        ),
        (
            [CHART, {"t": "block_start", "kind": "text"}, {"t": "delta", "text": "Nine."}],
            [CodeHead("json"), CHART_JSON, End(), Words("Nine."), End()],
        ),
        # Attributes of the same name are not merged.
        (
            [
                {"t": "block_start", "kind": "gauge", "value": 1},
                {"t": "delta", "value": 2},
                {"t": "block_update", "value": 3},
            ],
            [CodeHead("json"), '{"kind": "gauge"}\n{"value": 1}\n{"value": 2}\n{"value": 3}', End()],
        ),
        ([{"t": "block_start", "id": "b1", "kind": "divider"}, {"t": "block_end", "id": "b1"}], []),
        (
            [{"t": "block_start", "kind": "地图", "点": ["上海"]}],
            [CodeHead("json"), '{"kind": "地图", "点": ["上海"]}', End()],
        ),
    ],
)
def test_a_block_of_unknown_kind_without_text_is_shown_as_json(events: list[dict[str, Any]], parts: list[Any]) -> None:
    wanted = [CodeText(f"{part}\n") if isinstance(part, str) else part for part in parts]
    text = "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    assert read(text) == wanted
    assert read(*text) == wanted


def test_a_malformed_block_of_unknown_kind_is_shown_as_text() -> None:
    text = '{"t":"block_start","id":"b1","kind":"chart","title":"Sales "2026"","points":[1,2]}'
    assert "Sales" in said(read(text)) and "[1,2]" in said(read(text))


def test_a_cut_block_of_unknown_kind_shows_no_attribute() -> None:
    text = json.dumps(CHART | {"content": "Nine ports."})
    for end in range(2, len(text) + 1):  # a brace alone is text
        assert "Nine ports.".startswith(said(read(text[:end]))), end


def test_unescaped_quotation_marks_end_with_their_event() -> None:
    lines = ('{"t":"delta","text":"a " b "}', '{"t":"delta","text":"c " d "}', '{"t":"delta","text":"e"}')
    assert read("\n".join(lines)) == [Words('a " b c " d e'), End()]


def test_a_fence_at_the_margin_may_end_an_indented_one() -> None:
    text = "1. a\n   ```\n   x\n```\n2. b\n```py\ny\n```\n"
    assert read(text) == [Words("1. a\n   ```\n   x\n```\n2. b\n"), CodeHead("py"), CodeText("y\n"), End()]


def test_text_that_only_looks_like_events_is_text() -> None:
    for text in ('[1] says {"t": 5}.', '```json\n{"a": 1}\n```', '{"intent": "chat"}', "[", "{", '{"t', "```", "a [1"):
        assert bare(text.replace("json", "")) == bare(said(read(text)).replace("json", "")) or text.startswith('{"t')


def test_text_right_after_a_table_is_kept() -> None:
    table = "| x |\n|---|\n| 1 |\n"
    assert said(read(f"{table},{table}{table}]")).endswith("]")
    assert said(read(table, "The end")) == "x1The end"


def test_an_invalid_table_stays_text() -> None:
    for text in (
        "| a | b |\nno rule\n",
        "|x|\n|-|-|\n",
        "| alone",
        "||",
        "a | b\n- | -\n",
        "> | a |\n> |---|\n> | b |\n",
    ):
        assert read(text) == [Words(text), End()]


def test_rows_of_other_lengths_keep_their_cells() -> None:
    rows = read("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\n")[1:-1]
    assert rows == [TableRow(("1", "")), TableRow(("1", "2 | 3"))]


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        ("**bold** *it* `a_b` [1]", "bold it a_b [1]"),
        ("`__init__` and **`x`**", "__init__ and x"),
        ("a<br>b", "a b"),
        ("a \\| b", "a | b"),
        ("[site](https://a.b)", "site (https://a.b)"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_cells_are_plain(cell: str, plain: str) -> None:
    assert plain_cell(cell) == plain


def test_text_is_passed_on_at_once() -> None:
    reader = AnswerReader()
    for piece in ("The", " switch", " has [", "1", "] nine", " ports.\n", "It", " is | red."):
        assert said(reader.feed(piece)) in (piece, "", " has [" + piece, piece.rstrip("["), "[" + piece)
    assert not said(reader.feed("\n|"))[1:]


# Half as long as an answer may be: for unclosed marks, the rest must not be searched again and again.
@pytest.mark.parametrize("mark", ["**a ", "[a](", "[a", "`", "`a", "*a", " ", "<br ", "\\\\|"])
def test_unclosed_marks_are_read_in_linear_time(mark: str) -> None:
    cell = (mark * 100_000)[:100_000]
    [head, row, _end] = read(f"|a|b|\n|---|---|\n|{cell}|b|\n")
    assert head == TableHead(("a", "b")) and isinstance(row, TableRow) and len(row.cells) == 2


@pytest.mark.parametrize("line", ["|" + "a|" * 6000, "|a|\n|" + "-" * 12_000, "```" + "a" * 12_000, "`" * 12_000])
def test_an_endless_line_is_not_held_back(line: str) -> None:
    reader = AnswerReader()
    pieces = [line[at : at + 100] for at in range(0, len(line), 100)]
    seen = [part for piece in pieces for part in reader.feed(piece)]
    assert line.startswith(said(seen)) and len(said(seen)) > len(line) - 200
    assert read(line, "\n|-|\n") == read(f"{line}\n|-|\n") == [Words(f"{line}\n|-|\n"), End()]


def test_an_endless_object_is_scanned_once() -> None:
    text = '{"t":"delta","id":"b1","text":{' + "{" * 50_000
    assert read(*(text[at : at + 20] for at in range(0, len(text), 20)))
