"""Writes a PDF with a damaged cross-reference table or a wrong number of pages anew.

usage: repair-pdf.py INPUT OUTPUT

PDFium searches the file for its objects, as viewers do, and qpdf does so by other rules. The copy with more pages is
kept, PDFium's if both are equal. Exits with 3 for a file that needs a password, with 1 when no page is found.
"""

import os
import sys

import pikepdf
import pypdfium2 as pdfium
import pypdfium2.raw as raw

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from append_trailer import append_trailer

NEEDS_PASSWORD = 3
NO_PAGE = 1


def main(source: str, target: str) -> None:
    whole = f"{target}.whole"
    if not repair(source, target) and not (append_trailer(source, whole) and repair(whole, target)):
        raise SystemExit(NO_PAGE)
    correct_count(target)


def correct_count(path: str) -> None:
    """Writes the number of pages to the tree of pages where it declares another one."""
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        if pdf.Root.Pages.get("/Count") == len(pdf.pages):
            return
        pdf.Root.Pages.Count = len(pdf.pages)
        # A change of the pages has qpdf write the tree anew, without inner nodes that may declare wrong numbers too.
        pdf.pages.append(pdf.pages[-1])
        del pdf.pages[-1]
        pdf.save(path, encryption=pdf.is_encrypted, fix_metadata_version=False)


def repair(source: str, target: str) -> bool:
    other = f"{target}.qpdf"
    pages = save_with_pdfium(source, target)
    if save_with_qpdf(source, other) <= pages:
        return pages > 0
    os.replace(other, target)
    return True


def save_with_pdfium(source: str, target: str) -> int:
    """Writes a copy and returns its number of pages; 0 when it cannot be written."""
    try:
        pdfium.PdfDocument(source).save(target)
        return pages_of(target)
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise SystemExit(NEEDS_PASSWORD) from None
        return 0


def save_with_qpdf(source: str, target: str) -> int:
    try:
        with pikepdf.open(source) as pdf:
            pdf.save(target, encryption=pdf.is_encrypted, fix_metadata_version=False)
        return pages_of(target)
    except (pikepdf.PdfError, ValueError, TypeError):
        return 0


def pages_of(path: str) -> int:
    """Counts the pages with qpdf, which reads the copy from here on; 0 for a copy that is damaged itself."""
    try:
        with pikepdf.open(path, attempt_recovery=False) as pdf:
            return len(pdf.pages)
    except (pikepdf.PdfError, ValueError, TypeError):
        return 0


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
