"""Reads what PDFium finds on the pages of a PDF: sizes, text, images and appearance."""

from document_structure import PAGES_READ, spread
from pdfium import FORM_OBJECT, GRAY, IMAGE_OBJECT, LIBRARY, Document, Page

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


def looks(path: str) -> dict | None:
    """Returns the looks; None for a file that PDFium does not open, though qpdf does."""
    try:
        document = Document(path)
    except ValueError:
        return None
    rendered = set(spread(document.pages, PAGES_RENDERED))
    numbers = sorted(rendered.union(spread(document.pages, PAGES_READ)))
    pages = [look(document, number, number in rendered) for number in numbers]
    names = ("page sizes", "text", "images", "rendering")
    return {name: [page[at] for page in pages] for at, name in enumerate(names)}


def look(document: Document, number: int, is_rendered: bool) -> tuple:
    """Returns size, text without white space, number of images, and the rendered page or None."""
    try:
        page = Page(document, number)
    except ValueError:
        return None, None, None, None
    width, height = page.size()
    text = "".join(page.text().split())
    images = count_images(page)
    rendered = render_small(page, (width, height)) if is_rendered else None
    page.close()
    return (round(width, 1), round(height, 1)), text, images, rendered


def render_small(page: Page, points) -> tuple:
    """Returns the size in pixels and the gray samples."""
    scale = min(RENDER_DPI / 72, MAX_SIDE / max(1, *points))
    size = tuple(max(1, round(side * scale)) for side in points)
    return size, page.render(GRAY, *size)


def differs(before: tuple | None, after: tuple | None) -> int:
    """Returns the largest difference of two rendered pages, 0 to 255; 0 when it is too small to count."""
    if before is None or after is None or before[0] != after[0] or before[1] == after[1]:
        return 0
    from PIL import Image, ImageChops

    size = before[0]
    squares = [max(1, side // SQUARE) for side in size]
    images = (Image.frombytes("L", size, bytes(samples)) for _, samples in (before, after))
    largest = ImageChops.difference(*(image.resize(squares, Image.Resampling.BOX) for image in images)).getextrema()[1]
    return largest if largest > MAX_DIFFERENCE else 0


def count_images(page: Page) -> int:
    count = LIBRARY.FPDFPage_CountObjects(page.handle)
    return images_of(count, lambda at: LIBRARY.FPDFPage_GetObject(page.handle, at), [MAX_OBJECTS], 0)


def images_of(count: int, item_at, left: list, depth: int) -> int:
    found = 0
    for at in range(min(count, left[0])):
        left[0] -= 1
        item = item_at(at)
        kind = LIBRARY.FPDFPageObj_GetType(item)
        if kind == IMAGE_OBJECT:
            found += 1
        elif kind == FORM_OBJECT and depth < MAX_DEPTH:
            inner = lambda index, form=item: LIBRARY.FPDFFormObj_GetObject(form, index)
            found += images_of(max(0, LIBRARY.FPDFFormObj_CountObjects(item)), inner, left, depth + 1)
    return found
