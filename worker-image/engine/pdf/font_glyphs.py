"""Finds the glyphs that a PDF shows of an embedded TrueType font, from the character codes."""

import re
import struct

import pikepdf
from pikepdf import Name

IDENTITY = (Name("/Identity-H"), Name("/Identity-V"))
# Codes of symbol fonts are also mapped in these ranges.
SYMBOL_RANGES = (0xF000, 0xF100, 0xF200)
# Encodings of Python for those of PDF. Each also covers ASCII, which is all that StandardEncoding has in common.
CODECS = {"/WinAnsiEncoding": ("cp1252",), "/MacRomanEncoding": ("mac_roman",)}
CHARACTER_NAME = re.compile(r"/uni([0-9A-F]{4})")
ANY_CODEC = ("cp1252", "mac_roman")


class UnknownGlyphs(Exception):
    """Raised when the glyphs of a code cannot be determined."""


def shown_glyphs(font, strings: set[bytes], program: bytes) -> set[int]:
    """Returns the glyph ids of all strings; more than are needed where readers differ. @throws UnknownGlyphs."""
    if font.get("/Subtype") == Name.Type0:
        return composite_glyphs(font, strings)
    if font.get("/Subtype") != Name.TrueType:
        raise UnknownGlyphs("type of font")
    codes = set(b"".join(strings))
    names, tables, named = font.get("/Encoding"), cmap_tables(program), set()
    if isinstance(names, pikepdf.Dictionary):
        named = named_glyphs(names.get("/Differences", []), tables)
        names = names.get("/BaseEncoding")
    return named | simple_glyphs(codes, CODECS.get(str(names), ANY_CODEC), tables)


def named_glyphs(names, tables) -> set[int]:
    """Returns the glyphs of names that say their character, such as /uni00E9. @throws UnknownGlyphs for other names."""
    found = set()
    for name in names:
        if isinstance(name, pikepdf.Name):
            match = CHARACTER_NAME.fullmatch(str(name))
            code = int(match[1], 16) if match else None
            glyphs = {table[code] for table in tables if code in table}
            if not glyphs:
                raise UnknownGlyphs("names of glyphs")
            found |= glyphs
    return found


def composite_glyphs(font, strings) -> set[int]:
    if font.get("/Encoding") not in IDENTITY:
        raise UnknownGlyphs("character map")
    text = b"".join(string + b"\0" * (len(string) % 2) for string in strings)
    codes = set(struct.unpack(f">{len(text) // 2}H", text))
    glyphs = font.DescendantFonts[0].get("/CIDToGIDMap", Name.Identity)
    if not isinstance(glyphs, pikepdf.Stream):
        return codes
    table = glyphs.read_bytes()
    return {int.from_bytes(table[2 * code : 2 * code + 2], "big") for code in codes}


def simple_glyphs(codes, codecs, tables) -> set[int]:
    """Returns what any table maps a code to, as code, as symbol and as character."""
    if not tables:
        raise UnknownGlyphs("no character map")
    wanted = set(codes)
    for code in codes:
        wanted.update(start + code for start in SYMBOL_RANGES)
        wanted.update(ord(bytes([code]).decode(codec, "replace")) for codec in codecs)
        wanted.update(bytes([code]).decode(codec, "replace").encode("mac_roman", "replace")[0] for codec in codecs)
    return {table[code] for table in tables for code in wanted if code in table}


def cmap_tables(program: bytes) -> list[dict[int, int]]:
    """Parses the character maps of a font. Source: OpenType 1.9, cmap. @throws UnknownGlyphs for an unusual format."""
    try:
        at = table_offset(program, b"cmap")
        if at is None:
            return []
        (count,) = struct.unpack_from(">H", program, at + 2)
        starts = {at + struct.unpack_from(">HHI", program, at + 4 + 8 * index)[2] for index in range(count)}
        return [parse_subtable(program, start) for start in starts]
    except struct.error:
        raise UnknownGlyphs("damaged character map") from None


def table_offset(program: bytes, tag: bytes) -> int | None:
    (count,) = struct.unpack_from(">H", program, 4)
    for index in range(count):
        name, _, offset, _ = struct.unpack_from(">4sIII", program, 12 + 16 * index)
        if name == tag:
            return offset
    return None


def parse_subtable(program: bytes, at: int) -> dict[int, int]:
    (kind,) = struct.unpack_from(">H", program, at)
    if kind == 0:
        return dict(enumerate(struct.unpack_from(">256B", program, at + 6)))
    if kind == 4:
        return parse_segments(program, at)
    if kind == 6:
        first, count = struct.unpack_from(">HH", program, at + 6)
        return dict(enumerate(struct.unpack_from(f">{count}H", program, at + 10), first))
    if kind == 12:
        return parse_groups(program, at)
    raise UnknownGlyphs(f"character map of format {kind}")


def parse_segments(program: bytes, at: int) -> dict[int, int]:
    count = struct.unpack_from(">H", program, at + 6)[0] // 2
    ends, starts, deltas, offsets = (
        struct.unpack_from(f">{count}H", program, at + 14 + 2 * count * part + (2 if part else 0)) for part in range(4)
    )
    found = {}
    for index, (start, end, delta, offset) in enumerate(zip(starts, ends, deltas, offsets)):
        for code in range(start, min(end, 0xFFFE) + 1):
            glyph = code
            if offset:
                place = at + 16 + 6 * count + 2 * index + offset + 2 * (code - start)
                glyph = int.from_bytes(program[place : place + 2], "big")
            if glyph or not offset:
                found[code] = (glyph + delta) & 0xFFFF
    return found


def parse_groups(program: bytes, at: int) -> dict[int, int]:
    (count,) = struct.unpack_from(">I", program, at + 12)
    found = {}
    for index in range(count):
        first, last, glyph = struct.unpack_from(">III", program, at + 16 + 12 * index)
        if last - first > 0xFFFF:
            raise UnknownGlyphs("damaged character map")
        found.update((code, glyph + code - first) for code in range(first, last + 1))
    return found
