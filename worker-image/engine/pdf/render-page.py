"""Renders a page of a PDF as a PNG, on white.

usage: render-page.py INPUT OUTPUT PAGE DPI

Not by Debian's mutool: it is built without color profiles, so CMYK colors would become pure screen colors.
"""

import sys

import pymupdf


def main(source: str, target: str, number: int, dpi: int) -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    page = pymupdf.open(source, filetype="pdf")[number - 1]
    page.get_pixmap(dpi=dpi, colorspace=pymupdf.csRGB, alpha=False).save(target, output="png")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
