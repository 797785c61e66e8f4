"""Decodes the first page of a TIFF, upright, to an uncompressed TIFF in colors that every reader knows.

usage: decode-tiff.py INPUT OUTPUT
"""

import sys

from PIL import Image, ImageCms, ImageOps

PLAIN = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16")

# The caller has checked the size against its limit.
Image.MAX_IMAGE_PIXELS = None


def main(source: str, target: str) -> None:
    with Image.open(source, formats=["TIFF"]) as page:
        page.load()
        profile = page.info.get("icc_profile")
        pixels = ImageOps.exif_transpose(page)
    if pixels.mode == "LAB":
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        pixels, profile = ImageCms.profileToProfile(pixels, lab, srgb, outputMode="RGB"), None
    elif pixels.mode == "F":
        pixels = spread(pixels, white=1)
    elif pixels.mode == "I":
        pixels = spread(pixels, white=65535)
    elif pixels.mode not in PLAIN:
        pixels = pixels.convert("RGB")
    fresh = Image.new(pixels.mode, pixels.size)
    if pixels.mode == "P":
        fresh.putpalette(pixels.getpalette())
    fresh.paste(pixels)
    fresh.save(target, "TIFF", compression=None, **({"icc_profile": profile} if profile else {}))


def spread(gray: Image.Image, white: int) -> Image.Image:
    """Returns samples as 16 bits: black is 0, or the minimum and maximum are black and white if these are exceeded."""
    low, high = gray.getextrema()
    if low >= 0 and high <= white:
        low, high = 0, white
    scale = 65535 / (high - low) if high > low else 0
    return gray.convert("F").point(lambda value: value * scale + (0.5 - low * scale)).convert("I").convert("I;16")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
