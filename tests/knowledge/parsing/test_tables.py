"""Headers, groups and neighbours of tables, in every format that has tables."""

from pathlib import Path

import docx
import pytest
from openpyxl import Workbook

from knowledge.parsing.elements import Table
from knowledge.parsing.tables.headers import count_header_rows
from tests.knowledge.reading import outline, read, read_bytes


def lines(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        # Words.
        ("Name|Age\nAnn|3\nBob|4", 1),
        ("姓名|年龄\n张三|3", 1),
        ("1|2\n3|4", 0),
        ("Name|Name\nAnn|3", 0),
        # Years, dates, months and times.
        ("Team|2023|2024\nSales|12|15\nService|30|28", 1),
        ("|2023|2024\nSales|12|15\nService|30|28", 1),
        ("部门|2022|2023|2024\n销售|12|15|9\n服务|30|28|31", 1),
        ("Team|Head|2024\nSales|Ann|15\nService|Bob|28", 1),
        ("Team|2024\nSales|15\nService|28", 1),
        ("Team|FY2023|FY2024\nSales|12|15", 1),
        ("Museum|2024-01|2024-02|2024-03\nHarbour|820|940|1310\nRail|410|455|600", 1),
        ("项目|2024-01-01|2024-02-01\n水费|120|131\n电费|310|298", 1),
        ("Room|08:00|10:00|12:00\nA1|Maths|Music|\nA2|Sports|Arts|Maths", 1),
        ("Museum|Feb 24|Mar 24\nHarbour|820|940\nRail|410|455", 1),
        ("Club|2022/23|2023/24\nNorth|31|28\nSouth|12|15", 1),
        # Sizes and numbers of pieces.
        ("Colour|36|37|38|39\nRed|4|0|2|9\nBlue|1|7|3|3", 1),
        ("尺码|100|200|500|1000\n单价|9.5|8.8|7.9|7.5\n运费|12|12|0|0", 1),
        # Rows of values are no header.
        ("Rome|1960|2004\nOslo|1952|1994\nTokyo|1964|2020", 0),
        ("Lamp|2024-01-02|2024-02-03\nDesk|2024-03-01|2024-04-09", 0),
        ("Ann|10|20|30\nBob|20|40|60\nEve|5|10|15", 0),
        ("North|120|131\nSouth|98|87\nWest|45|52", 0),
        ("张三|2001|78\n李四|1999|85", 0),
        ("Ghent|2.5M\nLiege|45.0K\nSpa|-", 0),
        ("水泥|1.2万元\n砂石|3.4万元", 0),
        ("Rope|12 kg|$(192,000.00)\nPulley|3 kg|$ -", 0),
        ("PP&E|2838.54|2315.48|2841.75\nOther|1373.65|1824.50|1799.23\nTotal|4212.19|4139.98|4640.98", 0),
        ("安装包|httpd-2.2.31.tar.gz\n版本|2.2.31\n路径|/apache2", 0),
        ("Site|https://example.org\nOwner|Ann Lee\nTown|Rome", 0),
        ("Messages|90,000 FCFA\nFees|9,150 FCFA\nHosting|99,150 FCFA", 0),
        # Words that stand twice, and a word above dates.
        ("姓名|奖金|扣除|社保|扣除\n王|100|20|30|5\n李|120|10|30|6", 1),
        ("Variable|Mean|Sd|Mean|Sd\nAge|64|13|49|19\nWeight|70|12|71|11", 1),
        ("local_time|0\n2023-01-01|0.6\n2023-01-02|0.7\n2023-01-03|0.5", 1),
        # Units, years and weekdays below the names.
        ("Item|Price|Weight\n|EUR|kg\nBolt|3|4\nNut|5|6", 2),
        ("指标|产量|占比\n单位|吨|%\n北京|12|30\n上海|15|35", 2),
        ("Region|Spend|Staff\n|2012|2012\nNorth|12.5|33\nSouth|11.1|35", 2),
        ("Slots|1|2|3\nRoom|08:00-08:55|09:00-09:55|10:00-10:55\nE1|Maths|Arts|\nE2||Sport|Maths", 2),
        ("姓名|1|2|3\n姓名|三|四|五\n王|●|休|●\n李|休||●", 2),
        ("Job|Month|Month|Month\nJob|1|2|3\nPaint|||\nMow|||", 2),
        ("序号|姓名|1|2|3|1|2\n1|王|0|1|1|0|1\n2|李|1|1|0|1|1\n3|赵|1|0|0|0|1", 1),
        ("No.|Task|Task\nNo.|Dig|Sow\nNo.|3|7\n1|Ann|-1\n2|Bob|", 3),
        ("Area|In|Out|Blank|Total|Share||||\nAin|4|5|6|7|8|M|1|Ann|9\nOise|3|2|1|0|5|F|2|Eve|8", 1),
        ("Item|Price|Weight\n|EUR|kg\nBolt|cheap|light\nNut|dear|heavy", 1),
        ("Depth||East|East|East\nDepth||0.00|0.02|0.04\nNorth|0.00|24.40|24.12|23.85\nNorth|0.02|24.32|24.04|23.77", 2),
        ("目的|打开页面，选择天数|打开页面，选择天数\n|操作|结果\n1|点击|成功\n2|返回|失败", 0),
        # Levels.
        ("Region|Year|Year\nRegion|a|b\nNorth|1|2", 2),
        ("车间|上半年|上半年|下半年|下半年\n车间|计划|实际|计划|实际\n一车间|1200|1260|1300|1170", 2),
        ("车间|上半年||下半年|\n|计划|实际|计划|实际\n一车间|1200|1260|1300|1170", 2),
        ("Branch|2022|2022|2023|2023\nBranch|Plan|Actual|Plan|Actual\nLund|4|5|6|7\nBergen|1|2|3|4", 2),
        ("Branch|Plan|Plan|Actual|Actual\nBranch|2022|2023|2022|2023\nLund|40|51|61|47\nBergen|11|22|13|24", 2),
        (
            "省份|人口|人口|人口|人口\n省份|城镇|城镇|乡村|乡村\n省份|男|女|男|女\n浙江|10|11|12|13\n江苏|14|15|16|17",
            3,
        ),
    ],
)
def test_rows_that_name_the_columns_are_counted(rows: str, count: int) -> None:
    assert count_header_rows(lines(rows)) == count


def test_every_part_of_a_long_file_has_the_years(tmp_path: Path) -> None:
    rows = "".join(f"Area {number},{number},{number + 7},{number * 2}\n" for number in range(1100))
    found = read_bytes(tmp_path, "a.csv", f"Area,2021,2022,2023\n{rows}")
    assert [element.columns for element in found if isinstance(element, Table)] == [
        ("Area", "2021", "2022", "2023")
    ] * 3


def test_lines_above_a_header_are_read_apart(tmp_path: Path) -> None:
    data = "Order report;2024\nBranch;Malmö\nOrder;Net;Gross;Freight\nO-1;100;125;9\nO-2;117;146;10\n"
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "Order report: 2024",
        "table: Branch: Malmö: Order,Net,Gross,Freight | O-1,100,125,9 | O-2,117,146,10",
    ]
    padded = "客户名单,,\n导出日期,2024-05-01,\n客户,城市,电话\n甲公司,杭州,0571\n乙公司,宁波,0574\n"
    assert outline(read_bytes(tmp_path, "b.csv", padded)) == [
        "客户名单",
        "table: 导出日期: 2024-05-01: 客户,城市,电话 | 甲公司,杭州,0571 | 乙公司,宁波,0574",
    ]


def test_empty_lines_do_not_end_a_table_that_goes_on(tmp_path: Path) -> None:
    data = "item,price\nPen,1\n\nInk,12\nPaper,3\n\nitem,price\nGlue,2\n\ncity,people,area\nRome,5,7\n"
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "table: item,price | Pen,1 | Ink,12 | Paper,3 | Glue,2",
        "table: city,people,area | Rome,5,7",
    ]


def test_tables_beside_each_other_are_read_apart(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    book.active.title = "Data"
    for row in (
        ["Staff", None, None, "Rooms"],
        ["Name", "Hours", None, "Room", "Seats", "Floor"],
        ["Ann", 31, None, "A1", 12, 1],
        ["Bob", 40, None, "A2", 8, 2],
        [None, None, None, "B7", 30, 2],
    ):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert outline(read(tmp_path / "a.xlsx"))[1:] == [
        "table: Staff: Name,Hours | Ann,31 | Bob,40",
        "table: Rooms: Room,Seats,Floor | A1,12,1 | A2,8,2 | B7,30,2",
    ]


def test_tables_beside_each_other_end_at_different_rows(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    book.active.title = "Data"
    for row in (
        ["Staff", None, None, "Rooms"],
        ["Name", "Hours", None, "Room", "Seats", "Floor"],
        ["Ann", 31, None, "A1", 12, 1],
        ["Bob", 40, None, "A2", 8, 2],
        [None, None, None, "B7", 30, 2],
        ["Guests", None, None, "B8", 31, 3],
        ["Guest", "Nights", None, "B9", 32, 3],
        ["Eve", 2],
        ["Kim", 4],
    ):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert sorted(outline(read(tmp_path / "a.xlsx"))[1:]) == [
        "table: Guests: Guest,Nights | Eve,2 | Kim,4",
        "table: Rooms: Room,Seats,Floor | A1,12,1 | A2,8,2 | B7,30,2 | B8,31,3 | B9,32,3",
        "table: Staff: Name,Hours | Ann,31 | Bob,40",
    ]


def test_merged_columns_do_not_divide_a_table(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    book.active.title = "Data"
    for row in (
        ["编号", "名称", None, "属性", None],
        [None, None, None, "类型", "位数"],
        [1, "客户", None, "int", 11],
        [2, "密码", None, "text", 80],
    ):
        book.active.append(row)
    for area in ("A1:A2", "B1:C2", "D1:E1", "B3:C3", "B4:C4"):
        book.active.merge_cells(area)
    book.save(tmp_path / "a.xlsx")
    assert outline(read(tmp_path / "a.xlsx"))[1:] == [
        "table: 编号,名称,属性 / 类型,属性 / 位数 | 1,客户,int,11 | 2,密码,text,80"
    ]


def test_an_empty_line_may_follow_the_header(tmp_path: Path) -> None:
    data = "Balance,2024,2023\n\nCash,2838.54,2315.59\nGoods,885.10,866.90\nDebts,100.20,90.10\n"
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "table: Balance,2024,2023 | Cash,2838.54,2315.59 | Goods,885.10,866.90 | Debts,100.20,90.10"
    ]
    apart = "Ann,Rome,12\n\nCity,People\nOslo,5\nLund,7\n"
    assert outline(read_bytes(tmp_path, "b.csv", apart)) == [
        "table:  | Ann,Rome,12",
        "table: City,People | Oslo,5 | Lund,7",
    ]


def test_rows_after_an_empty_line_may_be_longer(tmp_path: Path) -> None:
    data = "Item,Q1,Q2,Q3,Q4\nSales,1.5,2.5,3.5,4.5\n\nCosts,1.2,2.2,3.2,4.2,sum\nTax,0.1,0.2,0.3,0.4\n"
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "table: Item,Q1,Q2,Q3,Q4, | Sales,1.5,2.5,3.5,4.5, | Costs,1.2,2.2,3.2,4.2,sum | Tax,0.1,0.2,0.3,0.4,"
    ]


def test_sections_with_titles_share_the_header_above(tmp_path: Path) -> None:
    data = (
        "Cost,Kind,Amount\nHost,Infra,12\nMail,Infra,3\n\nLaw\nAdvice,Legal,75\nTrade mark,Legal,25\n\nNotes\nAsk,Ann\n"
    )
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "table: Cost,Kind,Amount | Host,Infra,12 | Mail,Infra,3",
        "table: Law: Cost,Kind,Amount | Advice,Legal,75 | Trade mark,Legal,25",
        "table: Notes:  | Ask,Ann",
    ]


def test_an_empty_column_within_a_table_does_not_split_it(tmp_path: Path) -> None:
    data = "Name,Hours,,Town,Street\nAnn,31,,Rome,Via A\nBob,40,,Oslo,Gate B\n"
    assert outline(read_bytes(tmp_path, "a.csv", data)) == [
        "table: Name,Hours,Town,Street | Ann,31,Rome,Via A | Bob,40,Oslo,Gate B"
    ]


TITLED = [
    ["2024年各车间产量统计表（单位：吨）", "", "", "", ""],
    ["车间", "上半年", "", "下半年", ""],
    ["", "计划", "实际", "计划", "实际"],
    ["一车间", "1200", "1260", "1300", "1170"],
    ["二车间", "900", "855", "950", "1045"],
]
LEVELS = "车间,上半年 / 计划,上半年 / 实际,下半年 / 计划,下半年 / 实际"


@pytest.mark.parametrize("merged", [True, False])
def test_a_title_over_two_levels_in_a_workbook(tmp_path: Path, merged: bool) -> None:
    book = Workbook()
    assert book.active is not None
    for row in TITLED:
        book.active.append([cell or None for cell in row])
    for area in ("A1:E1", "A2:A3", "B2:C2", "D2:E2") if merged else ():
        book.active.merge_cells(area)
    book.save(tmp_path / "a.xlsx")
    (table,) = outline(read(tmp_path / "a.xlsx"))[1:]
    assert table.startswith(f"table: 2024年各车间产量统计表（单位：吨）: {LEVELS} | 一车间,1200,1260,1300,1170 | ")


def test_a_title_over_two_levels_in_a_document(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(5, 5)
    for number, row in enumerate(TITLED):
        for place, text in enumerate(row):
            table.cell(number, place).text = text
    for first, last in (((0, 0), (0, 4)), ((1, 0), (2, 0)), ((1, 1), (1, 2)), ((1, 3), (1, 4))):
        merged = table.cell(*first).merge(table.cell(*last))
        merged.text = merged.text.strip()
    document.save(str(tmp_path / "a.docx"))
    (found,) = outline(read(tmp_path / "a.docx"))
    assert found.startswith(f"table: 2024年各车间产量统计表（单位：吨）: {LEVELS} | 一车间,1200,1260,1300,1170 | ")


def test_a_title_over_two_levels_on_a_page(tmp_path: Path) -> None:
    html = (
        "<table><tr><td colspan=5>产量</td></tr><tr><td rowspan=2>车间</td><td colspan=2>上半年</td>"
        "<td colspan=2>下半年</td></tr><tr><td>计划</td><td>实际</td><td>计划</td><td>实际</td></tr>"
        "<tr><td>一车间</td><td>1</td><td>2</td><td>3</td><td>4</td></tr></table>"
    )
    assert outline(read_bytes(tmp_path, "a.html", html)) == [f"table: 产量: {LEVELS} | 一车间,1,2,3,4"]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (
            "Site,Product,Qty\nOslo,Nails,5\n,Screws,12\nBergen,Nails,9\n,Screws,3\n",
            ["Oslo,Nails,5", "Oslo,Screws,12", "Bergen,Nails,9", "Bergen,Screws,3"],
        ),
        (
            "大区,城市,门店,销量\n华东,杭州,一店,5\n,,二店,6\n,宁波,三店,7\n华南,广州,四店,8\n,,五店,9\n",
            ["华东,杭州,一店,5", "华东,杭州,二店,6", "华东,宁波,三店,7", "华南,广州,四店,8", "华南,广州,五店,9"],
        ),
        # The sum of all belongs to no group, and gaps in a list are gaps.
        ("Site,Product,Qty\nOslo,Nails,5\n,Screws,12\n,Total,17\n", ["Oslo,Nails,5", "Oslo,Screws,12", ",Total,17"]),
        (
            "Name,Town,Age\n" + "".join(f"N{number},Rome,{number}\n" for number in range(9)) + ",Oslo,7\n",
            [*(f"N{number},Rome,{number}" for number in range(9)), ",Oslo,7"],
        ),
    ],
)
def test_a_group_named_once_is_named_in_each_of_its_rows(tmp_path: Path, data: str, rows: list[str]) -> None:
    (table,) = read_bytes(tmp_path, "a.csv", data)
    assert isinstance(table, Table) and [",".join(row) for row in table.rows] == rows
