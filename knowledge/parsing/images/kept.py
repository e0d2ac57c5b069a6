"""Keeps what OCR found on each page in a folder, so that a file that is read in several turns isn't recognised anew."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from PIL import Image

from knowledge.parsing.images import ocr
from knowledge.parsing.registry import ParseContext


@dataclass(frozen=True, slots=True)
class Recognised:
    """The words and ruling lines of a picture of `width` by `height` pixels."""

    width: int
    height: int
    lines: list[list[ocr.Piece]]
    rules: list[ocr.Rule]


def recognise(number: int, picture: Callable[[], Image.Image], context: ParseContext) -> Recognised:
    """Return what was kept for page `number`, or recognise its picture, which is only made for that, and keep it."""
    path = None
    if context.ocr_kept is not None:
        path = context.ocr_kept / f"{context.ocr_engine}-{number}.json"
        with suppress(OSError, ValueError, KeyError, TypeError):  # not kept, or damaged
            return _from_json(json.loads(path.read_bytes()))
    image = picture()
    lines = ocr.read_words(image, context.ocr_engine, context.ocr_languages)
    found = Recognised(*image.size, lines, ocr.find_rules(image))
    if path is not None:
        with suppress(OSError):  # the disk is full, perhaps; then the page is recognised again
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_text(json.dumps(asdict(found)))
            unfinished.replace(path)
    return found


def _from_json(row: dict[str, Any]) -> Recognised:
    lines = [[ocr.Piece(one["text"], tuple(one["box"]), one["spaced"]) for one in line] for line in row["lines"]]
    return Recognised(row["width"], row["height"], lines, [ocr.Rule(**rule) for rule in row["rules"]])
