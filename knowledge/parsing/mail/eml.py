"""Mails (eml), and pages saved in the same format with their pictures by browsers and Word (mht)."""

import posixpath
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from html import escape
from pathlib import Path

from knowledge.parsing.decoding import decode
from knowledge.parsing.elements import Element, Notice, Title
from knowledge.parsing.errors import ParseError
from knowledge.parsing.html.document import elements_of as elements_of_html
from knowledge.parsing.html.document import source_of, title_of
from knowledge.parsing.mail.message import Carried, Mail, elements_of
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext

_DEEPEST = 30  # parts within parts
_MOST_PARTS = 5000
# Parts that are meant for programs.
_LEFT_OUT = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
    | {"message/delivery-status", "text/rfc822-headers", "application/pgp-encrypted"}
)
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_MAIL_HEADERS = ("from", "to", "subject", "date", "message-id", "received", "mime-version", "content-type")


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield a mail's elements and attachments; raises `ParseError` if it isn't a mail, is encrypted or empty."""
    data = path.read_bytes()
    message = _message(data)
    if not any(message[name] for name in _MAIL_HEADERS):
        raise ParseError("broken.not_office", kind="EML")
    mail = Mail(
        subject=_header(message, "Subject"),
        sender=_header(message, "From"),
        to=_header(message, "To"),
        cc=_header(message, "Cc"),
        date=_header(message, "Date"),
    )
    _collect(message, mail, 0)
    found = list(elements_of(mail, context, len(data)))
    if not found:
        raise ParseError("no_text.document")
    return iter(found)


def parse_page(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield the elements of a saved page, including pictures; raises `ParseError` if it contains no text."""
    message = _message(path.read_bytes())
    parts = list(_leaves(message, 0, [0]))
    page = next((part for part in parts if part.get_content_type() in ("text/html", "application/xhtml+xml")), None)
    if page is None:
        raise ParseError("no_text.page")
    by_location: dict[str, Message] = {}
    for part in parts:
        for name in (part.get("Content-Location", ""), f"cid:{part.get('Content-ID', '').strip('<> ')}"):
            by_location[str(name).strip()] = part
    by_name = {posixpath.basename(name): part for name, part in by_location.items()}

    def find(source: str) -> bytes:
        part = by_location.get(source) or by_name.get(posixpath.basename(source))
        return _data(part) if part is not None else b""

    source = source_of(_data(page), page.get_content_charset() or "")
    found = list(elements_of_html(source, PictureStore(context.output_dir), find))
    if all(isinstance(element, Notice) for element in found):
        raise ParseError("no_text.page")
    return iter([*found, Title(text=title_of(source))])


def _message(data: bytes) -> Message:
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(b"From "):  # the line before a mail in a mailbox
        data = data.partition(b"\n")[2]
    return message_from_bytes(data)


def _collect(part: Message, mail: Mail, depth: int) -> None:
    """Add a part's text or attachments to the mail."""
    kind = part.get_content_type()
    if depth > _DEEPEST:
        return
    if part.is_multipart() and kind != "message/rfc822":
        inside = [child for child in part.get_payload() if isinstance(child, Message)]
        if kind == "multipart/encrypted":
            mail.is_encrypted = True
        elif kind == "multipart/alternative":
            _collect_best(inside, mail, depth)
        else:
            for child in inside[:_MOST_PARTS]:
                _collect(child, mail, depth + 1)
        return
    try:
        name = _decoded(part.get_filename() or "")
    except (ValueError, LookupError, IndexError, TypeError):
        name = ""
    is_attached = part.get_content_disposition() == "attachment" or bool(name)
    if kind in _SEALED:
        mail.is_encrypted = True
    elif kind in ("text/plain", "text/html") and not is_attached:
        source = _data(part)
        charset = part.get_content_charset() or ""
        if kind == "text/html":
            mail.html += source_of(source, charset) if source.strip() else ""
        elif source.strip():
            shown = decode(source, charset)
            mail.text += f"\n\n{shown}" if mail.text else shown
            if mail.html:  # text appended by a mailing list or a virus scanner
                mail.html += f"<pre>{escape(shown, quote=False)}</pre>"
    elif kind == "message/rfc822":
        held = part.get_payload()
        inner = held[0] if isinstance(held, list) and held and isinstance(held[0], Message) else None
        if inner is not None:
            title = name or f"{_header(inner, 'Subject') or 'message'}.eml"
            title = title if title.lower().endswith(".eml") else f"{title}.eml"
            mail.carried.append(Carried(title, "message/rfc822", inner.as_bytes()))
    elif kind not in _LEFT_OUT and (is_attached or not kind.startswith("text/")):
        content_id = str(part.get("Content-ID", "")).strip("<> \r\n\t")
        mail.carried.append(Carried(name, kind, _data(part), content_id))


def _collect_best(parts: list[Message], mail: Mail, depth: int) -> None:
    """Collect the HTML among alternative parts, or else the text, and other parts such as an invitation."""
    rich = [part for part in parts if part.get_content_type() in ("text/html", "multipart/related", "multipart/mixed")]
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    for part in rich[-1:] or plain[-1:] or parts[-1:]:
        _collect(part, mail, depth + 1)
    if rich and plain and not mail.text:  # in case the HTML has no text
        mail.text = decode(_data(plain[-1]), plain[-1].get_content_charset() or "")
    for part in parts:
        if part not in rich and part not in plain and part.get_content_disposition() == "attachment":
            _collect(part, mail, depth + 1)


def _leaves(part: Message, depth: int, count: list[int]) -> Iterator[Message]:
    if part.is_multipart():
        for child in part.get_payload() if depth < _DEEPEST else ():
            if isinstance(child, Message):
                yield from _leaves(child, depth + 1, count)
    elif count[0] < _MOST_PARTS:
        count[0] += 1
        yield part


def _data(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        return b""
    return data if isinstance(data, bytes) else b""


def _header(message: Message, name: str) -> str:
    return _decoded(message.get(name) or "")


def _decoded(value: object) -> str:
    """Return a header's text, decoding encoded words, and raw bytes with a detected character set."""
    try:
        parts = decode_header(value)  # type: ignore[arg-type]
    except (HeaderParseError, ValueError, LookupError, IndexError):
        parts = [(str(value), None)]
    text = ""
    for part, charset in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        try:
            text += decode(data, charset or "") if data.strip() else " "
        except ParseError:
            text += data.decode("utf-8", "replace")
    return " ".join(text.split())
