"""Outlook mails (msg)."""

import struct
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

from olefile import OleFileIO
from oxmsg.attachment import Attachment
from oxmsg.domain import constants
from oxmsg.properties import Properties
from oxmsg.recipient import Recipient
from oxmsg.storage import Storage

from knowledge.parsing.decoding import decode
from knowledge.parsing.elements import Element
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.document import source_of
from knowledge.parsing.mail.message import MAX_ATTACHMENTS, Carried, Mail, as_file, elements_of
from knowledge.parsing.registry import ParseContext

_TOP, _EMBEDDED = 32, 24  # bytes before the properties of a mail, and of an embedded one
_RECIPIENT_TYPE = 0x0C15
_CC = 2
_INNER = "__substg1.0_3701000D"  # a mail in place of an attachment's bytes
_DEEPEST = 5  # mails within mails
_ASSUMED = "iso-8859-15"  # the character set that oxmsg assumes for 8-bit text if the mail declares none
_UNREADABLE = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError, struct.error)


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a mail's elements and attachments; raises `ParseError` if it is broken, encrypted or empty."""
    try:
        with OleFileIO(path) as ole:
            storage = Storage.from_ole(ole)
        mail = _read(storage, _TOP, 0)
    except (*_UNREADABLE, RecursionError) as error:
        raise ParseError("broken") from error
    found = list(elements_of(mail, context, path.stat().st_size))
    if not found:
        raise ParseError("no_text.document")
    return iter(found)


def _read(storage: Storage, offset: int, depth: int) -> Mail:
    properties = Properties(storage, properties_header_offset=offset)
    if not storage.properties_stream_bytes:
        raise ParseError("broken")
    headers = HeaderParser().parsestr(_text(properties, constants.PID_TRANSPORT_MESSAGE_HEADERS))
    name = _text(properties, constants.PID_SENDER_NAME)
    address = _text(properties, constants.PID_SENDER_SMTP_ADDRESS) or _text(
        properties, constants.PID_SENDER_EMAIL_ADDRESS
    )
    kind = _text(properties, constants.PID_MESSAGE_CLASS).lower()
    mail = Mail(
        subject=_text(properties, constants.PID_SUBJECT),
        sender=_person(name, address)
        or _text(properties, constants.PID_SENT_REPRESENTING_NAME)
        or headers["from"]
        or "",
        to=_people(storage, cc=False) or _text(properties, constants.PID_DISPLAY_TO),
        cc=_people(storage, cc=True) or _text(properties, constants.PID_DISPLAY_CC),
        date=headers["date"],
        text=_text(properties, constants.PID_BODY),
        is_encrypted=kind.endswith(".smime") or ".rpmsg" in kind,
    )
    for stamp in (constants.PID_CLIENT_SUBMIT_TIME, constants.PID_MESSAGE_DELIVERY_TIME):
        if not mail.date:
            try:
                mail.date = properties.date_prop_value(stamp)
            except _UNREADABLE:
                continue
    try:
        html = properties.binary_prop_value(constants.PID_HTML) or b""
        mail.html = (
            source_of(html, "" if b"charset" in html[:4096].lower() else properties.body_encoding) if html else ""
        )
    except _UNREADABLE:
        mail.html = ""
    mail.html = mail.html or _text(properties, constants.PID_BODY_HTML)
    for inner in storage.iter_attachment_storages():
        if len(mail.carried) > MAX_ATTACHMENTS:
            break
        mail.carried += _carried(inner, depth)
    return mail


def _carried(storage: Storage, depth: int) -> Iterator[Carried]:
    item = Attachment(storage)
    name = next(
        filter(
            None,
            (
                _text(item.properties, pid)
                for pid in (
                    constants.PID_ATTACH_LONG_FILENAME,
                    constants.PID_ATTACH_FILENAME,
                    constants.PID_DISPLAY_NAME,
                )
            ),
        ),
        "",
    )
    inner = next((child for child in storage.storages if child.name == _INNER), None)
    if inner is not None:
        if depth < _DEEPEST:
            mail = _read(inner, _EMBEDDED, depth + 1)
            yield Carried(f"{mail.subject or name or 'message'}.eml", "message/rfc822", as_file(mail))
        return
    try:
        data = item.file_bytes
    except _UNREADABLE:
        data = None
    if data:  # none if it is only linked
        media_type = _text(item.properties, constants.PID_ATTACH_MIME_TAG) or "application/octet-stream"
        yield Carried(name, media_type, data, _text(item.properties, constants.PID_ATTACH_CONTENT_ID))


def _people(storage: Storage, cc: bool) -> str:
    found = []
    for inner in storage.iter_recipient_storages():
        try:
            person = Recipient(inner)
            if (person.properties.int_prop_value(_RECIPIENT_TYPE) == _CC) == cc:
                found.append(_person(person.name, person.email_address))
        except _UNREADABLE:
            continue
    return ", ".join(filter(None, found))


def _person(name: str, address: str | None) -> str:
    """Return a name with its address, if that is an e-mail address."""
    address = address if address and "@" in address else ""
    if not name or name == address:
        return address
    return f"{name} <{address}>" if address else name


def _text(properties: Properties, pid: int) -> str:
    try:
        text = (properties.str_prop_value(pid) or "").replace("\x00", "")
        is_8_bit = any(each.pid == pid and each.ptyp == constants.PTYP_STRING8 for each in properties)
        if is_8_bit and properties.body_encoding == _ASSUMED and not text.isascii():
            text = decode(text.encode(_ASSUMED))
    except (*_UNREADABLE, LookupError, ParseError):
        return ""
    return text
