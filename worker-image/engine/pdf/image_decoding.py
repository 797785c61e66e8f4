"""Decodes the images of a PDF whose values can be averaged and encoded again."""

import io
import struct
import zlib

import pikepdf
from PIL import Image, ImageChops
from pikepdf import Name

MODES = {1: "L", 3: "RGB", 4: "CMYK"}
# Filters whose data is that of TIFF, by its number of their compression.
TIFF_COMPRESSIONS = {"/LZWDecode": 5, "/RunLengthDecode": 32773}
# Color spaces of TIFF by the number of components: black is zero, RGB, separated.
TIFF_COLORS = {1: 1, 3: 2, 4: 5}
TIFF_HEADER = struct.Struct("<4sI")
TIFF_ENTRY = struct.Struct("<HHII")
TIFF_LONG = 4

# The caller has checked the size against its limit.
Image.MAX_IMAGE_PIXELS = None


def decode(image):
    """Returns the stored pixels, whether they were indices into a palette and whether they were lossy.

    Those of CMYK are inverted: Pillow inverts CMYK when it reads a JPEG and again when it writes one. None for an
    unsupported image.
    """
    space = image.get("/ColorSpace")
    kind = image.get("/Filter")
    if kind == Name.DCTDecode:
        return decode_jpeg(image, space)
    if kind == Name.JPXDecode:
        return decode_jpeg_2000(image, space)
    if int(image.get("/BitsPerComponent", 0)) != 8:
        return None
    return decode_samples(image, space)


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


def decode_samples(image, space):
    indexed = isinstance(space, pikepdf.Array) and space[0] == Name.Indexed
    if indexed and "/Decode" in image:
        return None
    count = 1 if indexed else components(space)
    pixels = None if count is None else stored_pixels(image, MODES[count])
    if pixels is None:
        return None
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


def stored_pixels(image, mode: str):
    """Returns the stored samples as pixels; None for another filter, and where there are fewer of them, or more."""
    kind, size = image.get("/Filter"), (int(image.Width), int(image.Height))
    if str(kind) in TIFF_COMPRESSIONS:
        return decode_as_tiff(image, mode, size)
    wanted = bytes_per_row(mode, size[0]) * size[1]
    if kind is None:
        data = image.read_raw_bytes()
    else:
        data = inflate(image, wanted, size[1]) if kind == Name.FlateDecode else None
    return None if data is None or len(data) < wanted else Image.frombytes(mode, size, data[:wanted])


def bytes_per_row(mode: str, width: int) -> int:
    return (width + 7) // 8 if mode == "1" else width * len(mode)


def inflate(image, wanted: int, rows: int) -> bytes | None:
    """Returns the samples; None when there are more than wanted bytes of them."""
    # Predictors add a byte per row. More data does not belong to the image.
    most = wanted + rows + 64
    data = zlib.decompressobj().decompress(image.read_raw_bytes(), most + 1)
    if len(data) > most:
        return None
    return image.read_bytes() if "/DecodeParms" in image else data


def decode_as_tiff(image, mode: str, size: tuple):
    """Decodes as a TIFF of one strip, which ends at the size of the image; None for parameters that TIFF lacks."""
    parms, bands = image.get("/DecodeParms", {}), len(mode)
    predictor = int(parms.get("/Predictor", 1))
    if predictor > 2 or int(parms.get("/EarlyChange", 1)) != 1 or int(parms.get("/Colors", bands)) != bands:
        return None
    data = image.read_raw_bytes()
    tags = {
        256: size[0],
        257: size[1],
        258: 1 if mode == "1" else 8,
        259: TIFF_COMPRESSIONS[str(image.Filter)],
        262: TIFF_COLORS[bands],
        273: TIFF_HEADER.size,
        277: bands,
        278: size[1],
        279: len(data),
        317: predictor,
    }
    entries = b"".join(TIFF_ENTRY.pack(tag, TIFF_LONG, 1, value) for tag, value in tags.items())
    directory = len(tags).to_bytes(2, "little") + entries + bytes(4)
    header = TIFF_HEADER.pack(b"II*\0", TIFF_HEADER.size + len(data))
    pixels = Image.open(io.BytesIO(header + data + directory), formats=["TIFF"])
    pixels.load()
    return pixels if pixels.mode == mode else None


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
    return stored_pixels(image, "1") if indexed or components(space) == 1 else None
