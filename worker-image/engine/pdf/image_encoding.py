"""Encodes pixels with the filters of PDF: returns data, name of the filter and its parameters or None."""

import io

from PIL import Image, TiffImagePlugin

# Maximum size of an image for which baseline JPEG is tried.
SMALL_PIXELS = 128 * 128
# The fastest compression of PNG takes at most so many times the bytes of the best one.
FAST_RATIO = 2
# Maximum number of bytes of a PNG besides its image data, without what each 64 KiB of it add.
PNG_OVERHEAD = 1000


def as_jpeg(pixels, quality: int):
    """Encodes progressive JPEG, and baseline JPEG for a small image, where it may be smaller."""
    subsampling = 0 if pixels.mode == "CMYK" or quality >= 80 else 2
    made = []
    for progressive in (False, True) if pixels.width * pixels.height <= SMALL_PIXELS else (True,):
        packed = io.BytesIO()
        pixels.save(
            packed, "JPEG", quality=quality, optimize=True, progressive=progressive, subsampling=subsampling
        )
        made.append((packed.getvalue(), "/DCTDecode", None))
    return made


def as_flate(pixels, most: int | None = None):
    """Encodes with the filters and compression of PNG, which every PDF reader supports; not beyond `most` bytes."""
    if pixels.mode == "CMYK":
        return []
    if most is not None and as_png(pixels, most * FAST_RATIO, compress_level=1) is None:
        return []
    png = as_png(pixels, None if most is None else most + PNG_OVERHEAD + most // 1000, optimize=True)
    if png is None:
        return []
    parms = {"/Predictor": 15, "/Colors": len(pixels.getbands()), "/BitsPerComponent": 8, "/Columns": pixels.size[0]}
    return [(image_data(png), "/FlateDecode", parms)]


class LimitedBytes(io.BytesIO):
    """Bytes in memory. @throws BufferError for more than `most`."""

    def __init__(self, most: int):
        super().__init__()
        self.most = most

    def write(self, data) -> int:
        if self.tell() + len(data) > self.most:
            raise BufferError
        return super().write(data)


def as_png(pixels, most: int | None, **options) -> bytes | None:
    """Returns the file; None when it has more than `most` bytes, which ends the encoder there."""
    packed = io.BytesIO() if most is None else LimitedBytes(most)
    try:
        pixels.save(packed, "PNG", **options)
    except BufferError:
        return None
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
    parms = {"/K": -1, "/Columns": pixels.size[0], "/Rows": pixels.size[1], "/BlackIs1": zero_is_black}
    return packed.getvalue()[offsets[0] : offsets[0] + counts[0]], "/CCITTFaxDecode", parms
