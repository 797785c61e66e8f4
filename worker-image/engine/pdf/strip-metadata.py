"""Rewrites a PDF without its metadata, then reopens it and verifies that none remains.

usage: strip-metadata.py INPUT OUTPUT

Removed: the document information, every metadata stream (of the document, its pages and images), private
data of applications, page thumbnails, and EXIF, IPTC, XMP and comments in JPEG images. Pixels stay: viewers
ignore this metadata, including the EXIF orientation. Rewriting drops earlier revisions of the file. Encryption
without a user password is kept.
"""

import io
import os
import re
import sys

import pikepdf
from pikepdf import Name

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from outer_filters import inner_data, inner_parms, listed

METADATA_KEYS = ("/Metadata", "/PieceInfo", "/LastModified", "/Thumb")
START_OF_IMAGE = b"\xff\xd8"
END_OF_IMAGE = b"\xff\xd9"
START_OF_SCAN = 0xDA
COMMENT = 0xFE
APPLICATION_MARKS = range(0xE0, 0xF0)
# Application segments that define the colors: JFIF, ICC profile, Adobe color transform.
KEPT_APPLICATIONS = {0xE0: b"JFIF\0", 0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
# End of coded data, in which 0xff is followed by 0 or by a restart marker.
AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def main(source: str, target: str) -> None:
    with open_pdf(source) as pdf:
        if "/Info" in pdf.trailer:
            del pdf.trailer["/Info"]
        for holder in dictionaries(pdf):
            for key in METADATA_KEYS:
                if key in holder:
                    del holder[key]
        for image in images(pdf):
            strip_jpeg(pdf, image)
        pdf.save(
            target,
            encryption=pdf.is_encrypted,
            object_stream_mode=pikepdf.ObjectStreamMode.preserve,
            fix_metadata_version=False,
        )
    with pikepdf.open(target) as pdf:
        left = ["/Info"] if "/Info" in pdf.trailer else []
        left += [key for holder in dictionaries(pdf) for key in METADATA_KEYS if key in holder]
        left += ["metadata in a JPEG" for image in images(pdf) if clean_jpeg(pdf, image) is not None]
        if left:
            raise SystemExit(f"metadata remains: {sorted(set(left))}")


def open_pdf(source: str) -> pikepdf.Pdf:
    """Opens a PDF; has PDFium rewrite what qpdf cannot open."""
    try:
        return pikepdf.open(source)
    except pikepdf.PasswordError:
        raise
    except pikepdf.PdfError:
        import pypdfium2

        repaired = io.BytesIO()
        pypdfium2.PdfDocument(source).save(repaired)
        return pikepdf.open(repaired)


def dictionaries(pdf: pikepdf.Pdf):
    """Yields every dictionary that is an indirect object or belongs to a stream."""
    for item in pdf.objects:
        if isinstance(item, (pikepdf.Dictionary, pikepdf.Stream)):
            yield item


def images(pdf: pikepdf.Pdf) -> list:
    streams = [item for item in dictionaries(pdf) if isinstance(item, pikepdf.Stream)]
    return [stream for stream in streams if stream.get("/Subtype") == Name.Image]


# ---- inside of JPEG images -------------------------------------------------------------------------------------


def strip_jpeg(pdf: pikepdf.Pdf, image) -> None:
    clean = clean_jpeg(pdf, image)
    if clean is not None:
        image.write(clean, filter=Name.DCTDecode, decode_parms=inner_parms(image))


def clean_jpeg(pdf: pikepdf.Pdf, image) -> bytes | None:
    """Returns the JPEG without metadata; None if it has none, is no JPEG or cannot be read."""
    try:
        jpeg = inner_data(pdf, image) if listed(image.get("/Filter"))[-1:] == [Name.DCTDecode] else None
        clean = None if jpeg is None else without_metadata_segments(jpeg)
    except (pikepdf.PdfError, ValueError, TypeError):
        return None
    return None if clean == jpeg else clean


def without_metadata_segments(jpeg: bytes) -> bytes | None:
    """Returns the JPEG up to its end marker, without segments that no decoder needs; None for a broken chain of segments."""
    if not jpeg.startswith(START_OF_IMAGE):
        return None
    kept, at = [START_OF_IMAGE], 2
    while at < len(jpeg) and jpeg[at : at + 2] != END_OF_IMAGE:
        end = segment_end(jpeg, at)
        if end is None:
            return None
        if is_kept(jpeg, at):
            kept.append(jpeg[at:end])
        at = end
    return b"".join([*kept, jpeg[at : at + 2]])


def segment_end(jpeg: bytes, at: int) -> int | None:
    """Returns the offset after a segment, including the coded data of a scan, which may be truncated."""
    end = at + 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    if jpeg[at : at + 1] != b"\xff" or at + 4 > end or end > len(jpeg):
        return None
    if jpeg[at + 1] != START_OF_SCAN:
        return end
    mark = AFTER_SCAN.search(jpeg, end)
    return len(jpeg) if mark is None else mark.start()


def is_kept(jpeg: bytes, at: int) -> bool:
    mark = jpeg[at + 1]
    if mark in KEPT_APPLICATIONS:
        return jpeg.startswith(KEPT_APPLICATIONS[mark], at + 4)
    return mark != COMMENT and mark not in APPLICATION_MARKS


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
