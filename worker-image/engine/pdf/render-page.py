"""Draws a page of a PDF as a PNG, on white.

usage: render-page.py INPUT OUTPUT PAGE DPI

Debian's own MuPDF is built without colour profiles: inks would come out as the pure colours of a screen.
"""

import sys

import pymupdf


def main(source: str, target: str, number: int, dpi: int) -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    page = pymupdf.open(source, filetype="pdf")[number - 1]
    page.get_pixmap(dpi=dpi, colorspace=pymupdf.csRGB, alpha=False).save(target, output="png")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
