"""Rewrites the images of a PDF for a resolution and a JPEG quality; everything else stays as it is.

usage: rewrite-images.py INPUT OUTPUT DPI JPEG_QUALITY MAX_PIXELS

An image is scaled down when every use on a page has at least 1.5 times the resolution DPI, and is
encoded as JPEG, or without loss where that is smaller. Black-and-white images are only re-encoded (fax
group 4), never scaled: thin strokes would vanish. Color spaces, masks and decode arrays are kept.
"""

import hashlib
import io
import re
import sys
import zlib

import pikepdf
from PIL import Image, ImageChops, TiffImagePlugin
from pikepdf import Name

THRESHOLD = 1.5
POINTS_PER_INCH = 72
# Maximum size of a new image as a share of the old one.
WORTH_OF_JPEG = 0.9
WORTH_OF_LOSSLESS = 0.75
MIN_BYTES = 512
MAX_DEPTH = 8
MODES = {1: "L", 3: "RGB", 4: "CMYK"}

Image.MAX_IMAGE_PIXELS = None


def main(source: str, target: str, dpi: int, quality: int, max_pixels: int) -> None:
    with pikepdf.open(source) as pdf:
        shown = drawn_sizes(pdf)
        for image in list(pdf.objects):
            if is_image(image) and 0 < int(image.get("/Width", 0)) * int(image.get("/Height", 0)) <= max_pixels:
                try:
                    rewrite(pdf, image, scale_of(image, shown, dpi), quality)
                except (pikepdf.PdfError, OSError, ValueError, TypeError, KeyError, zlib.error, NotImplementedError):
                    continue  # What cannot be read stays as it is.
        merge_twins(pdf)
        pack_metadata(pdf)
        pdf.save(
            target,
            encryption=pdf.is_encrypted,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            fix_metadata_version=False,
        )


def is_image(item) -> bool:
    return isinstance(item, pikepdf.Stream) and item.get("/Subtype") == Name.Image


# ---- sizes at which pages draw each image ---------------------------------------------------------------------


def drawn_sizes(pdf: pikepdf.Pdf) -> dict:
    """Returns the largest width and height, in inches, at which a page draws each image, by object number."""
    sizes: dict = {}
    for page in pdf.pages:
        unit = float(page.obj.get("/UserUnit", 1)) / POINTS_PER_INCH
        try:
            walk(page.obj, page.resources, (unit, 0, 0, unit, 0, 0), sizes, 0)
        except (pikepdf.PdfError, ValueError, TypeError):
            continue
    return sizes


def walk(holder, resources, matrix, sizes, depth) -> None:
    objects = resources.get("/XObject", {}) if resources is not None else {}
    if depth > MAX_DEPTH or len(objects) == 0:
        return
    stack, now = [], matrix
    for operands, operator in pikepdf.parse_content_stream(holder, "q Q cm Do"):
        name = str(operator)
        if name == "q":
            stack.append(now)
        elif name == "Q" and stack:
            now = stack.pop()
        elif name == "cm" and len(operands) == 6:
            now = multiply([float(number) for number in operands], now)
        elif name == "Do" and operands and operands[0] in objects:
            draw(objects[operands[0]], resources, now, sizes, depth)


def draw(item, resources, matrix, sizes, depth) -> None:
    if is_image(item):
        width = (matrix[0] ** 2 + matrix[1] ** 2) ** 0.5
        height = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5
        known = sizes.get(item.objgen, (0, 0))
        sizes[item.objgen] = (max(known[0], width), max(known[1], height))
    elif item.get("/Subtype") == Name.Form:
        own = [float(number) for number in item.get("/Matrix", [1, 0, 0, 1, 0, 0])]
        walk(item, item.get("/Resources", resources), multiply(own, matrix), sizes, depth + 1)


def multiply(one, other):
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def scale_of(image, shown, dpi) -> float:
    """Returns the scale; 1 for an image of about the needed resolution, or that no page draws directly."""
    width, height = shown.get(image.objgen, (0, 0))
    if width <= 0 or height <= 0:
        return 1
    finest = min(int(image.Width) / width, int(image.Height) / height)
    return dpi / finest if finest >= dpi * THRESHOLD else 1


# ---- one image -------------------------------------------------------------------------------------------------


def rewrite(pdf, image, scale: float, quality: int) -> None:
    size = len(image.read_raw_bytes())
    if size < MIN_BYTES or image.get("/ImageMask", False) or isinstance(image.get("/Mask"), pikepdf.Array):
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
    packed = [*as_jpeg(pixels, quality), *([] if lossy else as_flate(pixels))]
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


def decode(image):
    """Returns the stored pixels, their color space and whether they were lossy; None for an unsupported image."""
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
    # CMYK is stored inverted only with an Adobe marker, which Pillow always writes.
    inverted = pixels.mode == "CMYK" and "adobe" not in pixels.info
    return (ImageChops.invert(pixels) if inverted else pixels), space, True


def decode_jpeg_2000(image, space):
    """Decodes JPEG 2000 only with a color space in the PDF and 8 bits per component."""
    if "/Decode" in image:
        return None
    pixels = Image.open(io.BytesIO(image.read_raw_bytes()), formats=["JPEG2000"])
    if pixels.mode != MODES.get(components(space)) or pixels.size != (int(image.Width), int(image.Height)):
        return None
    return pixels, space, True


def decode_flate(image, space):
    width, height = int(image.Width), int(image.Height)
    indexed = isinstance(space, pikepdf.Array) and space[0] == Name.Indexed
    if indexed and "/Decode" in image:
        return None
    count = 1 if indexed else components(space)
    if count is None:
        return None
    wanted = width * height * count
    # Predictors add a byte per row. More data does not belong to the image.
    if inflated_size(image.read_raw_bytes(), wanted + height + 64) > wanted + height + 64:
        return None
    data = image.read_bytes()
    if len(data) < wanted:
        return None
    pixels = Image.frombytes(MODES[count], (width, height), data[:wanted])
    if indexed:
        return with_palette(pixels, space)
    return (ImageChops.invert(pixels) if pixels.mode == "CMYK" else pixels), space, False


def with_palette(pixels, space):
    base = space[1]
    if components(base) != 3:
        return None
    table = space[3].read_bytes() if isinstance(space[3], pikepdf.Stream) else bytes(space[3])
    pixels.putpalette(table[: 3 * 256])
    return pixels.convert("RGB"), base, False


def inflated_size(data: bytes, most: int) -> int:
    return len(zlib.decompressobj().decompress(data, most + 1))


def components(space):
    """Returns 1, 3 or 4 for a color space whose values can be averaged; None for others."""
    names = {"/DeviceGray": 1, "/CalGray": 1, "/DeviceRGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4, "/Separation": 1}
    if isinstance(space, pikepdf.Array):
        if space[0] == Name.ICCBased:
            return int(space[1].get("/N", 0)) if int(space[1].get("/N", 0)) in MODES else None
        return names.get(str(space[0]))
    return names.get(str(space))


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


def as_jpeg(pixels, quality: int):
    """Encodes baseline and progressive JPEG; progressive is smaller for all but small images."""
    subsampling = 0 if pixels.mode == "CMYK" or quality >= 80 else 2
    made = []
    for progressive in (False, True):
        packed = io.BytesIO()
        pixels.save(
            packed, "JPEG", quality=quality, optimize=True, progressive=progressive, subsampling=subsampling
        )
        made.append((packed.getvalue(), Name.DCTDecode, None))
    return made


def as_flate(pixels):
    """Encodes with the filters and compression of PNG, which every PDF reader supports."""
    if pixels.mode == "CMYK":
        return []
    packed = io.BytesIO()
    pixels.save(packed, "PNG", optimize=True)
    parms = pikepdf.Dictionary(
        Predictor=15, Colors=len(pixels.getbands()), BitsPerComponent=8, Columns=pixels.size[0]
    )
    return [(image_data(packed.getvalue()), Name.FlateDecode, parms)]


def image_data(png: bytes) -> bytes:
    parts, at = [], 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += length + 12
    return b"".join(parts)


def decode_bitonal(image):
    """Returns the stored pixels of a black-and-white image; None for JBIG2 and fax data, which is compressed well already."""
    space = image.get("/ColorSpace")
    indexed = isinstance(space, pikepdf.Array) and space[0] == Name.Indexed
    if image.get("/Filter") != Name.FlateDecode or not (indexed or components(space) == 1):
        return None
    width, height = int(image.Width), int(image.Height)
    row = (width + 7) // 8
    if inflated_size(image.read_raw_bytes(), (row + 1) * height + 64) > (row + 1) * height + 64:
        return None
    data = image.read_bytes()
    return Image.frombytes("1", (width, height), data[: row * height]) if len(data) >= row * height else None


def pack_bitonal(image, pixels, size: int) -> None:
    """Encodes losslessly as fax group 4."""
    packed = io.BytesIO()
    TiffImagePlugin.STRIP_SIZE = 2**31
    pixels.save(packed, "TIFF", compression="group4")
    with Image.open(packed) as tiff:
        offsets, counts, zero_is_black = tiff.tag_v2[273], tiff.tag_v2[279], tiff.tag_v2[262] == 1
    if len(offsets) != 1 or counts[0] > size * WORTH_OF_JPEG:
        return
    parms = pikepdf.Dictionary(K=-1, Columns=pixels.size[0], Rows=pixels.size[1], BlackIs1=zero_is_black)
    image.write(packed.getvalue()[offsets[0] : offsets[0] + counts[0]], filter=Name.CCITTFaxDecode, decode_parms=parms)
    image.BitsPerComponent = 1


# ---- the rest of the file --------------------------------------------------------------------------------------


def merge_twins(pdf) -> None:
    """Merges images and fonts that are stored more than once."""
    first: dict = {}
    twins: dict = {}
    for item in pdf.objects:
        if not isinstance(item, pikepdf.Stream) or int(item.get("/Length", 0)) < MIN_BYTES:
            continue
        if is_image(item) or "/Length1" in item or item.get("/Subtype") == Name.Type1C:
            key = hashlib.sha256(item.read_raw_bytes()).digest() + item.stream_dict.unparse(resolved=False)
            known = first.setdefault(key, item)
            if known.objgen != item.objgen:
                twins[item.objgen] = known
    if twins:
        for holder in pdf.objects:
            relink(holder, twins, 0)


def relink(holder, twins, depth) -> None:
    if isinstance(holder, pikepdf.Stream):
        holder = holder.stream_dict
    if depth > MAX_DEPTH or not isinstance(holder, (pikepdf.Dictionary, pikepdf.Array)):
        return
    for key in list(holder.keys()) if isinstance(holder, pikepdf.Dictionary) else range(len(holder)):
        value = holder[key]
        if not isinstance(value, pikepdf.Object):
            continue
        if value.is_indirect:
            if value.objgen in twins:
                holder[key] = twins[value.objgen]
        else:
            relink(value, twins, depth + 1)


def pack_metadata(pdf) -> None:
    """Removes whitespace and padding from XMP; compresses it except for the XMP of the document."""
    root = pdf.Root.get("/Metadata")
    for item in pdf.objects:
        if not isinstance(item, pikepdf.Stream) or item.get("/Type") != Name.Metadata or "/Filter" in item:
            continue
        text = re.sub(rb">\s+<", b">\n<", item.read_raw_bytes())
        if root is not None and item.objgen == root.objgen:
            item.write(text)
        else:
            item.write(zlib.compress(text, 9), filter=Name.FlateDecode)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
