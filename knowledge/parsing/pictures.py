"""Stores pictures from documents: checks them, converts them to PNG, JPEG or WebP, and writes them to a folder."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from knowledge.parsing.elements import Notice, Picture
from knowledge.parsing.limits import too_many_pictures

_KEPT = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp"}
_DRAWINGS = {"EMF", "EPS", "WMF"}
_SMALLEST = 24  # pixels; smaller ones are bullets, lines or icons
_MOST_PIXELS = 50_000_000
_MOST_BYTES = 30 * 1024 * 1024
_MOST_PICTURES = 2000  # of a document
_TOO_LARGE = Notice(
    key="left_out.large_pictures", params={"size": _MOST_BYTES // 1024**2, "pixels": _MOST_PIXELS // 10**6}
)


class PictureStore:
    """Writes a document's pictures, each only once even if it appears several times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, Picture | Notice | None] = {}
        self._written = 0

    def save(self, data: bytes, alt: str = "", page: int | None = None) -> Iterator[Picture | Notice]:
        """Write a picture and yield its element, or nothing if it is an icon, a vector drawing or broken.

        If it is too large, or one too many, yield a notice instead.
        """
        digest = hashlib.sha256(data).hexdigest()[:20]
        if digest not in self._seen:
            self._seen[digest] = self._write(data, digest)
        match self._seen[digest]:
            case Picture() as picture:
                yield replace(picture, page=page, alt=" ".join(alt.split()))
            case Notice() as notice:
                yield notice

    def _write(self, data: bytes, digest: str) -> Picture | Notice | None:
        try:
            with Image.open(BytesIO(data)) as image:
                width, height = image.size
                if min(width, height) < _SMALLEST or image.format in _DRAWINGS:
                    return None
                if len(data) > _MOST_BYTES or width * height > _MOST_PIXELS:
                    return _TOO_LARGE
                if self._written >= _MOST_PICTURES:
                    return too_many_pictures(_MOST_PICTURES)
                extension = _KEPT.get(image.format or "")
                image.load()
                if extension:
                    kept = data
                else:
                    target = BytesIO()
                    transparent = "A" in image.getbands() or "transparency" in image.info
                    image.convert("RGBA" if transparent else "RGB").save(target, "PNG")
                    kept = target.getvalue()
        except Image.DecompressionBombError:
            return _TOO_LARGE
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError):
            return None
        name = f"{digest}.{extension or 'png'}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(kept)
        self._written += 1
        return Picture(path=name, width=width, height=height)
