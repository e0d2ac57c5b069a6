"""Narrow columns of Chinese text, and documents that are only a table of contents."""

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.knowledge.pdf_files import HEIGHT, chinese, make_pdf, text
from tests.knowledge.reading import outline, read

NOTICES = [
    "本馆自五月一日起实行新的开放时间，周一至周五上午九点开馆，下午六点闭馆，周末延长至晚上八点。"
    "读者须凭本人借书证入馆，证件遗失的应及时到服务台挂失补办，补办工本费为十元。",
    "馆内禁止吸烟和饮食，手机应调至静音状态。存包柜仅供当日使用，闭馆后仍未取走的物品由保安统一保管，三日内可凭证件领取。",
    "少儿阅览室只接待十四岁以下儿童及其家长，家长应在旁照看。室内玩具使用后请放回原处，损坏须按价赔偿。雨天请将雨伞放入门口的伞架。",
]
CHAPTERS = [
    ("1 Introduction", 1),
    ("2 Installing the pump", 4),
    ("3 Operation", 12),
    ("4 Spare parts", 27),
    ("Index", 31),
]


@pytest.mark.parametrize(("columns", "characters"), [(1, 11), (2, 11), (3, 11), (2, 9), (3, 8)])
def test_narrow_columns_are_joined(tmp_path: Path, columns: int, characters: int) -> None:
    def draw(canvas: Canvas) -> None:
        for column, notice in enumerate(NOTICES[:columns]):
            for start in range(0, len(notice), characters):
                chinese(
                    canvas, 60 + 160 * column, 100 + 17 * start / characters, notice[start : start + characters], 11
                )

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == NOTICES[:columns]


def test_cells_of_equal_length_are_a_table(tmp_path: Path) -> None:
    rows = [
        "姓名 部门 电话",
        "张伟 销售部门东区组 三二一零零分机",
        "王芳 研发部门北区组 三二一零一分机",
        "李娜 财务部门总部组 三二一零二分机",
    ]
    rows.append("刘洋 市场部门西区组 三二一零三分机")

    def draw(canvas: Canvas) -> None:
        for number, row in enumerate(rows):
            for column, cell in enumerate(row.split()):
                chinese(canvas, 60 + 140 * column, 100 + 17 * number, cell, 11)

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == ["table: " + " | ".join(row.replace(" ", ",") for row in rows)]


def draw_contents(canvas: Canvas) -> None:
    text(canvas, 60, 60, "Contents", size=16)
    for number, (title, page) in enumerate(CHAPTERS):
        top = 100 + 18 * number
        text(canvas, 60, top, f"{title} {'.' * 60}")
        canvas.drawRightString(540, HEIGHT - top, str(page))


def test_a_table_of_contents_is_kept_if_there_is_nothing_else(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a.pdf", draw_contents)
    assert outline(read(tmp_path / "a.pdf")) == ["# Contents", *(f"{title}  {page}" for title, page in CHAPTERS)]


def test_a_table_of_contents_is_left_out_before_other_text(tmp_path: Path) -> None:
    make_pdf(
        tmp_path / "a.pdf", draw_contents, lambda canvas: text(canvas, 60, 100, "Clean the filter every week. " * 3)
    )
    assert outline(read(tmp_path / "a.pdf")) == ["# Contents", ("Clean the filter every week. " * 3).strip()]
