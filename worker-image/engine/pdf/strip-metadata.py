"""Rewrites a PDF without its metadata, then reopens it and makes sure that none is left.

usage: strip-metadata.py INPUT OUTPUT

Removed: the document information, every metadata stream (of the document, its pages and images), private
data of applications, page thumbnails. Rewriting leaves earlier revisions of the file behind. Encryption
without a user password is kept.
"""

import io
import sys

import pikepdf
import pymupdf

TELLING_KEYS = ("/Metadata", "/PieceInfo", "/LastModified", "/Thumb")


def main(source: str, target: str) -> None:
    with opened(source) as pdf:
        if "/Info" in pdf.trailer:
            del pdf.trailer["/Info"]
        for holder in dictionaries(pdf):
            for key in TELLING_KEYS:
                if key in holder:
                    del holder[key]
        pdf.save(
            target,
            encryption=pdf.is_encrypted,
            object_stream_mode=pikepdf.ObjectStreamMode.preserve,
            fix_metadata_version=False,
        )
    with pikepdf.open(target) as pdf:
        left = ["/Info"] if "/Info" in pdf.trailer else []
        left += [key for holder in dictionaries(pdf) for key in TELLING_KEYS if key in holder]
        if left:
            raise SystemExit(f"metadata is left: {sorted(set(left))}")


def opened(source: str) -> pikepdf.Pdf:
    """What qpdf cannot repair, MuPDF may; objects that nothing names are left out, as one may be damaged."""
    try:
        return pikepdf.open(source)
    except pikepdf.PasswordError:
        raise
    except pikepdf.PdfError:
        repaired = pymupdf.open(source, filetype="pdf").tobytes(garbage=1, deflate=True)
        return pikepdf.open(io.BytesIO(repaired))


def dictionaries(pdf: pikepdf.Pdf):
    """Every dictionary that is an object of its own, or the dictionary of a stream."""
    for item in pdf.objects:
        if isinstance(item, (pikepdf.Dictionary, pikepdf.Stream)):
            yield item


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
