"""Removes unused glyphs from the embedded fonts of a PDF.

usage: subset-fonts.py INPUT OUTPUT

Exits with 3 and writes nothing for a PDF with form fields: filling them in needs the other glyphs. A signal
terminates it when it takes too long: on such files the gain is small.
"""

import signal
import sys

import pymupdf

HAS_FIELDS = 3
# Limit of CPU time.
MAX_SECONDS = 20
# Merging equal objects saves 2 % in joined files, but merges two layers of the same name.
MERGED, UNMERGED = 3, 2


def main(source: str, target: str) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    pymupdf.TOOLS.mupdf_display_errors(False)
    document = pymupdf.open(source, filetype="pdf")
    if document.is_form_pdf:
        raise SystemExit(HAS_FIELDS)
    document.subset_fonts()
    garbage = UNMERGED if has_layers(document) else MERGED
    document.save(target, garbage=garbage, deflate=True, use_objstms=1, encryption=pymupdf.PDF_ENCRYPT_KEEP)


def has_layers(document) -> bool:
    return document.xref_get_key(document.pdf_catalog(), "OCProperties")[0] != "null"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
