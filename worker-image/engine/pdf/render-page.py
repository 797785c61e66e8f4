"""Renders a page of a PDF as a PNG or JPEG, on white.

usage: render-page.py INPUT OUTPUT PAGE WIDTH HEIGHT DPI JPEG_QUALITY

WIDTH and HEIGHT in pixels. DPI is only written into the image. OUTPUT ends in .png or .jpg.
"""

import os
import sys

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from PIL import Image

from pdfium import RGB, Document, Page
from png_writer import write_png


def main(source: str, target: str, number: int, width: int, height: int, dpi: int, quality: int) -> None:
    samples = Page(Document(source), number - 1).render(RGB, width, height)
    if target.endswith(".png"):
        write_png(target, memoryview(samples), (width, height), dpi)
    else:
        pixels = Image.frombuffer("RGB", (width, height), samples, "raw", "RGB", 0, 1)
        pixels.save(target, "JPEG", quality=quality, dpi=(dpi, dpi))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(text) for text in sys.argv[3:]))
