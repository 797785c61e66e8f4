"""Takes the glyphs that no page shows out of the embedded fonts of a PDF.

usage: subset-fonts.py INPUT OUTPUT

Ends with 3 and writes nothing for a PDF with form fields: whoever fills them in needs the other glyphs. A signal
ends it when it takes too long: on real files the gain is small then.
"""

import signal
import sys

import pymupdf

HAS_FIELDS = 3
# Of the processor's time.
MOST_SECONDS = 20
# Merging equal objects, which is worth 2 per cent where files were joined, makes one of two layers of the same name.
MERGED, UNMERGED = 3, 2


def main(source: str, target: str) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
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
