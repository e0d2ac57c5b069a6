"""Plain text, its character sets, and CSV."""

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
def test_character_sets_are_found_out(encoding: str, text: str) -> None:
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


def test_lists_are_items(tmp_path: Path) -> None:
    text = "- the first item of the list goes on\n  over two lines\n- the second item\n"

    assert outline(read_bytes(tmp_path, "a.txt", text)) == [
        "- the first item of the list goes on over two lines",
        "- the second item",
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


def test_english_headings_are_guessed_only_where_plain(tmp_path: Path) -> None:
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
def test_delimiter_and_header_are_found_out(tmp_path: Path, name: str, data: str) -> None:
    assert outline(read_bytes(tmp_path, name, data)) == ["table: name,city | Ann,Rome | Bob,Oslo"]


def test_decimal_commas_do_not_make_columns(tmp_path: Path) -> None:
    assert outline(read_bytes(tmp_path, "a.csv", "item;price\nPen;1,50\nInk;12,75\n")) == [
        "table: item,price | Pen,1,50 | Ink,12,75"
    ]


def test_chinese_csv_in_gbk(tmp_path: Path) -> None:
    assert outline(read_bytes(tmp_path, "a.csv", "姓名,城市\n张三,北京\n李四,上海\n".encode("gbk"))) == [
        "table: 姓名,城市 | 张三,北京 | 李四,上海"
    ]


def test_a_quotation_mark_that_is_never_closed_takes_in_no_other_rows(tmp_path: Path) -> None:
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


def test_long_files_come_in_parts_with_the_same_header(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "a.csv", "id,name\n" + "".join(f"{n},n{n}\n" for n in range(1200)))

    tables = [item for item in found if isinstance(item, Table)]
    assert len(tables) == 3
    assert {table.columns for table in tables} == {("id", "name")}
    assert [row[0] for table in tables for row in table.rows] == [str(n) for n in range(1200)]


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" * 50)

    assert refused(path, max_rows=20) == "too_many_rows"


def test_a_table_of_very_many_columns_is_bounded_and_tells_so(tmp_path: Path) -> None:
    row = ",".join(map(str, range(100_000)))
    found = read_bytes(tmp_path, "a.csv", f"{row}\n1,2\n{row}\n")

    assert outline(found)[-1] == "notice: A table has 100,000 columns; only the first 1,000 were read."
    assert {len(line) for item in found if isinstance(item, Table) for line in item.rows} == {1000}


def test_a_csv_may_begin_with_many_empty_lines(tmp_path: Path) -> None:
    (table,) = read_bytes(tmp_path, "a.csv", "\n" * 80 + "a;b\n1;2\n")
    assert outline([table]) == ["table: a,b | 1,2"]
