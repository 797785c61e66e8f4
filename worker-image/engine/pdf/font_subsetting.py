"""Removes unused glyphs and tables from the embedded TrueType fonts of a PDF. Glyph ids stay."""

import signal
import struct
import zlib

import pikepdf
from pikepdf import Name

from font_glyphs import UnknownGlyphs, shown_glyphs
from font_usage import UnknownUse, shown_strings

MIN_BYTES = 2048
# Limit of CPU time, in seconds: on files that need more, the gain is small.
MAX_SECONDS = 20
# Tables that readers of a PDF use; all others are removed. Source: ISO 32000-2, 9.9.
OUTLINES = {"glyf", "loca", "head", "hhea", "hmtx", "maxp", "cvt ", "fpgm", "prep"}
# A composite font is shown by glyph ids, a simple one by its character map.
BY_CODES = {"cmap", "post", "OS/2"}


def subset_fonts(pdf: pikepdf.Pdf, streams: list) -> bool:
    """Returns whether a font became smaller. Leaves a PDF with form fields alone: filling them in needs other glyphs."""
    if not any(is_program(stream) for stream in streams) or len(pdf.Root.get("/AcroForm", {}).get("/Fields", [])) > 0:
        return False
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        strings = shown_strings(pdf)
        programs = font_programs(pdf, strings)
        return any([subset_program(stream, fonts, strings) for stream, fonts in programs])
    except (UnknownUse, TimeoutError, pikepdf.PdfError, ValueError, TypeError, AttributeError):
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def stop(*_) -> None:
    raise TimeoutError


def is_program(item) -> bool:
    return isinstance(item, pikepdf.Stream) and "/Length1" in item and int(item.get("/Length", 0)) >= MIN_BYTES


def font_programs(pdf, numbers) -> list:
    """Returns each embedded font program with the fonts that share it."""
    found: dict = {}
    for number in numbers:
        font = pdf.get_object(number)
        descriptor = font.get("/DescendantFonts", [font])[0].get("/FontDescriptor")
        program = None if descriptor is None else descriptor.get("/FontFile2")
        if is_program(program):
            found.setdefault(program.objgen, (program, []))[1].append(font)
    return list(found.values())


def subset_program(stream, fonts, strings) -> bool:
    program = stream.read_bytes()
    is_simple = any(font.get("/Subtype") != Name.Type0 for font in fonts)
    try:
        glyphs = set().union(*(shown_glyphs(font, strings.get(font.objgen, set()), program) for font in fonts))
    except UnknownGlyphs:
        return False
    smaller = smaller_program(program, glyphs, OUTLINES | BY_CODES if is_simple else OUTLINES)
    packed = None if smaller is None else zlib.compress(smaller, 9)
    if packed is None or len(packed) >= len(stream.read_raw_bytes()):
        return False
    stream.write(packed, filter=Name.FlateDecode)
    stream.Length1 = len(smaller)
    return True


def smaller_program(program: bytes, glyphs: set[int], tables: set[str]) -> bytes | None:
    """Returns the font without other glyphs and tables; None for one that HarfBuzz does not read completely."""
    import uharfbuzz

    face = uharfbuzz.Face(program)
    present = set(face.table_tags)
    if not {"glyf", "loca", "head", "hhea", "hmtx", "maxp"} <= present or not has_ordered_glyphs(face):
        return None
    wanted = uharfbuzz.SubsetInput()
    wanted.flags = uharfbuzz.SubsetFlags.RETAIN_GIDS | uharfbuzz.SubsetFlags.NOTDEF_OUTLINE
    wanted.flags |= uharfbuzz.SubsetFlags.NO_LAYOUT_CLOSURE | uharfbuzz.SubsetFlags.GLYPH_NAMES
    wanted.sets(uharfbuzz.SubsetInputSets.GLYPH_INDEX).update({0, *glyphs})
    wanted.sets(uharfbuzz.SubsetInputSets.DROP_TABLE_TAG).update(tag_number(tag) for tag in present - tables)
    wanted.sets(uharfbuzz.SubsetInputSets.NO_SUBSET_TABLE_TAG).update(tag_number(tag) for tag in BY_CODES)
    try:
        made = uharfbuzz.subset(face, wanted)
    except (RuntimeError, ValueError, MemoryError):
        return None
    kept = set(made.table_tags)
    return made.blob.data if present & tables <= kept else None


def has_ordered_glyphs(face) -> bool:
    """Returns whether each glyph ends where the next one begins; readers find others in different ways."""
    head, loca, glyf = (face.reference_table(tag).data for tag in ("head", "loca", "glyf"))
    size, kind, unit = (4, "I", 1) if head[50:52] == b"\0\1" else (2, "H", 2)
    count = len(loca) // size
    offsets = struct.unpack_from(f">{count}{kind}", loca)
    return count > 0 and list(offsets) == sorted(offsets) and offsets[-1] * unit <= len(glyf)


def tag_number(tag: str) -> int:
    return int.from_bytes(tag.encode("latin-1").ljust(4), "big")
