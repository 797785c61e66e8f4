"""Says what a rewritten PDF lost of the original: one line per difference, nothing when all is there.

usage: compare-structure.py ORIGINAL REWRITTEN
"""

import sys

import pymupdf

# Text, images and links are read on so many pages at most, evenly spread.
PAGES_READ = 40


def main(original: str, rewritten: str) -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    before = structure(original)
    after = structure(rewritten)
    for name, value in before.items():
        if after[name] != value:
            print(f"{name}: {short(value)} became {short(after[name])}")


def structure(path: str) -> dict:
    document = pymupdf.open(path, filetype="pdf")
    catalogue = document.pdf_catalog()
    chosen = range(0, document.page_count, max(1, document.page_count // PAGES_READ))
    pages = [document[number] for number in chosen]
    return {
        "pages": document.page_count,
        "page sizes": [tuple(round(side, 1) for side in page.rect) for page in pages],
        "outline": [(level, title) for level, title, *_ in document.get_toc()],
        "tags": document.xref_get_key(catalogue, "StructTreeRoot")[0] != "null",
        "form": bool(document.is_form_pdf),
        "fields": [len(list(page.widgets())) for page in pages],
        "annotations": [len(list(page.annots())) for page in pages],
        "links": [len(page.get_links()) for page in pages],
        "attachments": document.embfile_count(),
        "images": [len(page.get_image_info()) for page in pages],
        "text": [page.get_text("text") for page in pages],
    }


def short(value) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
