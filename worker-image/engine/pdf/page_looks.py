"""Reads what PDFium finds on the pages of a PDF: sizes, text, images and appearance."""

import ctypes

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from PIL import Image, ImageChops

from document_structure import PAGES_READ, spread

# Maximum number of pages, evenly spread, that are rendered.
PAGES_RENDERED = 8
# Pages are rendered small, and the mean gray of each square is compared: 0 to 255.
RENDER_DPI = 40
SQUARE = 8
MAX_DIFFERENCE = 28
# Maximum side of a rendered page, in pixels.
MAX_SIDE = 1500
# Maximum depth of forms in forms, and maximum number of objects of a page, whose images are counted.
MAX_DEPTH = 8
MAX_OBJECTS = 200_000
WHITE = (255, 255, 255, 255)


def looks(path: str) -> dict | None:
    """Returns the looks; None for a file that PDFium does not open, though qpdf does."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError:
        return None
    document.init_forms()
    count = len(document)
    rendered = set(spread(count, PAGES_RENDERED))
    numbers = sorted(rendered.union(spread(count, PAGES_READ)))
    pages = [look(document, number, number in rendered) for number in numbers]
    names = ("page sizes", "text", "images", "rendering")
    return {name: [page[at] for page in pages] for at, name in enumerate(names)}


def look(document, number: int, is_rendered: bool) -> tuple:
    """Returns size, text without white space, number of images, and the rendered page or None."""
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return None, None, None, None
    width, height = page.get_size()
    text = "".join(page.get_textpage().get_text_bounded().split())
    images = count_images(page)
    squares = rendered_squares(document, page, (width, height)) if is_rendered else None
    page.close()
    return (round(width, 1), round(height, 1)), text, images, squares


def rendered_squares(document, page, points) -> Image.Image:
    scale = min(RENDER_DPI / 72, MAX_SIDE / max(1, *points))
    width, height = (max(1, round(side * scale)) for side in points)
    bitmap = pdfium.PdfBitmap.new_native(width, height, raw.FPDFBitmap_Gray)
    bitmap.fill_rect(WHITE, 0, 0, width, height)
    place = (bitmap, page, 0, 0, width, height, 0, raw.FPDF_ANNOT | raw.FPDF_GRAYSCALE)
    raw.FPDF_RenderPageBitmap(*place)
    if document.formenv:
        raw.FPDF_FFLDraw(document.formenv, *place)
    image = Image.frombuffer("L", (width, height), bitmap.buffer, "raw", "L", bitmap.stride, 1)
    return image.resize([max(1, side // SQUARE) for side in image.size], Image.Resampling.BOX)


def differs(before: Image.Image | None, after: Image.Image | None) -> int:
    """Returns the largest difference of two rendered pages, 0 to 255; 0 when it is too small to count."""
    if before is None or after is None or before.size != after.size:
        return 0
    largest = ImageChops.difference(before, after).getextrema()[1]
    return largest if largest > MAX_DIFFERENCE else 0


def count_images(page) -> int:
    objects = raw.FPDFPage_CountObjects(page), lambda at: raw.FPDFPage_GetObject(page, at)
    return images_of(*objects, [MAX_OBJECTS], 0)


def images_of(count: int, item_at, left: list, depth: int) -> int:
    found = 0
    for at in range(min(count, left[0])):
        left[0] -= 1
        item = item_at(at)
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            found += 1
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
            inner = lambda index, form=item: raw.FPDFFormObj_GetObject(form, ctypes.c_ulong(index))
            found += images_of(max(0, raw.FPDFFormObj_CountObjects(item)), inner, left, depth + 1)
    return found
