"""Appends a trailer to a PDF that lacks one, for example because its end is missing."""

import re
import zlib

OBJECT = re.compile(rb"\b(\d{1,9})\s+(\d{1,5})\s+obj\b")
CATALOG = re.compile(rb"/Type\s*/Catalog\b")
OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
# Entries of a damaged trailer without which an encrypted file cannot be read.
KEPT_ENTRIES = (re.compile(rb"/Encrypt\s+\d+\s+\d+\s+R"), re.compile(rb"/ID\s*\[[^\]]*\]"))
MAX_OBJECT_STREAM_BYTES = 64 * 1024**2


def append_trailer(source: str, target: str) -> bool:
    """Writes a copy with a trailer, and with the objects of object streams as plain objects; False without a catalog."""
    with open(source, "rb") as file:
        data = file.read()
    found = [(int(match[1]), int(match[2]), match.end()) for match in OBJECT.finditer(data)]
    ends = [start for _, _, start in found[1:]] + [len(data)]
    plain = {}
    catalog = None
    for (number, generation, start), end in zip(found, ends):
        if CATALOG.search(data, start, end):
            catalog = (number, generation)
        if OBJECT_STREAM.search(data, start, end):
            plain.update(objects_in(data[start:end]))
    for number, text in plain.items():
        if CATALOG.search(text):
            catalog = (number, 0)
    if catalog is None:
        return False
    with open(target, "wb") as file:
        file.write(data)
        for number, text in plain.items():
            file.write(b"\n%d 0 obj\n%b\nendobj" % (number, text))
        size = max([number for number, _, _ in found] + list(plain)) + 1
        kept = b" ".join(match[0] for entry in KEPT_ENTRIES if (match := entry.search(data)))
        entries = b"/Size %d /Root %d %d R %b" % (size, *catalog, kept)
        file.write(b"\ntrailer\n<< %b >>\nstartxref\n0\n%%%%EOF\n" % entries)
    return True


def objects_in(stream: bytes) -> dict[int, bytes]:
    """Returns the objects of an object stream by number; none when it is damaged."""
    first, data = re.search(rb"/First\s+(\d{1,9})", stream), re.search(rb"stream\r?\n", stream)
    if first is None or data is None:
        return {}
    try:
        unpacked = zlib.decompressobj().decompress(stream[data.end() :], MAX_OBJECT_STREAM_BYTES)
    except zlib.error:
        return {}
    start = int(first[1])
    head = [int(number) for number in unpacked[:start].split() if number.isdigit()]
    numbers, offsets = head[::2], head[1::2]
    return {
        number: unpacked[start + at : start + end]
        for number, at, end in zip(numbers, offsets, [*offsets[1:], len(unpacked)])
    }
