"""Decodes the images of a PDF whose values can be averaged and encoded again."""

import io
import zlib

import pikepdf
from PIL import Image, ImageChops
from pikepdf import Name

MODES = {1: "L", 3: "RGB", 4: "CMYK"}

# The caller has checked the size against its limit.
Image.MAX_IMAGE_PIXELS = None


def decode(image):
    """Returns the stored pixels, whether they were indices into a palette and whether they were lossy.

    Those of CMYK are inverted: Pillow inverts CMYK when it reads a JPEG and again when it writes one. None for an
    unsupported image.
    """
    space = image.get("/ColorSpace")
    kind = image.get("/Filter")
    if isinstance(kind, pikepdf.Array):
        kind = kind[0] if len(kind) == 1 else None
    if kind == Name.DCTDecode:
        return decode_jpeg(image, space)
    if kind == Name.JPXDecode:
        return decode_jpeg_2000(image, space)
    if kind != Name.FlateDecode or int(image.get("/BitsPerComponent", 0)) != 8:
        return None
    return decode_flate(image, space)


def decode_jpeg(image, space):
    parms = image.get("/DecodeParms", {})
    transform = parms.get("/ColorTransform") if isinstance(parms, pikepdf.Dictionary) else None
    if transform is not None and (transform != 1 or components(space) != 3):
        return None
    pixels = Image.open(io.BytesIO(image.read_raw_bytes()), formats=["JPEG"])
    if pixels.mode != MODES.get(components(space)) or pixels.size != (int(image.Width), int(image.Height)):
        return None
    # Pillow has inverted CMYK with and without an Adobe marker. PDF readers invert it by /Decode only, which stays.
    return pixels, False, True


def decode_jpeg_2000(image, space):
    """Decodes JPEG 2000 only with a color space in the PDF and 8 bits per component."""
    if "/Decode" in image:
        return None
    pixels = Image.open(io.BytesIO(image.read_raw_bytes()), formats=["JPEG2000"])
    if pixels.mode != MODES.get(components(space)) or pixels.size != (int(image.Width), int(image.Height)):
        return None
    return with_inverted_cmyk(pixels), False, True


def decode_flate(image, space):
    width, height = int(image.Width), int(image.Height)
    indexed = isinstance(space, pikepdf.Array) and space[0] == Name.Indexed
    if indexed and "/Decode" in image:
        return None
    count = 1 if indexed else components(space)
    if count is None:
        return None
    wanted = width * height * count
    data = inflate(image, wanted, height)
    if data is None:
        return None
    pixels = Image.frombytes(MODES[count], (width, height), data[:wanted])
    if indexed:
        return with_palette(pixels, space)
    return with_inverted_cmyk(pixels), False, False


def with_inverted_cmyk(pixels):
    return ImageChops.invert(pixels) if pixels.mode == "CMYK" else pixels


def with_palette(pixels, space):
    base = space[1]
    if components(base) != 3:
        return None
    table = space[3].read_bytes() if isinstance(space[3], pikepdf.Stream) else bytes(space[3])
    pixels.putpalette(table[: 3 * 256])
    return pixels.convert("RGB"), True, False


def inflate(image, wanted: int, rows: int) -> bytes | None:
    """Returns the samples; None when there are fewer than wanted bytes of them, or more."""
    # Predictors add a byte per row. More data does not belong to the image.
    most = wanted + rows + 64
    data = zlib.decompressobj().decompress(image.read_raw_bytes(), most + 1)
    if len(data) > most:
        return None
    if "/DecodeParms" in image:
        data = image.read_bytes()
    return data if len(data) >= wanted else None


def components(space):
    """Returns 1, 3 or 4 for a color space whose values can be averaged; None for others."""
    names = {"/DeviceGray": 1, "/CalGray": 1, "/DeviceRGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4, "/Separation": 1}
    if isinstance(space, pikepdf.Array):
        if space[0] == Name.ICCBased:
            return int(space[1].get("/N", 0)) if int(space[1].get("/N", 0)) in MODES else None
        return names.get(str(space[0]))
    return names.get(str(space))


def decode_bitonal(image):
    """Returns the stored pixels of a black-and-white image; None for JBIG2 and fax data, which is compressed well already."""
    space = image.get("/ColorSpace")
    indexed = isinstance(space, pikepdf.Array) and space[0] == Name.Indexed
    if image.get("/Filter") != Name.FlateDecode or not (indexed or components(space) == 1):
        return None
    width, height = int(image.Width), int(image.Height)
    row = (width + 7) // 8
    data = inflate(image, row * height, height)
    return None if data is None else Image.frombytes("1", (width, height), data[: row * height])
