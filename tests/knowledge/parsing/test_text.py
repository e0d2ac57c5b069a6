"""Plain text, its character sets, and CSV."""

import re
from pathlib import Path

import pytest

from knowledge.parsing.decoding import decode
from knowledge.parsing.elements import Code, Table
from tests.knowledge.reading import outline, read_bytes, refused


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "naïve – 中文"),
        ("utf-16", "naïve – 中文"),
        ("utf-16-le", "plain words here"),
        ("gb18030", "第一章 总则，为了规范管理，制定本办法。"),
        ("big5", "臺灣是個美麗的島嶼，我們都愛它。"),
        ("cp932", "名前,年齢,住所\n佐藤太郎,30,東京"),
        ("euc_jp", "ひらがなとカタカナの日本語です。"),
        ("euc_kr", "안녕하세요, 세계"),
        ("cp1252", "The café’s naïve façade costs 3 €"),
        ("cp1251", "Привет, мир! Это текст."),
    ],
)
def test_character_sets_are_detected(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_stray_byte_does_not_change_the_character_set() -> None:
    assert decode("你好，世界。".encode() * 20 + b"\xff").startswith("你好，世界。")


def test_paragraphs_end_at_blank_lines_and_wrapped_lines_are_joined(tmp_path: Path) -> None:
    text = (
        "This is the first line of a para-\ngraph that was wrapped at a mar-\ngin by hand some years ago.\n\n"
        "Another paragraph.\n"
    )

    assert outline(read_bytes(tmp_path, "a.txt", text)) == [
        "This is the first line of a paragraph that was wrapped at a margin by hand some years ago.",
        "Another paragraph.",
    ]


def test_wrapped_chinese_lines_are_joined_without_spaces(tmp_path: Path) -> None:
    text = "这是一个用来测试的很长的段落它在行末被\n硬换行所以应该重新连接成为一个完整的段\n落而不带空格。\n"

    assert outline(read_bytes(tmp_path, "a.txt", text)) == [text.replace("\n", "")]


def test_short_lines_are_kept_apart(tmp_path: Path) -> None:
    assert outline(read_bytes(tmp_path, "a.txt", "One.\nTwo is longer than one.\nThree.\n")) == [
        "One.",
        "Two is longer than one.",
        "Three.",
    ]


WRAPPED = """\
The carrier brings the looms to the quay, where they are unloaded by the crane
of the harbour and put on the lorry that waits behind the second warehouse and
leaves for the mill at four in the afternoon, unless it is a Sunday or the day
of the fair, in which case everything is kept under the roof of the store till
the next morning and nobody has to pay for that, since the master of the store
and the master of the harbour have agreed on it.
"""


def test_in_a_text_with_a_margin_lines_next_to_others_are_joined_too(tmp_path: Path) -> None:
    text = (
        f"{WRAPPED}\nIf there is no room in the store, ask the master of the harbour, whose\n"
        "office is beside the gate, for a place by using the form:\n  stock --ask\n  exit\n"
        "He answers within the day, and keeps a copy of the form for the harbour's own\n"
        "books.\n1.1 Crates of looms and of the parts that belong to them, by their weights\n"
        "1.2 Crates of all else\nNote: the looms come in crates of two, and the spindles come by the hundred\n"
        "Price: none for the first day, then by the weight of the crate and the day it is\n"
    )
    assert outline(read_bytes(tmp_path, "a.txt", text))[1:] == [
        "If there is no room in the store, ask the master of the harbour, whose office is beside the gate, "
        "for a place by using the form:",
        "stock --ask",
        "exit",
        "He answers within the day, and keeps a copy of the form for the harbour's own books.",
        "1.1 Crates of looms and of the parts that belong to them, by their weights",
        "1.2 Crates of all else",
        "Note: the looms come in crates of two, and the spindles come by the hundred",
        "Price: none for the first day, then by the weight of the crate and the day it is",
    ]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("14 Quayside Road, third floor", "Grimsby DN31 3LP"),
        ("The store is on the left of it, and the crane for loads of four tons is there", "| the gate"),
        ("total = weigh(crate) + weigh(crates_of_looms, with_their_lids_and_the_nails)", "more of it"),
        ("He answers within the day, and keeps a copy of the form, and gives the other.", "    Ask Ann"),
        ("    The gate is shut at six, and opened in the morning by the men of the tide.", "Ask Ann first"),
        ("He answers within the day and keeps a copy of it, and wants these two papers:", "Two forms"),
        ("Copyright 1998-2021 by the harbour of Grimsby, by its master and by the others", "Copyright 2022"),
        ("The rules are printed in blue, and told right here.", "https://harbour.example/rules-of-the-harbour"),
        ("Loom of the newer kind, in crates of two                     four hundred pounds", "Spindle      fifty"),
    ],
)
def test_in_a_text_with_a_margin_other_lines_than_prose_are_kept(tmp_path: Path, line: str, after: str) -> None:
    found = outline(read_bytes(tmp_path, "a.txt", f"{WRAPPED}\nCrates\n{line}\n{after}\n"))
    assert found[1:] == ["Crates", *(re.sub(" +", " ", text.strip()) for text in (line, after))]


def test_chinese_paragraphs_with_indented_first_lines_are_joined(tmp_path: Path) -> None:
    first = "　　货物由承运人运到码头，由港口的起重机卸下，然后装上等在第二仓库后面\n的卡车，下午四点发往工厂。\n"
    second = "　　如果当天是星期日或者集市日，所有的货物都要在仓库的屋檐下面保管到第\n二天早上，并且不收取任何费用。\n"
    short = "联系电话\n办公地点\n"
    found = outline(read_bytes(tmp_path, "a.txt", (first + second) * 3 + short))
    assert found == [*[text.replace("\n", "").strip("　") for text in (first, second)] * 3, "联系电话", "办公地点"]


def test_a_poem_keeps_its_lines(tmp_path: Path) -> None:
    lines = [
        "we waited by the harbour wall, and heard",
        "the long tide come",
        "and saw how all the boats that had",
        "no names went out into the evening one by one",
        "and none of us",
        "had anything to say, or anyone to wait",
        "for, so we walked",
        "home",
    ]
    assert outline(read_bytes(tmp_path, "a.txt", "\n".join(lines))) == lines


def test_lists_are_items(tmp_path: Path) -> None:
    text = "- the first item of the list goes on\n  over two lines\n- the second item\n"

    assert outline(read_bytes(tmp_path, "a.txt", text)) == [
        "- the first item of the list goes on over two lines",
        "- the second item",
    ]


def test_an_option_of_a_manual_page_is_read_with_its_description(tmp_path: Path) -> None:
    options = "       -c, --cancel\n           Cancel a planned shutdown.\n\n       -k\n           发警告\n"
    text = f"OPTIONS\n\n{options}"

    assert outline(read_bytes(tmp_path, "a.txt", text))[1:] == [
        "-c, --cancel: Cancel a planned shutdown.",
        "-k: 发警告",
    ]


def test_chinese_chapters_are_headings(tmp_path: Path) -> None:
    text = (
        "第一章 总则\n　　第一条 制定本办法。\n　　第二条 适用于全体员工。\n\n"
        "一、范围\n本办法施行。\n（一）解释\n归公司所有。\n"
    )

    assert outline(read_bytes(tmp_path, "a.txt", text.encode("gbk"))) == [
        "# 第一章 总则",
        "第一条 制定本办法。",
        "第二条 适用于全体员工。",
        "## 一、范围",
        "本办法施行。",
        "### （一）解释",
        "归公司所有。",
    ]


def test_only_obvious_english_headings_are_recognised(tmp_path: Path) -> None:
    text = (
        "INTRODUCTION\n\nSome text here.\n\nUsage\n=====\n\nMore text.\n\n"
        "2.1 Options of the tool\n\nIt ends.\n\nJust a line\n"
    )

    assert outline(read_bytes(tmp_path, "a.txt", text)) == [
        "# INTRODUCTION",
        "Some text here.",
        "# Usage",
        "More text.",
        "## 2.1 Options of the tool",
        "It ends.",
        "Just a line",
    ]


def test_a_numbered_list_is_not_headings(tmp_path: Path) -> None:
    lines = outline(read_bytes(tmp_path, "a.txt", "1. Open it\n\n2. Close it\n\nDone."))

    assert lines[0] == "1. Open it"


def test_logs_keep_their_lines(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "a.log", "12:00 started\n12:01   stopped\n")

    assert found == [Code(text="12:00 started\n12:01   stopped")]


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.md", "a.html"])
def test_empty_and_binary_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    assert refused(path) == "empty"
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)))
    assert refused(path) == "broken"
    path.write_bytes(b"\x00\x01\x02\x03" * 500)
    assert refused(path) == "broken"


def test_invisible_and_control_characters_are_dropped(tmp_path: Path) -> None:
    text = "a\x00b\u200bc\u202ed and some more words in this line of text " + "that go on and on " * 6

    assert outline(read_bytes(tmp_path, "a.txt", text))[0].startswith("abcd and")


# CSV


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", "name,city\nAnn,Rome\nBob,Oslo\n"),
        ("a.csv", "name;city\nAnn;Rome\nBob;Oslo\n"),
        ("a.tsv", "name\tcity\nAnn\tRome\nBob\tOslo\n"),
        ("a.csv", "name|city\nAnn|Rome\nBob|Oslo\n"),
        ("a.csv", '"name","city"\n"Ann","Rome"\n\nBob,Oslo\n'),
    ],
)
def test_delimiter_and_header_are_detected(tmp_path: Path, name: str, data: str) -> None:
    assert outline(read_bytes(tmp_path, name, data)) == ["table: name,city | Ann,Rome | Bob,Oslo"]


def test_decimal_commas_do_not_make_columns(tmp_path: Path) -> None:
    assert outline(read_bytes(tmp_path, "a.csv", "item;price\nPen;1,50\nInk;12,75\n")) == [
        "table: item,price | Pen,1,50 | Ink,12,75"
    ]


def test_chinese_csv_in_gbk(tmp_path: Path) -> None:
    assert outline(read_bytes(tmp_path, "a.csv", "姓名,城市\n张三,北京\n李四,上海\n".encode("gbk"))) == [
        "table: 姓名,城市 | 张三,北京 | 李四,上海"
    ]


def test_an_unclosed_quotation_mark_includes_no_other_rows(tmp_path: Path) -> None:
    rows = [f"part {number},{number}" for number in range(60)]
    rows[3] = '"19 inch rack,3'
    (table,) = read_bytes(tmp_path, "a.csv", "name,count\n" + "\n".join(rows))
    assert isinstance(table, Table)
    assert len(table.rows) == 60
    assert table.rows[3] == ('"19 inch rack', "3")
    assert table.rows[59] == ("part 59", "59")


def test_a_long_field_in_quotation_marks_stays_whole(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(60))
    (table,) = read_bytes(tmp_path, "a.csv", f'name,text\na,"{text}"\nb,"a ""word"""\n')
    assert isinstance(table, Table)
    assert table.rows == (("a", text), ("b", 'a "word"'))


def test_numbers_alone_have_no_header(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.csv", "1,2\n3,4\n") == [Table(rows=(("1", "2"), ("3", "4")))]


def test_long_files_are_split_into_parts_with_the_same_header(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "a.csv", "id,name\n" + "".join(f"{n},n{n}\n" for n in range(1200)))

    tables = [item for item in found if isinstance(item, Table)]
    assert len(tables) == 3
    assert {table.columns for table in tables} == {("id", "name")}
    assert [row[0] for table in tables for row in table.rows] == [str(n) for n in range(1200)]


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" * 50)

    assert refused(path, max_rows=20) == "too_many_rows"


def test_a_table_with_very_many_columns_is_cut_and_reported(tmp_path: Path) -> None:
    row = ",".join(map(str, range(100_000)))
    found = read_bytes(tmp_path, "a.csv", f"{row}\n1,2\n{row}\n")

    assert outline(found)[-1] == "notice: A table has 100,000 columns; only the first 1,000 were read."
    assert {len(line) for item in found if isinstance(item, Table) for line in item.rows} == {1000}


def test_a_csv_may_begin_with_many_empty_lines(tmp_path: Path) -> None:
    (table,) = read_bytes(tmp_path, "a.csv", "\n" * 80 + "a;b\n1;2\n")
    assert outline([table]) == ["table: a,b | 1,2"]
