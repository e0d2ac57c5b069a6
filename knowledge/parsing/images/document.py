"""Pictures as documents: the picture and the words in it; a TIFF may have several pages."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from knowledge.parsing.elements import Element, PageBreak, Scanned
from knowledge.parsing.errors import ParseError
from knowledge.parsing.pdf.document import read_picture
from knowledge.parsing.pictures import PictureStore
from knowledge.parsing.registry import ParseContext


def parse(path: Path, context: ParseContext) -> Iterator[Element]:
    """Yield each page's picture and the words in it.

    Raises `ParseError`: broken, too_large, too_many_pages, or no_text if OCR is off.
    """
    if context.ocr == "off":
        raise ParseError("no_text.picture")
    store = PictureStore(context.output_dir)
    try:
        with Image.open(path) as image:
            total = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            if total > context.max_pages:
                raise ParseError("too_many_pages", pages=total, most=context.max_pages)
            for number, frame in enumerate(ImageSequence.Iterator(image), 1):
                if number > total:  # only the first picture of an animation
                    break
                yield PageBreak(page=number, total=total)
                picture = ImageOps.exif_transpose(frame).convert("RGB")
                data = path.read_bytes()
                if total > 1:  # a page of a file with several is written to a file of its own
                    with BytesIO() as png:
                        picture.save(png, "PNG")
                        data = png.getvalue()
                yield from store.save(data, page=number)
                if context.ocr == "later":
                    yield Scanned(page=number)
                else:
                    yield from read_picture(picture, number, context)
    except Image.DecompressionBombError as error:
        raise ParseError("too_large.picture") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        raise ParseError("broken.picture") from error
