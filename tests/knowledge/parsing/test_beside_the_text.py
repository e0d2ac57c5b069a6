"""What stands beside the text is read once: front matter, pages' headers and footers, comments."""

from pathlib import Path

import docx
import pytest

from tests.knowledge.reading import outline, read, read_bytes


@pytest.mark.parametrize(
    ("matter", "lines"),
    [
        (
            "title: Deployment guide\nowner: Mira Lindqvist\nversion: 3.2\n",
            ["# Deployment guide", "owner: Mira Lindqvist\nversion: 3.2"],
        ),
        ("负责人: 王芳\n标签:\n  - 部署\n  - 回滚\n", ["负责人: 王芳\n标签: 部署, 回滚"]),
        ("tags: [a, b]\nreviewed: '2024-05-01'  \ndraft:\n", ["tags: a, b\nreviewed: 2024-05-01"]),
    ],
)
def test_front_matter(tmp_path: Path, matter: str, lines: list[str]) -> None:
    assert outline(read_bytes(tmp_path, "a.md", f"---\n{matter}---\n\nIt runs on Tuesdays.\n")) == [
        *lines,
        "It runs on Tuesdays.",
    ]


def test_headers_and_footers_of_a_document(tmp_path: Path) -> None:
    document = docx.Document()
    for _page in range(2):
        section = document.add_section()
        section.header.is_linked_to_previous = section.footer.is_linked_to_previous = False
        section.header.paragraphs[0].text = "Lease No. L-2209 – landlord: Norrby Homes AB"
        section.footer.paragraphs[0].text = "Page 1 of 3"
        document.add_paragraph("The monthly rent is 1,020 euros.")
    section.footer.paragraphs[0].text = "第 2 页 共 3 页"
    document.save(str(tmp_path / "a.docx"))
    assert outline(read(tmp_path / "a.docx")) == [
        "Lease No. L-2209 – landlord: Norrby Homes AB",
        "The monthly rent is 1,020 euros.",
        "The monthly rent is 1,020 euros.",
    ]


def test_comments_on_a_document(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("押金为两个月租金。")
    document.add_comment(paragraph.runs, text="自 2025 年起改为一个月。", author="李雷")
    document.save(str(tmp_path / "a.docx"))
    assert outline(read(tmp_path / "a.docx")) == ["押金为两个月租金。", "[李雷] 自 2025 年起改为一个月。"]
