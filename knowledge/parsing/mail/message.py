"""The common representation of mails: header fields, text and attachments."""

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.encoders import encode_base64
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from knowledge.parsing.decoding import clean
from knowledge.parsing.elements import Attachment, Element, Heading, Notice, Paragraph
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.document import elements_of as elements_of_html
from knowledge.parsing.mail import quotes
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import FORMATS, ParseContext, extension_of, find_format

MAX_ATTACHMENTS = 100  # of a mail
_ROOM = 1024**2  # bytes of attachments that are allowed in addition to twice the mail's size
_FOLDER = "attachments"
_CONTENT_ID = re.compile(r"""\bcid:([^\s"'<>)]+)""", re.I)
_SAFE_EXTENSIONS = {"jpe": "jpg"}
_LONGEST_LIST = 2000  # characters of the recipients that are shown


@dataclass(slots=True)
class Carried:
    """An attached file; the mail's text may refer to it by its `content_id`."""

    name: str
    media_type: str
    data: bytes
    content_id: str = ""


@dataclass(slots=True)
class Mail:
    """A mail; `date` is that of its header."""

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    date: str | datetime | None = None
    html: str = ""
    text: str = ""
    carried: list[Carried] = field(default_factory=list)
    is_encrypted: bool = False


def elements_of(mail: Mail, context: ParseContext, size: int) -> Iterator[Element]:
    """Yield a mail's elements and then its attachments; `size` is the mail's in bytes.

    Raises `ParseError` ("encrypted") if only the recipient can read its text.
    """
    if mail.is_encrypted and not (mail.html or mail.text):
        raise ParseError("encrypted.mail")
    named = {name.lower() for name in _CONTENT_ID.findall(mail.html)}
    inline = {
        item.content_id.lower(): item.data
        for item in mail.carried
        if item.content_id.lower() in named and item.media_type.startswith("image/")
    }
    attached = [item for item in mail.carried if item.content_id.lower() not in inline]
    names = [_name(item, number) for number, item in enumerate(attached, 1)]
    subject = " ".join(clean(mail.subject).split())
    if subject:
        yield Heading(text=subject, level=1)
    facts = (
        ("From", mail.sender),
        ("To", mail.to),
        ("Cc", mail.cc),
        ("Date", _shown_date(mail.date)),
        ("Attachments", ", ".join(names[:MAX_ATTACHMENTS])),
    )
    filled = ((name, " ".join(clean(value).split())) for name, value in facts if value and value.strip())
    lines = [f"{name}: {line[:_LONGEST_LIST]}{' …' * (len(line) > _LONGEST_LIST)}" for name, line in filled]
    if lines:
        yield Paragraph(text="\n".join(lines))
    yield from _body(mail, PictureStore(context.output_dir), inline)
    yield from _attachments(attached, names, context, 2 * size + _ROOM)


def _body(mail: Mail, pictures: PictureStore, inline: dict[str, bytes]) -> Iterator[Element]:
    if mail.html.strip():

        def find(source: str) -> bytes:
            return inline.get(unquote(source[4:]).lower(), b"") if source[:4].lower() == "cid:" else b""

        found = list(elements_of_html(quotes.marked(mail.html), pictures, find))
        shown = list(quotes.elements_of_html(found, mail.subject))
        if any(not isinstance(element, Notice) for element in shown):
            yield from shown
            return
    yield from quotes.elements_of_text(clean(mail.text), mail.subject)


def _attachments(attached: list[Carried], names: list[str], context: ParseContext, room: int) -> Iterator[Element]:
    """Write the attached files, up to their greatest number and total size."""
    for number, (item, name) in enumerate(zip(attached, names, strict=True), 1):
        room -= len(item.data)
        if number > MAX_ATTACHMENTS or room < 0:
            left = len(attached) - number + 1
            yield Notice(key="left_out.attachments", params={"left": left, "most": MAX_ATTACHMENTS})
            return
        path = f"{_FOLDER}/{number}"
        (context.output_dir / _FOLDER).mkdir(parents=True, exist_ok=True)
        (context.output_dir / path).write_bytes(item.data)
        yield Attachment(path=path, name=name, size=len(item.data))


def _name(item: Carried, number: int) -> str:
    """Return an attached file's name, adding the extension of its media type if its own is unknown."""
    name = " ".join(clean(item.name).split()).replace("/", "_") or f"attachment-{number}"
    if find_format(extension_of(name)) is None:
        known = next((kind.extensions[0] for kind in FORMATS if kind.media_type == item.media_type), "")
        guessed = known or (mimetypes.guess_extension(item.media_type) or "")[1:] if not extension_of(name) else known
        name = f"{name}.{_SAFE_EXTENSIONS.get(guessed, guessed)}" if guessed else name
    return name


def _shown_date(date: str | datetime | None) -> str:
    if isinstance(date, str):
        try:
            date = parsedate_to_datetime(date)
        except (ValueError, TypeError, IndexError, OverflowError):
            return str(date)
    if date is None:
        return ""
    zone = date.strftime("%z")
    return f"{date:%Y-%m-%d %H:%M}" + (f" ({zone[:3]}:{zone[3:5]})" if zone else "")


def as_file(mail: Mail) -> bytes:
    """Return a mail in the standard format (eml)."""
    message = MIMEMultipart("mixed")
    for name, value in (("Subject", mail.subject), ("From", mail.sender), ("To", mail.to), ("Cc", mail.cc)):
        if value:
            message[name] = Header(" ".join(clean(value).split()), "utf-8").encode()
    if isinstance(mail.date, datetime):
        message["Date"] = mail.date.strftime("%a, %d %b %Y %H:%M:%S %z")
    elif mail.date:
        message["Date"] = " ".join(mail.date.split())
    body = MIMEMultipart("alternative")
    body.attach(MIMEText(mail.text.encode("utf-8", "replace").decode(), "plain", "utf-8"))
    if mail.html:
        body.attach(MIMEText(mail.html.encode("utf-8", "replace").decode(), "html", "utf-8"))
    message.attach(body)
    for item in mail.carried:
        main, _, sub = item.media_type.partition("/")
        part: Message = MIMEBase(main, sub or "octet-stream")
        part.set_payload(item.data)
        encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", item.name))
        if item.content_id:
            part["Content-ID"] = f"<{item.content_id}>"
        message.attach(part)
    return message.as_bytes()
