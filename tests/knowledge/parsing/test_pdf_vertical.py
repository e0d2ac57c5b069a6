"""Text in columns, downwards and from right to left, as in many Chinese and Japanese books and notices."""

from collections.abc import Sequence
from pathlib import Path

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from tests.knowledge.pdf_files import HEIGHT, chinese, make_pdf, text
from tests.knowledge.reading import outline, read

RULES = ["本公司員工每年得參加旅遊一次，費用由公", "司負擔，每人上限為新臺幣八千元。"]


def column(canvas: Canvas, x: float, top: float, characters: Sequence[str], size: float = 12) -> None:
    """Draw characters below each other; a longer text is one character of the column."""
    for number, character in enumerate(characters):
        chinese(canvas, x, top + 1.2 * size * number, character, size)


def test_columns_are_read_downwards_and_from_the_right(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        text(canvas, 60, 40, "Staff handbook 2024", size=9)
        column(canvas, 500, 80, "員工旅遊辦法", size=20)
        for number, characters in enumerate(RULES):
            column(canvas, 460 - 20 * number, 80, characters)
        column(canvas, 420, 104, "報名截止日為三月十五日。")
        text(canvas, 290, 800, "- 12 -", size=9)

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == [
        "Staff handbook 2024",
        "- 12 -",
        "# 員工旅遊辦法",
        "".join(RULES),
        "報名截止日為三月十五日。",
    ]


def test_sentences_go_on_after_short_columns(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number, characters in enumerate(["自六月一日起午餐时间", "改为十一点半至一点", "周末食堂不开放"]):
            column(canvas, 450 - 34 * number, 80, characters, size=18)

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == ["自六月一日起午餐时间改为十一点半至一点周末食堂不开放"]


def test_tiers_of_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    upper: list[Sequence[str]] = [
        "图书馆开放时间定为每日上午九点至下",
        "午六点，周一闭馆检修。每人最多可借",
        [*"五本书，借期为", "30", *"天，可以续借一次。"],
    ]
    lower = ["停车场收费标准如下：小型汽车每小时", "四元，每日最高四十元；摩托车每小时", "一元，自行车免费停放。"]

    def draw(canvas: Canvas) -> None:
        for tier, columns in ((80, upper), (420, lower)):
            for number, characters in enumerate(columns):
                column(canvas, 450 - 20 * number, tier, characters)

    make_pdf(tmp_path / "a.pdf", draw)
    first, second = outline(read(tmp_path / "a.pdf"))
    assert first.replace(" ", "") == "".join(map("".join, upper)) and second == "".join(lower)


def test_letters_on_their_side_stay_in_their_column(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        column(canvas, 460, 80, "請於每年二月底以前報名並繳")
        column(canvas, 440, 80, "交費用，電話")
        canvas.saveState()
        canvas.translate(442, HEIGHT - 160)
        canvas.rotate(-90)
        canvas.drawString(0, 0, "8765")
        canvas.restoreState()
        column(canvas, 440, 204, "，逾期不受理。")

    make_pdf(tmp_path / "a.pdf", draw)
    (paragraph,) = outline(read(tmp_path / "a.pdf"))
    assert paragraph.replace(" ", "") == "請於每年二月底以前報名並繳交費用，電話8765，逾期不受理。"


def test_fonts_for_columns_are_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        pdfmetrics.registerFont(UnicodeCIDFont("MSung-Light", isVertical=True))
        for number, characters in enumerate(RULES):
            text(canvas, 460 - 20 * number, 80, characters, "MSung-Light", 12)

    make_pdf(tmp_path / "a.pdf", draw)
    assert outline(read(tmp_path / "a.pdf")) == ["".join(RULES)]


def test_columns_of_a_table_are_not_taken_for_text(tmp_path: Path) -> None:
    columns = [
        "姓名 张伟 王芳 李娜 刘洋 陈静 杨帆",
        "性别 男 女 女 男 女 男",
        "等级 优 良 优 中 良 优",
        "部门 销售部 研发部 研发部 财务部 销售部 市场部",
    ]

    def draw(canvas: Canvas) -> None:
        for x, cells in zip((80, 160, 200, 260), columns, strict=True):
            for number, cell in enumerate(cells.split()):
                chinese(canvas, x, 100 + 16 * number, cell)

    make_pdf(tmp_path / "a.pdf", draw)
    rows = zip(*map(str.split, columns), strict=True)
    assert outline(read(tmp_path / "a.pdf")) == ["table: " + " | ".join(map(",".join, rows))]
