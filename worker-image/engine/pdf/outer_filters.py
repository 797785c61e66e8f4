"""Decodes the outer filters of a PDF stream with several, such as ASCII85 around a JPEG."""

import zlib

import pikepdf
from pikepdf import Name

# Filters that write bytes as text.
TEXT_FILTERS = (Name.ASCII85Decode, Name.ASCIIHexDecode)
# Maximum size of the decoded data of an image, as a multiple of the encoded one: JPEG data hardly becomes smaller.
MAX_RATIO = 4
# Maximum size of the decoded data of all images of a file, which is in memory, in bytes.
MAX_BYTES = 128 * 1024**2


def listed(value) -> list:
    if value is None:
        return []
    return list(value) if isinstance(value, pikepdf.Array) else [value]


def inner_data(pdf: pikepdf.Pdf, stream) -> bytes:
    """Returns the data of the last filter, with the outer ones decoded."""
    outer = listed(stream.Filter)[:-1]
    if not outer:
        return stream.read_raw_bytes()
    parms = listed(stream.get("/DecodeParms"))[: len(outer)]
    # A new stream: the names of the filters may be an object that others share.
    encoded = pdf.make_stream(stream.read_raw_bytes(), Filter=pikepdf.Array(outer), DecodeParms=pikepdf.Array(parms))
    return encoded.read_bytes()


def inner_parms(stream):
    """Returns the parameters of the last filter; None without any."""
    parms = listed(stream.get("/DecodeParms"))[len(listed(stream.Filter)) - 1 :]
    return parms[0] if parms else None


def remove_outer_filters(pdf: pikepdf.Pdf, images: list) -> None:
    """Replaces data with two filters by that of the inner one, and lists of one filter by its name.

    Data that decodes to many times its size stays as it is.
    """
    left = MAX_BYTES
    for image in images:
        try:
            left -= remove_outer_filter(pdf, image, left)
        except (pikepdf.PdfError, ValueError, TypeError, zlib.error):
            continue


def remove_outer_filter(pdf: pikepdf.Pdf, image, most: int) -> int:
    """Returns the size of the new data, in bytes; 0 when the data remains."""
    filters = listed(image.get("/Filter"))
    if len(filters) == 2 and is_bounded(image, filters[0], most):
        data = inner_data(pdf, image)
        image.write(data, filter=filters[1], decode_parms=inner_parms(image))
        return len(data)
    if len(filters) == 1:
        parms = inner_parms(image)
        image.Filter = filters[0]
        if parms is not None:
            image.DecodeParms = parms
        elif "/DecodeParms" in image:
            del image.DecodeParms
    return 0


def is_bounded(image, outer, most: int) -> bool:
    """Returns whether the outer filter decodes to at most so many bytes, and to MAX_RATIO times the encoded ones."""
    encoded = image.read_raw_bytes()
    if outer in TEXT_FILTERS:
        # A "z" of ASCII85 is four bytes.
        return len(encoded) * 4 <= most
    most = min(most, len(encoded) * MAX_RATIO)
    return outer == Name.FlateDecode and len(zlib.decompressobj().decompress(encoded, most + 1)) <= most
