"""Compares a rewritten PDF with the original and prints one line per difference.

usage: compare-structure.py ORIGINAL REWRITTEN
"""

import sys

import pymupdf
from PIL import Image, ImageChops

# Maximum number of pages, evenly spread, whose text, images and links are read, and that are rendered.
PAGES_READ = 40
PAGES_RENDERED = 8
# Pages are rendered small, and the mean gray of each square is compared: 0 to 255.
RENDER_DPI = 40
SQUARE = 8
MAX_DIFFERENCE = 28
# Maximum side of a rendered page, in pixels.
MAX_SIDE = 1500


def main(original: str, rewritten: str) -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    before = structure(original)
    after = structure(rewritten)
    for name, value in before.items():
        if is_less(after.get(name), value):
            print(f"{name}: {short(value)} became {short(after.get(name))}")
    if before and before["pages"] == after.get("pages") and before["page sizes"] == after["page sizes"]:
        compare_rendering(original, rewritten)


def is_less(after, before) -> bool:
    """Returns whether a value differs; one that could not be read from the original (None) may differ."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return any(is_less(*pair) for pair in zip(after, before))
    return before is not None and after != before


def compare_rendering(original: str, rewritten: str) -> None:
    one, other = pymupdf.open(original, filetype="pdf"), pymupdf.open(rewritten, filetype="pdf")
    for number in spread_pages(one, PAGES_RENDERED):
        before, after = rendered(one[number]), rendered(other[number])
        squares = [max(1, side // SQUARE) for side in before.size]
        difference = ImageChops.difference(*(look.resize(squares, Image.Resampling.BOX) for look in (before, after)))
        if difference.getextrema()[1] > MAX_DIFFERENCE:
            print(f"rendering: page {number + 1} differs by {difference.getextrema()[1]} of 255")


def rendered(page):
    scale = min(RENDER_DPI / 72, MAX_SIDE / max(1, page.rect.width, page.rect.height))
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False)
    return Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)


def spread_pages(document, most: int) -> range:
    return range(0, document.page_count, max(1, -(-document.page_count // most)))


def structure(path: str) -> dict:
    """Returns the structure; empty for a file in which MuPDF finds no page, though qpdf does."""
    document = pymupdf.open(path, filetype="pdf")
    if document.page_count == 0:
        return {}
    pages = [document[number] for number in spread_pages(document, PAGES_READ)]
    return {
        "pages": document.page_count,
        "page sizes": [tuple(round(side, 1) for side in page.rect) for page in pages],
        # MuPDF returns an entry without a title for a dangling reference.
        "outline": read(lambda: [(level, title) for level, title, *_ in document.get_toc() if title.strip()]),
        "tags": read(lambda: document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[0] != "null"),
        "form": read(lambda: bool(document.is_form_pdf)),
        "fields": [count(page.widgets) for page in pages],
        "annotations": [count(page.annots) for page in pages],
        "links": [count(page.get_links) for page in pages],
        "attachments": read(document.embfile_count),
        "images": [count(page.get_image_info) for page in pages],
        "text": [read(lambda: page.get_text("text")) for page in pages],
    }


def count(items) -> int | None:
    return read(lambda: len(list(items())))


def read(value):
    """Returns the value, or None if the file is too damaged to read it."""
    try:
        return value()
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase):
        return None


def short(value) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
