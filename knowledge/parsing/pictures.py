"""Pictures out of documents: checked, made PNG, JPEG or WebP, and written to the parse's output folder."""

import hashlib
from io import BytesIO
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from knowledge.parsing.elements import Picture

_KEPT = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp"}
_SMALLEST = 24  # pixels; what is smaller is a bullet, a line or an icon
_MOST_PIXELS = 50_000_000
_MOST_BYTES = 30 * 1024 * 1024
_MOST_PICTURES = 2000  # of a document


class PictureStore:
    """Writes a document's pictures; the same picture is written once however often it appears."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sizes: dict[str, tuple[int, int]] = {}

    def save(self, data: bytes, alt: str = "", page: int | None = None) -> Picture | None:
        """Write a picture and return its element, or None where it is an icon, a vector drawing or broken."""
        if not data or len(data) > _MOST_BYTES or len(self._sizes) >= _MOST_PICTURES:
            return None
        digest = hashlib.sha256(data).hexdigest()[:20]
        known = next((name for name in self._sizes if name.startswith(digest)), None)
        name = known or self._write(data, digest)
        if name is None:
            return None
        width, height = self._sizes[name]
        return Picture(page=page, path=name, alt=" ".join(alt.split()), width=width, height=height)

    def _write(self, data: bytes, digest: str) -> str | None:
        try:
            with Image.open(BytesIO(data)) as image:
                width, height = image.size
                if min(width, height) < _SMALLEST or width * height > _MOST_PIXELS:
                    return None
                extension = _KEPT.get(image.format or "")
                image.load()
                kept = data if extension else _as_png(image)
        except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError, EOFError):
            return None
        name = f"{digest}.{extension or 'png'}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(kept)
        self._sizes[name] = (width, height)
        return name


def _as_png(image: Image.Image) -> bytes:
    target = BytesIO()
    image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB").save(target, "PNG")
    return target.getvalue()
