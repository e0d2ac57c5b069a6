"""OCR with rapidocr, whose models come with its package, or tesseract; and detection of the ruling lines of tables.

It runs in the parser's process, one picture at a time: under 2 GB of address space, a few seconds of one core.
"""

import csv
import io
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from knowledge.parsing.errors import ParseError

LONGEST_SIDE = 2000  # pixels; larger pictures take longer without better results
LEAST_SURE = 0.5  # least confidence of a recognised word
MAX_DARK = 0.25  # greatest share of dark pixels in a picture with ruling lines
_TESSERACT_LANGUAGES = {"en": "eng", "zh": "chi_sim"}

Box = tuple[float, ...]  # x0, y0, x1, y1, in pixels from the top left


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or a Chinese character, with its box in pixels, and whether a space precedes it in its line."""

    text: str
    box: Box
    spaced: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A ruling line; `at` is its y (horizontal) or x (vertical), in pixels."""

    horizontal: bool
    at: float
    start: float
    end: float


def read_words(picture: Image.Image, engine: str, languages: tuple[str, ...]) -> list[list[Piece]]:
    """Return the words of a picture by line, in the order found; boxes in a skewed picture are straightened.

    `engine` is "rapidocr" or "tesseract"; `languages` are codes ("en", "zh"), which rapidocr's model doesn't need.
    Raises `ParseError` (missing_tool) if tesseract or its data for a language isn't installed.
    """
    scale = min(1.0, LONGEST_SIDE / max(picture.size))
    if scale < 1:
        picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    lines = _by_tesseract(picture, languages) if engine == "tesseract" else _by_rapidocr(picture)
    return [
        [replace(piece, box=tuple(value / scale for value in piece.box)) for piece in line] for line in lines if line
    ]


def find_rules(picture: Image.Image) -> list[Rule]:
    """Return the horizontal and vertical ruling lines in a picture, at least a fortieth of its width long."""
    import cv2  # imported late: PDFs of text don't need it, and it takes memory

    scale = min(1.0, LONGEST_SIDE / max(picture.size))
    grey = np.asarray(picture.convert("L").resize((round(picture.width * scale), round(picture.height * scale))))
    dark = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 15)
    if np.count_nonzero(dark) > MAX_DARK * dark.size:  # a photograph
        return []
    found: list[Rule] = []
    length = max(20, grey.shape[1] // 40)
    for horizontal in (True, False):
        kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (length, 1) if horizontal else (1, length))
        closed = cv2.morphologyEx(dark, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))  # a scanned line has gaps
        count, _labels, stats, _middles = cv2.connectedComponentsWithStats(
            cv2.morphologyEx(closed, cv2.MORPH_OPEN, kernel)
        )
        for x, y, wide, high, _area in stats[1:count].tolist():
            along, across = (wide, high) if horizontal else (high, wide)
            if across <= max(8, along / 15):
                at, start = (y + high / 2, x) if horizontal else (x + wide / 2, y)
                found.append(Rule(horizontal, at / scale, start / scale, (start + along) / scale))
    return found


@cache
def _rapidocr() -> Any:
    """Return the OCR engine, whose loading takes about a second; it uses all cores but one."""
    from rapidocr import RapidOCR

    threads = max(1, (os.cpu_count() or 2) - 1)
    options = {"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": threads}
    return RapidOCR(params=options | {"Global.return_word_box": True, "Global.text_score": LEAST_SURE})


def _by_rapidocr(picture: Image.Image) -> list[list[Piece]]:
    pixels: NDArray[np.uint8] = np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:, :, ::-1])
    result = _rapidocr()(pixels)
    if result.boxes is None or not result.word_results:
        return []
    # The slope of the lines on a skewed page, from the wide ones.
    tops = [(box[1] - box[0]).tolist() for box in result.boxes]
    slopes = [down / across for across, down in tops if across > picture.width / 8]
    slope = float(np.median(slopes)) if slopes else 0.0
    lines: list[list[Piece]] = []
    for whole, words in zip(result.txts, result.word_results, strict=True):
        line: list[Piece] = []
        end = 0
        for text, score, corners in words:
            if not text.strip() or score < LEAST_SURE / 2:
                continue
            at = max(whole.find(text, end), end)
            spaced, end = whole[end:at].strip() != whole[end:at], at + len(text)
            xs, ys = (sorted(float(corner[axis]) for corner in corners) for axis in (0, 1))
            middle_x, middle_y = (xs[0] + xs[-1]) / 2, (ys[0] + ys[-1]) / 2
            across, down = slope * (middle_y - picture.height / 2), -slope * (middle_x - picture.width / 2)
            line.append(Piece(text, (xs[0] + across, ys[0] + down, xs[-1] + across, ys[-1] + down), spaced))
        lines.append(line)
    return lines


def _by_tesseract(picture: Image.Image, languages: tuple[str, ...]) -> list[list[Piece]]:
    program = shutil.which("tesseract")
    if program is None:
        raise ParseError("missing_tool", name="tesseract-ocr")
    with io.BytesIO() as png:
        picture.save(png, "PNG")
        names = "+".join(_TESSERACT_LANGUAGES.get(code, code) for code in languages)
        command = [program, "stdin", "stdout", "-l", names, "tsv"]
        done = subprocess.run(command, input=png.getvalue(), capture_output=True, check=False)
    if done.returncode:
        raise ParseError("missing_tool", name=f"tesseract-ocr ({names})")
    lines: dict[tuple[str, ...], list[Piece]] = {}
    for row in csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["text"].strip() and float(row["conf"]) >= 100 * LEAST_SURE / 2:
            left, top, wide, high = (float(row[name]) for name in ("left", "top", "width", "height"))
            key = (row["block_num"], row["par_num"], row["line_num"])
            line = lines.setdefault(key, [])
            line.append(Piece(row["text"], (left, top, left + wide, top + high), bool(line)))
    return list(lines.values())
