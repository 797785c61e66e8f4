"""Renders a page of a PDF as a PNG, on white.

usage: render-page.py INPUT OUTPUT PAGE WIDTH HEIGHT DPI

WIDTH and HEIGHT in pixels. DPI is only written into the PNG.
"""

import os
import sys

import pypdfium2 as pdfium
import pypdfium2.raw as raw

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from png_writer import write_png

WHITE = (255, 255, 255, 255)


def main(source: str, target: str, number: int, width: int, height: int, dpi: int) -> None:
    document = pdfium.PdfDocument(source)
    document.init_forms()
    page = document[number - 1]
    bitmap = pdfium.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGR, rev_byteorder=True)
    bitmap.fill_rect(WHITE, 0, 0, width, height)
    place = (bitmap, page, 0, 0, width, height, 0, raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER)
    raw.FPDF_RenderPageBitmap(*place)
    if document.formenv:
        raw.FPDF_FFLDraw(document.formenv, *place)
    write_png(target, memoryview(bitmap.buffer).cast("B"), bitmap.stride, (width, height), dpi)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(text) for text in sys.argv[3:]))
