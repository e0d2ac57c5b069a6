"""Mails: header fields, text and attachments."""

import struct
from base64 import b64encode
from collections.abc import Iterator
from contextlib import nullcontext
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from oxmsg.storage import Storage, Stream

from knowledge.parsing.elements import Attachment, Element, Notice, Picture, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.mail import message as message_module
from knowledge.parsing.mail import msg
from knowledge.parsing.registry import OLE, ParseContext, format_of
from tests.knowledge.reading import message_of, outline, png, read_bytes, refused


def make(subject: str = "Pump", text: str = "It is blue.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann Oil <ann@example.com>", "Bob <bob@example.com>"
    message["Date"] = "Tue, 05 Mar 2024 14:02:00 +0800"
    for name, value in headers.items():
        message[name] = value
    message.set_content(text)
    return message


def _read(folder: Path, data: bytes, name: str = "a.eml") -> tuple[list[str], list[Attachment]]:
    found = read_bytes(folder, name, data)
    carried = [element for element in found if isinstance(element, Attachment)]
    return outline([element for element in found if not isinstance(element, Attachment)]), carried


_FACTS = "From: Ann Oil <ann@example.com>\nTo: Bob <bob@example.com>\nDate: 2024-03-05 14:02 (+08:00)"


def test_a_mail(tmp_path: Path) -> None:
    lines, carried = _read(
        tmp_path, make("泵的颜色", "It is blue.\n\n> which colour?\n", Cc="c@example.com").as_bytes()
    )
    facts = _FACTS.replace("\nDate", "\nCc: c@example.com\nDate")
    assert lines == ["# 泵的颜色", facts, "It is blue.", "# Quoted", "which colour?"]
    assert carried == []


def test_html_with_pictures_within_it_and_attachments(tmp_path: Path) -> None:
    message = make()
    message.add_alternative(
        "<html><body><h1>Colours</h1><p>It is <b>teal</b>.</p><img src='cid:logo@x' alt='The pump'></body></html>",
        "html",
    )
    message.get_payload()[1].add_related(png(), "image", "png", cid="<logo@x>", filename="logo.png")  # type: ignore
    message.add_attachment(b"a,b\n1,2\n", "text", "csv", filename="figures.csv")
    message.add_attachment(b"%PDF-1.4", "application", "pdf", filename="报告")
    message.add_attachment(make("Inner"), filename=None)
    lines, carried = _read(tmp_path, message.as_bytes())
    assert lines == [
        "# Pump", f"{_FACTS}\nAttachments: figures.csv, 报告.pdf, Inner.eml", "## Colours", "It is teal.",
        "picture: The pump",
    ]  # fmt: skip
    assert [item.name for item in carried] == ["figures.csv", "报告.pdf", "Inner.eml"]
    files = [(tmp_path / "pictures" / item.path).read_bytes() for item in carried]
    assert files[:2] == [b"a,b\n1,2\n", b"%PDF-1.4"] and b"Subject: Inner" in files[2]
    assert [item.size for item in carried] == [len(data) for data in files]


def test_a_picture_that_the_text_does_not_show_is_an_attachment(tmp_path: Path) -> None:
    message = make()
    message.add_attachment(png(), "image", "png", filename="photo.png", cid="<x@y>")
    assert [item.name for item in _read(tmp_path, message.as_bytes())[1]] == ["photo.png"]


def test_headers_and_text_in_old_character_sets(tmp_path: Path) -> None:
    data = b"From: =?gb2312?B?" + b64encode("张三".encode("gb2312")) + b"?= <z@example.com>\r\nSubject: "
    data += "关于泵的颜色的通知".encode("gb18030") + b"\r\nContent-Type: text/plain; charset=gb2312\r\n\r\n"
    lines, _ = _read(tmp_path, data + "泵是蓝色的。".encode("gb18030"))
    assert lines == ["# 关于泵的颜色的通知", "From: 张三 <z@example.com>", "泵是蓝色的。"]


@pytest.mark.parametrize(
    "headers",
    [
        b"Subject: =?utf-8?B?broken\r\nDate: no date\r\nFrom: <<>>\r\nContent-Type: multipart/mixed\r\n",
        b"Subject: x\r\nContent-Type: text/plain; charset=nonsense\r\nContent-Transfer-Encoding: base64\r\n",
        b"From a mailbox line\r\nSubject: x\r\nContent-Disposition: inline; filename*=x''%ff\r\n",
    ],
)
def test_malformed_mails_are_read_as_far_as_they_go(tmp_path: Path, headers: bytes) -> None:
    lines, _ = _read(tmp_path, headers + b"\r\nIt is blue.\r\n")
    assert lines


def test_mails_within_mails_without_end_do_no_harm(tmp_path: Path) -> None:
    deep = b"Subject: deep\r\nFrom: a@b\r\n"
    for number in range(60):
        deep += f'Content-Type: multipart/mixed; boundary="b{number}"\r\n\r\n--b{number}\r\n'.encode()
    lines, _ = _read(tmp_path, deep + b"\r\nend\r\n")
    assert lines == ["# deep", "From: a@b"]


def test_the_number_and_the_size_of_attachments_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_module, "MAX_ATTACHMENTS", 2)
    message = make()
    for number in range(5):
        message.add_attachment(b"x", "text", "plain", filename=f"{number}.txt")
    found = read_bytes(tmp_path, "a.eml", message.as_bytes())
    assert sum(isinstance(element, Attachment) for element in found) == 2
    assert isinstance(found[-1], Notice) and message_of(found[-1]).startswith("3 attachments were left out: at most 2")


def test_what_is_encrypted_or_no_mail_is_refused(tmp_path: Path) -> None:
    for kind in ('multipart/encrypted; boundary="b"', "application/pkcs7-mime; smime-type=enveloped-data"):
        with pytest.raises(ParseError) as caught:
            read_bytes(tmp_path, "a.eml", f"Subject: x\r\nContent-Type: {kind}\r\n\r\n--b\r\n\r\nMIIB\r\n--b--")
        assert caught.value.code == "encrypted" and "mail is encrypted" in message_of(caught.value)
    (tmp_path / "b.eml").write_text("just words, no mail")
    assert refused(tmp_path / "b.eml") == "broken"


def test_a_saved_page(tmp_path: Path) -> None:
    page = EmailMessage()
    page.set_content("<html><head><title>Pumps</title></head><body><h1>Pump</h1><p>Blue.</p><img src='a.png' alt='it'>"
                     "</body></html>", "html")  # fmt: skip
    page.add_related(png(), "image", "png")
    part = page.get_payload()[1]  # type: ignore[index]
    part["Content-Location"] = "file:///C:/page/a.png"  # type: ignore[index]
    (tmp_path / "a.mht").write_bytes(b"MIME-Version: 1.0\r\n" + page.as_bytes())
    found = list(format_of("a.mht").load()(tmp_path / "a.mht", ParseContext(tmp_path / "out", "a.mht")))
    assert outline(found[:-1]) == ["# Pump", "Blue.", "picture: it"]
    assert found[-1] == Title(text="Pumps")
    assert any(isinstance(element, Picture) for element in found)
    (tmp_path / "b.mht").write_bytes(make().as_bytes())
    assert refused(tmp_path / "b.mht") == "no_text"


# Outlook


def _storage(name: str, header: int, texts: dict[int, Any], *inside: Storage) -> Storage:
    """Return a storage of an Outlook file with properties by number."""
    properties, streams = b"\0" * header, []
    for pid, value in texts.items():
        if isinstance(value, int):
            properties += struct.pack("<HHIq", 3, pid, 6, value)
            continue
        if isinstance(value, tuple):  # text in a character set
            kind, data = 0x1E, value[0].encode(value[1])
        else:
            kind, data = (0x1F, value.encode("utf-16-le")) if isinstance(value, str) else (0x102, value)
        properties += struct.pack("<HHIII", kind, pid, 6, len(data), 0)
        streams.append(Stream(f"{name}/__substg1.0_{pid:04X}{kind:04X}", data))
    streams.append(Stream(f"{name}/__properties_version1.0", properties))
    return Storage(name, tuple(streams), inside)


@pytest.fixture
def outlook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that reads a storage like a file."""

    def read(storage: Storage) -> list[Element]:
        monkeypatch.setattr(msg, "OleFileIO", nullcontext)
        monkeypatch.setattr(Storage, "from_ole", lambda ole: storage)
        (tmp_path / "a.msg").write_bytes(OLE)
        return list(msg.parse(tmp_path / "a.msg", ParseContext(tmp_path / "out", "a.msg")))

    yield read


_MAIL = {0x1A: "IPM.Note", 0x37: "泵", 0x0C1A: "Ann", 0x5D01: "ann@example.com", 0x1000: "It is blue."}
_HEADERS = {0x7D: "Date: Tue, 05 Mar 2024 14:02:00 +0800\n\n"}


def test_a_mail_of_outlook(outlook: Any, tmp_path: Path) -> None:
    html = {0x1013: b"<html><head><meta charset='utf-8'></head><p>It is <b>teal</b>.</p><img src='cid:l@x'></html>"}
    inner = _storage("__substg1.0_3701000D", 24, _MAIL | {0x37: "Inner"})
    storage = _storage(
        "",
        32,
        _MAIL | _HEADERS | html,
        _storage("__recip_version1.0_#00000000", 8, {0x3001: "Bob", 0x39FE: "bob@example.com", 0x0C15: 1}),
        _storage("__recip_version1.0_#00000001", 8, {0x3001: "Cleo", 0x39FE: "c@example.com", 0x0C15: 2}),
        _storage(
            "__attach_version1.0_#00000000", 8, {0x3707: "figures.csv", 0x3701: b"a,b\n1,2\n", 0x370E: "text/csv"}
        ),
        _storage("__attach_version1.0_#00000001", 8, {0x3712: "l@x", 0x3701: png(), 0x370E: "image/png"}),
        _storage("__attach_version1.0_#00000002", 8, {0x3705: 5}, inner),
    )
    found = outlook(storage)
    carried = [element for element in found if isinstance(element, Attachment)]
    facts = "From: Ann <ann@example.com>\nTo: Bob <bob@example.com>\nCc: Cleo <c@example.com>"
    assert outline([element for element in found if not isinstance(element, Attachment)]) == [
        "# 泵", f"{facts}\nDate: 2024-03-05 14:02 (+08:00)\nAttachments: figures.csv, Inner.eml", "It is teal.",
        "picture: ",
    ]  # fmt: skip
    assert [item.name for item in carried] == ["figures.csv", "Inner.eml"]
    inside, _ = _read(tmp_path, (tmp_path / "out" / carried[1].path).read_bytes())
    assert inside == ["# Inner", "From: Ann <ann@example.com>", "It is blue."]


@pytest.mark.parametrize(
    ("text", "charset", "codepage"),
    [
        ("泵是蓝色的，请检查油位。", "gbk", 0),
        ("幫浦是藍色的，請檢查油位。", "big5", 0),
        ("Die Pumpe läuft für die Gäste.", "cp1252", 0),
        ("泵是蓝色的，请检查油位。", "utf-8", 0),
        ("Насос синий, проверьте масло.", "cp1251", 0),
        ("Насос синий.", "cp1251", 1251),
        ("Насос синий.", None, 0),
    ],
)
def test_8_bit_text_of_outlook(outlook: Any, text: str, charset: str | None, codepage: int) -> None:
    fields = {0x37: (text, charset), 0x1000: (text, charset)} if charset else {0x37: text, 0x1000: text}
    found = outlook(_storage("", 32, {0x1A: "IPM.Note"} | fields | ({0x3FFD: codepage} if codepage else {})))
    assert outline(found) == [f"# {text}", text]


def test_an_encrypted_mail_of_outlook(outlook: Any) -> None:
    with pytest.raises(ParseError) as caught:
        outlook(_storage("", 32, {0x1A: "IPM.Note.SMIME", 0x37: "Secret"}))
    assert caught.value.code == "encrypted"


def test_a_damaged_mail_of_outlook(outlook: Any, tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        outlook(Storage("", (), ()))
    assert caught.value.code == "broken"


def test_a_cut_off_mail_of_outlook(tmp_path: Path) -> None:
    (tmp_path / "b.msg").write_bytes(OLE + b"\0" * 5000)
    assert refused(tmp_path / "b.msg") == "broken"
