"""Encodes pixels with the filters of PDF."""

import io

import pikepdf
from PIL import Image, TiffImagePlugin
from pikepdf import Name

# Maximum size of an image for which baseline JPEG is tried.
SMALL_PIXELS = 128 * 128
# The fastest compression of PNG takes at most so many times the bytes of the best one.
FAST_RATIO = 2


def as_jpeg(pixels, quality: int):
    """Encodes progressive JPEG, and baseline JPEG for a small image, where it may be smaller."""
    subsampling = 0 if pixels.mode == "CMYK" or quality >= 80 else 2
    made = []
    for progressive in (False, True) if pixels.width * pixels.height <= SMALL_PIXELS else (True,):
        packed = io.BytesIO()
        pixels.save(
            packed, "JPEG", quality=quality, optimize=True, progressive=progressive, subsampling=subsampling
        )
        made.append((packed.getvalue(), Name.DCTDecode, None))
    return made


def as_flate(pixels, most: int | None = None):
    """Encodes with the filters and compression of PNG, which every PDF reader supports; not beyond `most` bytes."""
    if pixels.mode == "CMYK":
        return []
    if most is not None and len(as_png(pixels, compress_level=1)) > most * FAST_RATIO:
        return []
    parms = pikepdf.Dictionary(
        Predictor=15, Colors=len(pixels.getbands()), BitsPerComponent=8, Columns=pixels.size[0]
    )
    return [(image_data(as_png(pixels, optimize=True)), Name.FlateDecode, parms)]


def as_png(pixels, **options) -> bytes:
    packed = io.BytesIO()
    pixels.save(packed, "PNG", **options)
    return packed.getvalue()


def image_data(png: bytes) -> bytes:
    parts, at = [], 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += length + 12
    return b"".join(parts)


def as_fax(pixels):
    """Encodes black-and-white pixels as fax group 4; None when they take more than one strip."""
    packed = io.BytesIO()
    TiffImagePlugin.STRIP_SIZE = 2**31
    pixels.save(packed, "TIFF", compression="group4")
    with Image.open(packed) as tiff:
        offsets, counts, zero_is_black = tiff.tag_v2[273], tiff.tag_v2[279], tiff.tag_v2[262] == 1
    if len(offsets) != 1:
        return None
    parms = pikepdf.Dictionary(K=-1, Columns=pixels.size[0], Rows=pixels.size[1], BlackIs1=zero_is_black)
    return packed.getvalue()[offsets[0] : offsets[0] + counts[0]], Name.CCITTFaxDecode, parms
