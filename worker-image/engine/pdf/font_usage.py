"""Finds the character codes that a PDF shows with each of its fonts."""

import pikepdf
from pikepdf import Name

OPERATORS = "q Q Tf gs Tj TJ ' \""
SHOW = {"Tj", "TJ", "'", '"'}


class UnknownUse(Exception):
    """A font is chosen or shown in a way that is not followed: any of its glyphs may be needed."""


def shown_strings(pdf: pikepdf.Pdf) -> dict[tuple, set[bytes]]:
    """Returns the strings shown with each font, by object number. @throws UnknownUse."""
    shown: dict[tuple, set[bytes]] = {}
    for page in pdf.pages:
        read_content(page.obj, page.resources, shown)
    for item in pdf.objects:
        if isinstance(item, pikepdf.Stream):
            # Readers also draw forms whose subtype is missing.
            if item.get("/Subtype") == Name.Form or "/BBox" in item:
                read_content(item, item.get("/Resources"), shown)
        elif isinstance(item, pikepdf.Dictionary) and item.get("/Subtype") == Name.Type3:
            for glyph in item.get("/CharProcs", {}).as_dict().values():
                read_content(glyph, item.get("/Resources"), shown)
    return shown


def read_content(holder, resources, shown) -> None:
    """Reads one content stream. Fonts that it takes over from its caller or names without resources are unknown."""
    fonts = (resources or {}).get("/Font", {})
    states = (resources or {}).get("/ExtGState", {})
    font, stack = None, []
    for operands, operator in pikepdf.parse_content_stream(holder, OPERATORS):
        name = str(operator)
        if name == "q":
            stack.append(font)
        elif name == "Q":
            font = stack.pop() if stack else font
        elif name == "Tf":
            font = shown.setdefault(font_number(fonts, operands), set())
        elif name in SHOW:
            add_strings(font, operands)
        elif operands and "/Font" in states.get(operands[0], {}):
            raise UnknownUse("font of a graphics state")


def font_number(fonts, operands) -> tuple:
    font = fonts.get(operands[0]) if len(operands) == 2 else None
    if not isinstance(font, pikepdf.Dictionary):
        raise UnknownUse("font without resources")
    if not font.is_indirect:
        raise UnknownUse("font that is no object")
    return font.objgen


def add_strings(strings, operands) -> None:
    items = operands[-1] if operands and isinstance(operands[-1], pikepdf.Array) else operands[-1:]
    for item in items:
        if isinstance(item, pikepdf.String):
            if strings is None:
                raise UnknownUse("text without a font")
            strings.add(bytes(item))
