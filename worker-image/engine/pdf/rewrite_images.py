"""Rewrites the images of a PDF for a resolution and a JPEG quality; everything else stays as it is.

An image is scaled down when every use on a page has at least 1.5 times the resolution, and is encoded as JPEG, or
without loss where that is smaller. Black-and-white images are only re-encoded (fax group 4), never scaled: thin strokes
would vanish. Color spaces, masks and decode arrays are kept.
"""

import zlib

import pikepdf
from PIL import Image
from pikepdf import Name

from drawn_sizes import drawn_sizes, is_image
from image_decoding import decode, decode_bitonal
from image_encoding import as_fax, as_flate, as_jpeg

THRESHOLD = 1.5
# Maximum size of a new image as a share of the old one.
WORTH_OF_JPEG = 0.9
WORTH_OF_LOSSLESS = 0.75
MIN_BYTES = 512


def rewrite_images(pdf: pikepdf.Pdf, dpi: int, quality: int, max_pixels: int) -> None:
    images = [image for image in pdf.objects if is_image(image) and is_worth_reading(image, max_pixels)]
    shown = drawn_sizes(pdf) if images else {}
    for image in images:
        try:
            rewrite(image, scale_of(image, shown, dpi), quality)
        except (pikepdf.PdfError, OSError, ValueError, TypeError, KeyError, zlib.error, NotImplementedError):
            continue  # What cannot be read stays as it is.


def is_worth_reading(image, max_pixels: int) -> bool:
    pixels = int(image.get("/Width", 0)) * int(image.get("/Height", 0))
    return 0 < pixels <= max_pixels and int(image.get("/Length", 0)) >= MIN_BYTES


def scale_of(image, shown, dpi) -> float:
    """Returns the scale; 1 for an image of about the needed resolution, or that no page draws directly."""
    width, height = shown.get(image.objgen, (0, 0))
    if width <= 0 or height <= 0:
        return 1
    finest = min(int(image.Width) / width, int(image.Height) / height)
    return dpi / finest if finest >= dpi * THRESHOLD else 1


def rewrite(image, scale: float, quality: int) -> None:
    size = len(image.read_raw_bytes())
    if image.get("/ImageMask", False) or isinstance(image.get("/Mask"), pikepdf.Array):
        return
    if image.get("/SMaskInData", 0) != 0:
        return
    if int(image.get("/BitsPerComponent", 8)) == 1:
        pixels = decode_bitonal(image)
        return None if pixels is None else pack_bitonal(image, pixels, size)
    decoded = decode(image)
    if decoded is None:
        return
    pixels, space, lossy = decoded
    if not lossy and pixels.mode == "L" and not any(pixels.histogram()[1:255]) and "/Decode" not in image:
        return pack_bitonal(image, pixels.convert("1", dither=Image.Dither.NONE), size)
    mask = image.get("/SMask")
    if has_matte(mask):
        scale = 1  # The colors are premultiplied with the mask, pixel by pixel.
    if scale < 1:
        pixels = shrink(pixels, scale)
        if is_image(mask):
            shrink_mask(mask, scale)
    packed = as_jpeg(pixels, quality)
    packed += [] if lossy else as_flate(pixels, min(len(one[0]) for one in packed))
    data, filter_name, parms = min(packed, key=lambda one: len(one[0]))
    worth = WORTH_OF_LOSSLESS if filter_name == Name.DCTDecode and not lossy and scale == 1 else WORTH_OF_JPEG
    if len(data) > size * worth:
        return
    image.write(data, filter=filter_name, decode_parms=parms)
    image.Width, image.Height = pixels.size
    image.BitsPerComponent = 8
    image.ColorSpace = space


def has_matte(mask) -> bool:
    return mask is not None and "/Matte" in mask


def pack_bitonal(image, pixels, size: int) -> None:
    """Encodes losslessly as fax group 4."""
    packed = as_fax(pixels)
    if packed is None or len(packed[0]) > size * WORTH_OF_JPEG:
        return
    image.write(packed[0], filter=packed[1], decode_parms=packed[2])
    image.BitsPerComponent = 1


def shrink(pixels, scale: float):
    size = tuple(max(1, round(side * scale)) for side in pixels.size)
    return pixels.resize(size, Image.Resampling.LANCZOS, reducing_gap=3)


def shrink_mask(mask, scale: float) -> None:
    """Scales a mask with its image and encodes it losslessly."""
    decoded = decode(mask)
    if decoded is None or decoded[0].mode != "L":
        return
    pixels = shrink(decoded[0], scale)
    data, filter_name, parms = as_flate(pixels)[0]
    if len(data) < len(mask.read_raw_bytes()):
        mask.write(data, filter=filter_name, decode_parms=parms)
        mask.Width, mask.Height = pixels.size
