"""Rewrites the images of a PDF for a resolution and a JPEG quality; everything else stays as it is.

An image is scaled down when every use on a page has at least 1.5 times the resolution, and is encoded as JPEG, or
without loss where that is smaller. Black-and-white images are only re-encoded (fax group 4), never scaled: thin strokes
would vanish. Color spaces, masks and decode arrays are kept.
"""

import zlib

import pikepdf
from PIL import Image
from pikepdf import Name

from drawn_sizes import drawn_sizes, is_image, pixels_of
from forked import MAX_FORKED_PIXELS, in_background
from image_decoding import decode, decode_bitonal
from image_encoding import as_fax, as_flate, as_jpeg
from outer_filters import remove_outer_filters

THRESHOLD = 1.5
# Maximum size of a new image as a share of the old one.
WORTH_OF_JPEG = 0.9
WORTH_OF_LOSSLESS = 0.75
MIN_BYTES = 512
# Minimum number of pixels of the images for which a process is started.
MIN_FORKED_PIXELS = 500_000


def rewrite_images(pdf: pikepdf.Pdf, images: list, dpi: int, quality: int, max_pixels: int) -> None:
    images = [image for image in images if is_worth_reading(image, max_pixels)]
    remove_outer_filters(pdf, images)
    shown = drawn_sizes(pdf) if images else {}
    encode_all = lambda part: [encoded(image, scale_of(image, shown, dpi), quality) for image in part]
    one, other = halves(images)
    rest = in_background(lambda: encode_all(other)) if other else lambda: []
    for change in sum([*encode_all(one), *rest()], []):
        write(pdf.get_object(change["object"]), change)


def halves(images) -> tuple[list, list]:
    """Splits images into two lists of about as many pixels; into one where a second is not worth a process or too large."""
    lists, pixels = ([], []), [0, 0]
    for image in sorted(images, key=pixels_of, reverse=True):
        at = pixels.index(min(pixels))
        lists[at].append(image)
        pixels[at] += pixels_of(image)
    is_split = pixels[1] >= MIN_FORKED_PIXELS and pixels_of(lists[0][0]) <= MAX_FORKED_PIXELS
    return lists if is_split else (images, [])


def write(image, change: dict) -> None:
    data, filter_name, parms = change["packed"]
    image.write(data, filter=Name(filter_name), decode_parms=None if parms is None else pikepdf.Dictionary(parms))
    image.Width, image.Height = change["size"]
    image.BitsPerComponent = change["bits"]
    if change["is_expanded"]:
        image.ColorSpace = image.ColorSpace[1]


def is_worth_reading(image, max_pixels: int) -> bool:
    return 0 < pixels_of(image) <= max_pixels and int(image.get("/Length", 0)) >= MIN_BYTES


def scale_of(image, shown, dpi) -> float:
    """Returns the scale; 1 for an image of about the needed resolution, or that no page draws directly."""
    width, height = shown.get(image.objgen, (0, 0))
    if width <= 0 or height <= 0:
        return 1
    finest = min(int(image.Width) / width, int(image.Height) / height)
    return dpi / finest if finest >= dpi * THRESHOLD else 1


def encoded(image, scale: float, quality: int) -> list[dict]:
    """Returns the changes to an image and its mask; none for an image that cannot be read."""
    try:
        return [change for change in encode(image, scale, quality) if change is not None]
    except (pikepdf.PdfError, OSError, ValueError, TypeError, KeyError, zlib.error, NotImplementedError):
        return []


def encode(image, scale: float, quality: int) -> list:
    size = len(image.read_raw_bytes())
    if image.get("/ImageMask", False) or isinstance(image.get("/Mask"), pikepdf.Array):
        return []
    if image.get("/SMaskInData", 0) != 0:
        return []
    if int(image.get("/BitsPerComponent", 8)) == 1:
        pixels = decode_bitonal(image)
        return [] if pixels is None else [pack_bitonal(image, pixels, size)]
    decoded = decode(image)
    if decoded is None:
        return []
    pixels, is_expanded, lossy = decoded
    if not lossy and pixels.mode == "L" and not any(pixels.histogram()[1:255]) and "/Decode" not in image:
        return [pack_bitonal(image, pixels.convert("1", dither=Image.Dither.NONE), size)]
    mask, smaller_mask = image.get("/SMask"), None
    if has_matte(mask):
        scale = 1  # The colors are premultiplied with the mask, pixel by pixel.
    if scale < 1:
        pixels = shrink(pixels, scale)
        smaller_mask = shrink_mask(mask, scale) if is_image(mask) else None
    packed = as_jpeg(pixels, quality)
    packed += [] if lossy else as_flate(pixels, min(len(one[0]) for one in packed))
    best = min(packed, key=lambda one: len(one[0]))
    worth = WORTH_OF_LOSSLESS if best[1] == "/DCTDecode" and not lossy and scale == 1 else WORTH_OF_JPEG
    if len(best[0]) > size * worth:
        return [smaller_mask]
    return [smaller_mask, change_of(image, best, pixels, is_expanded)]


def change_of(image, packed, pixels, is_expanded: bool = False) -> dict:
    """Returns a change that another process can write. `is_expanded`: colors in place of indices into a palette."""
    bits = 1 if pixels.mode == "1" else 8
    return {"object": image.objgen, "packed": packed, "size": pixels.size, "bits": bits, "is_expanded": is_expanded}


def has_matte(mask) -> bool:
    return mask is not None and "/Matte" in mask


def pack_bitonal(image, pixels, size: int) -> dict | None:
    """Encodes losslessly as fax group 4."""
    packed = as_fax(pixels)
    return None if packed is None or len(packed[0]) > size * WORTH_OF_JPEG else change_of(image, packed, pixels)


def shrink(pixels, scale: float):
    """Scales down. Bicubic: after JPEG it is smaller and more similar to the original than Lanczos, in less time."""
    size = tuple(max(1, round(side * scale)) for side in pixels.size)
    return pixels.resize(size, Image.Resampling.BICUBIC, reducing_gap=3)


def shrink_mask(mask, scale: float) -> dict | None:
    """Scales a mask with its image and encodes it losslessly."""
    decoded = decode(mask)
    if decoded is None or decoded[0].mode != "L":
        return None
    pixels = shrink(decoded[0], scale)
    packed = as_flate(pixels)[0]
    return change_of(mask, packed, pixels) if len(packed[0]) < len(mask.read_raw_bytes()) else None
