"""Draw the icons of an installed site from `static/icon.svg`: `python -m tools.icons`, with the tests' browser."""

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium

STATIC = Path(__file__).resolve().parent.parent / "static"
FOLDER = STATIC / "icons"
BACKGROUND = "#4f46e5"
# By file name: the width, and whether the background fills the square, with the drawing in its middle, since the system
# cuts a shape of its own from it.
ICONS = {
    "icon-192.png": (192, False),
    "icon-512.png": (512, False),
    "maskable-512.png": (512, True),
    "apple-touch-icon.png": (180, True),
}
FAVICON_SIZES = (16, 32, 48)


def draw(page: Page, size: int, fills: bool) -> Image.Image:
    """Return the icon with this width and height."""
    drawing = (STATIC / "icon.svg").read_text()
    background, width = (BACKGROUND, "74%") if fills else ("transparent", "100%")
    page.set_viewport_size({"width": size, "height": size})
    page.set_content(
        f"<style>body {{ margin: 0; block-size: 100vh; display: grid; place-items: center; background: {background} }}"
        f"svg {{ inline-size: {width} }}</style>{drawing}"
    )
    return Image.open(BytesIO(page.screenshot(omit_background=True)))


def main() -> None:
    """Write all icons, with few colours, since they have two and the shades between them."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
        page = browser.new_page()
        for name, (size, fills) in ICONS.items():
            draw(page, size, fills).quantize(64, Image.Quantize.FASTOCTREE).save(FOLDER / name, optimize=True)
        largest, *others = [draw(page, size, False) for size in reversed(FAVICON_SIZES)]
        sizes = [(size, size) for size in FAVICON_SIZES]
        largest.save(STATIC / "favicon.ico", sizes=sizes, append_images=others)
        browser.close()


if __name__ == "__main__":
    main()
