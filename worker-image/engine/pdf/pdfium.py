"""Binds the functions of PDFium that draw and read pages. All bindings of pypdfium2 take longer to load than a small page.

Source of the signatures: fpdfview.h, fpdf_text.h, fpdf_edit.h and fpdf_formfill.h of PDFium.
"""

import ctypes
import importlib.util
import os
from ctypes import c_char_p, c_double, c_float, c_int, c_ulong, c_void_p

GRAY, RGB = 1, 2
BYTES = {GRAY: 1, RGB: 3}
DRAW_ANNOTATIONS, DRAW_GRAY, REVERSE_BYTES = 0x01, 0x08, 0x10
IMAGE_OBJECT, FORM_OBJECT = 3, 5
WHITE = 0xFFFFFFFF
# Larger than any page, in points.
EVERYWHERE = 1e9
# Size of a zeroed FPDF_FORMFILLINFO of this version, without any callback; the real one is smaller.
FORM_INFO_BYTES, FORM_INFO_VERSION = 1024, 2

AREA = [c_int] * 4
SIGNATURES = {
    "FPDF_LoadDocument": (c_void_p, [c_char_p, c_char_p]),
    "FPDF_LoadMemDocument": (c_void_p, [c_char_p, c_int, c_char_p]),
    "FPDF_CloseDocument": (None, [c_void_p]),
    "FPDF_GetPageCount": (c_int, [c_void_p]),
    "FPDF_LoadPage": (c_void_p, [c_void_p, c_int]),
    "FPDF_ClosePage": (None, [c_void_p]),
    "FPDF_GetPageWidthF": (c_float, [c_void_p]),
    "FPDF_GetPageHeightF": (c_float, [c_void_p]),
    "FPDFText_LoadPage": (c_void_p, [c_void_p]),
    "FPDFText_ClosePage": (None, [c_void_p]),
    "FPDFText_GetBoundedText": (c_int, [c_void_p, *[c_double] * 4, c_void_p, c_int]),
    "FPDFPage_CountObjects": (c_int, [c_void_p]),
    "FPDFPage_GetObject": (c_void_p, [c_void_p, c_int]),
    "FPDFPageObj_GetType": (c_int, [c_void_p]),
    "FPDFFormObj_CountObjects": (c_int, [c_void_p]),
    "FPDFFormObj_GetObject": (c_void_p, [c_void_p, c_ulong]),
    "FPDFBitmap_CreateEx": (c_void_p, [c_int, c_int, c_int, c_void_p, c_int]),
    "FPDFBitmap_FillRect": (c_int, [c_void_p, *AREA, c_ulong]),
    "FPDFBitmap_Destroy": (None, [c_void_p]),
    "FPDF_RenderPageBitmap": (None, [c_void_p, c_void_p, *AREA, c_int, c_int]),
    "FPDF_FFLDraw": (None, [c_void_p, c_void_p, c_void_p, *AREA, c_int, c_int]),
    "FPDF_GetFormType": (c_int, [c_void_p]),
    "FPDFDOC_InitFormFillEnvironment": (c_void_p, [c_void_p, c_void_p]),
    "FORM_OnAfterLoadPage": (None, [c_void_p, c_void_p]),
    "FORM_OnBeforeClosePage": (None, [c_void_p, c_void_p]),
}


def load():
    folder = importlib.util.find_spec("pypdfium2_raw").submodule_search_locations[0]
    library = ctypes.CDLL(os.path.join(folder, "libpdfium.so"))
    for name, (returned, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returned, arguments
    library.FPDF_InitLibrary()
    return library


LIBRARY = load()


class Document:
    """A PDF without a password, by its path or its bytes. @throws ValueError for one that PDFium does not open."""

    def __init__(self, source: str | bytes):
        if isinstance(source, bytes):
            self.handle = LIBRARY.FPDF_LoadMemDocument(source, len(source), None)
        else:
            self.handle = LIBRARY.FPDF_LoadDocument(os.fsencode(source), None)
        if not self.handle:
            raise ValueError(f"PDFium does not open {source!r}")
        self.pages = LIBRARY.FPDF_GetPageCount(self.handle)
        self.form_info = ctypes.create_string_buffer(FORM_INFO_BYTES)
        c_int.from_buffer(self.form_info).value = FORM_INFO_VERSION
        has_form = LIBRARY.FPDF_GetFormType(self.handle) != 0
        self.form = LIBRARY.FPDFDOC_InitFormFillEnvironment(self.handle, self.form_info) if has_form else None


class Page:
    """An open page, by its number from 0. @throws ValueError for a page that PDFium does not load."""

    def __init__(self, document: Document, number: int):
        self.document = document
        self.handle = LIBRARY.FPDF_LoadPage(document.handle, number)
        if not self.handle:
            raise ValueError(f"PDFium does not load page {number + 1}")
        if document.form:
            LIBRARY.FORM_OnAfterLoadPage(self.handle, document.form)

    def close(self) -> None:
        if self.document.form:
            LIBRARY.FORM_OnBeforeClosePage(self.handle, self.document.form)
        LIBRARY.FPDF_ClosePage(self.handle)

    def size(self) -> tuple[float, float]:
        """Returns width and height in units of the page."""
        return LIBRARY.FPDF_GetPageWidthF(self.handle), LIBRARY.FPDF_GetPageHeightF(self.handle)

    def text(self) -> str:
        reader = LIBRARY.FPDFText_LoadPage(self.handle)
        if not reader:
            return ""
        area = (-EVERYWHERE, EVERYWHERE, EVERYWHERE, -EVERYWHERE)
        count = LIBRARY.FPDFText_GetBoundedText(reader, *area, None, 0)
        units = (ctypes.c_uint16 * max(1, count))()
        LIBRARY.FPDFText_GetBoundedText(reader, *area, units, count)
        LIBRARY.FPDFText_ClosePage(reader)
        return bytes(units).decode("utf-16-le", "replace")

    def render(self, kind: int, width: int, height: int) -> bytearray:
        """Returns the samples of the page on white, row by row without padding."""
        samples = bytearray(width * height * BYTES[kind])
        place = (ctypes.c_char * len(samples)).from_buffer(samples)
        bitmap = LIBRARY.FPDFBitmap_CreateEx(width, height, kind, place, width * BYTES[kind])
        if not bitmap:
            raise ValueError(f"PDFium makes no bitmap of {width} by {height}")
        flags = DRAW_ANNOTATIONS | (DRAW_GRAY if kind == GRAY else REVERSE_BYTES)
        LIBRARY.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)
        LIBRARY.FPDF_RenderPageBitmap(bitmap, self.handle, 0, 0, width, height, 0, flags)
        if self.document.form:
            LIBRARY.FPDF_FFLDraw(self.document.form, bitmap, self.handle, 0, 0, width, height, 0, flags)
        LIBRARY.FPDFBitmap_Destroy(bitmap)
        return samples


# Has one letter in a font that is not embedded. Without a cross-reference table: PDFium searches the objects.
ONE_LETTER = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>> endobj
4 0 obj <</Length 21>> stream
BT /F 9 Tf (a) Tj ET
endstream endobj
5 0 obj <</Type /Font /Subtype /TrueType /BaseFont /NoFont>> endobj
trailer <</Root 1 0 R>>
"""


def load_fonts() -> None:
    """Has PDFium find the fonts of the machine, which it does for the first text of a process."""
    document = Document(ONE_LETTER)
    page = Page(document, 0)
    page.text()
    page.render(GRAY, 9, 9)
    page.close()
    LIBRARY.FPDF_CloseDocument(document.handle)
