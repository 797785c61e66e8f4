"""Merges equal streams of a PDF and compresses all streams as far as Flate can."""

import hashlib
import re
import zlib

import pikepdf
from pikepdf import Name

from drawn_sizes import is_image

MIN_BYTES = 512
# First bytes of data that zlib compressed with level 9.
BEST_FLATE = b"\x78\xda"
# Maximum depth of direct objects.
MAX_DEPTH = 8


def prune(pdf) -> None:
    """Removes resources that a page does not draw: some writers share one list of images among all pages."""
    lists = [page.resources for page in pdf.pages]
    shared = {item.objgen for item in lists if item.is_indirect}
    # Where pages share only fonts, each page would get a list of its own.
    if len(shared) == len(lists) or any("/XObject" in item for item in lists):
        pdf.remove_unreferenced_resources()


def merge_duplicates(pdf, streams) -> None:
    """Merges images and fonts that are stored more than once."""
    first: dict = {}
    duplicates: dict = {}
    for item in streams:
        if int(item.get("/Length", 0)) < MIN_BYTES:
            continue
        if is_image(item) or "/Length1" in item or item.get("/Subtype") == Name.Type1C:
            key = hashlib.sha256(item.read_raw_bytes()).digest() + item.stream_dict.unparse(resolved=False)
            known = first.setdefault(key, item)
            if known.objgen != item.objgen:
                duplicates[item.objgen] = known
    if duplicates:
        for holder in pdf.objects:
            relink(holder, duplicates, 0)


def relink(holder, duplicates, depth) -> None:
    if isinstance(holder, pikepdf.Stream):
        holder = holder.stream_dict
    if depth > MAX_DEPTH or not isinstance(holder, (pikepdf.Dictionary, pikepdf.Array)):
        return
    for key in list(holder.keys()) if isinstance(holder, pikepdf.Dictionary) else range(len(holder)):
        value = holder[key]
        if not isinstance(value, pikepdf.Object):
            continue
        if value.is_indirect:
            if value.objgen in duplicates:
                holder[key] = duplicates[value.objgen]
        else:
            relink(value, duplicates, depth + 1)


def pack_metadata(pdf, streams) -> None:
    """Removes whitespace and padding from XMP; compresses it except for the XMP of the document."""
    root = pdf.Root.get("/Metadata")
    for item in streams:
        if item.get("/Type") != Name.Metadata or "/Filter" in item:
            continue
        text = re.sub(rb">\s+<", b"><", item.read_raw_bytes())
        if root is not None and item.objgen == root.objgen:
            item.write(text)
        else:
            item.write(zlib.compress(text, 9), filter=Name.FlateDecode)


def recompress(streams) -> None:
    """Compresses Flate streams again with the highest level, except for those that an encoder marked as such."""
    for item in streams:
        if item.get("/Filter") != Name.FlateDecode or "/DecodeParms" in item:
            continue
        packed = item.read_raw_bytes()
        if packed[:2] == BEST_FLATE:
            continue
        try:
            smaller = zlib.compress(zlib.decompress(packed), 9)
        except zlib.error:
            continue
        if len(smaller) < len(packed):
            item.write(smaller, filter=Name.FlateDecode)
