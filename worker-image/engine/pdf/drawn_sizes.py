"""The sizes at which the pages of a PDF draw its images."""

import pikepdf
from pikepdf import Name

POINTS_PER_INCH = 72
# Maximum depth of forms in forms.
MAX_DEPTH = 8


def is_image(item) -> bool:
    return isinstance(item, pikepdf.Stream) and item.get("/Subtype") == Name.Image


def pixels_of(image) -> int:
    return int(image.get("/Width", 0)) * int(image.get("/Height", 0))


def drawn_sizes(pdf: pikepdf.Pdf) -> dict:
    """Returns the largest width and height, in inches, at which a page draws each image, by object number."""
    sizes: dict = {}
    for page in pdf.pages:
        unit = float(page.obj.get("/UserUnit", 1)) / POINTS_PER_INCH
        try:
            walk(page.obj, page.resources, (unit, 0, 0, unit, 0, 0), sizes, 0)
        except (pikepdf.PdfError, ValueError, TypeError):
            continue
    return sizes


def walk(holder, resources, matrix, sizes, depth) -> None:
    objects = resources.get("/XObject", {}) if resources is not None else {}
    if depth > MAX_DEPTH or len(objects) == 0:
        return
    stack, now = [], matrix
    for operands, operator in pikepdf.parse_content_stream(holder, "q Q cm Do"):
        name = str(operator)
        if name == "q":
            stack.append(now)
        elif name == "Q" and stack:
            now = stack.pop()
        elif name == "cm" and len(operands) == 6:
            now = multiply([float(number) for number in operands], now)
        elif name == "Do" and operands and operands[0] in objects:
            draw(objects[operands[0]], resources, now, sizes, depth)


def draw(item, resources, matrix, sizes, depth) -> None:
    if is_image(item):
        width = (matrix[0] ** 2 + matrix[1] ** 2) ** 0.5
        height = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5
        known = sizes.get(item.objgen, (0, 0))
        sizes[item.objgen] = (max(known[0], width), max(known[1], height))
    elif item.get("/Subtype") == Name.Form:
        own = [float(number) for number in item.get("/Matrix", [1, 0, 0, 1, 0, 0])]
        walk(item, item.get("/Resources", resources), multiply(own, matrix), sizes, depth + 1)


def multiply(one, other):
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)
