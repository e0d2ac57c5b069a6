"""The parser's child process with misbehaving parsers, for the tests of the runner: `python -m …`."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from knowledge.parsing import registry
from knowledge.parsing.elements import Element, PageBreak, Paragraph, Table
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import Format, ParseContext
from knowledge.parsing.sandbox import child


def hang(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="before")
    yield PageBreak(page=1, total=2)
    time.sleep(600)


def spin(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="before")
    while True:
        pass


def devour(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="before")
    hoard = []
    while True:
        hoard.append(bytearray(16 * 1024**2))


def crash(path: Path, context: ParseContext) -> Iterator[Element]:
    yield PageBreak(page=1, total=1)
    os.kill(os.getpid(), signal.SIGSEGV)


def killed(path: Path, context: ParseContext) -> Iterator[Element]:
    """Be ended by the system, as for lack of memory."""
    yield PageBreak(page=1, total=1)
    os.kill(os.getpid(), signal.SIGKILL)


def vanish(path: Path, context: ParseContext) -> Iterator[Element]:
    yield PageBreak(page=1, total=1)
    os._exit(3)


def fail(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="before")
    raise KeyError("a secret of the document")


def refuse(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="before")
    raise ParseError("too_many_rows", rows=3)


def chatter(path: Path, context: ParseContext) -> Iterator[Element]:
    print("a library prints")
    os.system("echo a program prints")
    yield Paragraph(text="lone \ud800 surrogate, nul \x00, bell \x07")


def endless(path: Path, context: ParseContext) -> Iterator[Element]:
    while True:
        yield Paragraph(text="x" * 1000)


def large(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text="word " * 100_000)
    yield Table(columns=("a", "b"), rows=tuple((str(i), "y" * 100) for i in range(20_000)))


def environment(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text=" ".join(sorted(os.environ)))
    yield Paragraph(text=" ".join(name for name in sys.modules if name.partition(".")[0] == "django") or "no Django")


def whoami(path: Path, context: ParseContext) -> Iterator[Element]:
    yield Paragraph(text=f"{os.getpid()} {os.getppid()}")


_PARSERS = (hang, spin, devour, crash, killed, vanish, fail, refuse, chatter, endless, large, environment, whoami)
for _parser in _PARSERS:
    _name = _parser.__name__
    registry._BY_EXTENSION[_name] = Format(_name, (_name,), "", f"tests.knowledge.parsing_child.{_name}")

if __name__ == "__main__":
    child.main()
