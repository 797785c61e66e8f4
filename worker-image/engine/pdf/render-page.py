"""Renders a page of a PDF as a PNG, on white.

usage: render-page.py INPUT OUTPUT PAGE WIDTH HEIGHT DPI

WIDTH and HEIGHT in pixels. DPI is only written into the PNG.
"""

import os
import sys

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from pdfium import RGB, Document, Page
from png_writer import write_png


def main(source: str, target: str, number: int, width: int, height: int, dpi: int) -> None:
    samples = Page(Document(source), number - 1).render(RGB, width, height)
    write_png(target, memoryview(samples), (width, height), dpi)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(text) for text in sys.argv[3:]))
