"""Writes a smaller PDF with images rewritten and fonts subset, and compares it with the original.

usage: compress-pdf.py INPUT OUTPUT DPI JPEG_QUALITY MAX_PIXELS

Exits with 1 and writes no OUTPUT when neither that nor the same file with whole fonts compares equal.
"""

import os
import sys

import pikepdf

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from compact_objects import merge_duplicates, pack_metadata, prune, recompress
from compare_files import differences, read_file
from drawn_sizes import is_image
from font_subsetting import subset_fonts
from forked import forked


def main(source: str, target: str, dpi: int, quality: int, max_pixels: int) -> None:
    pikepdf.settings.set_flate_compression_level(9)
    original = forked(lambda: read_file(source))
    attempt = f"{target}.attempt"
    for with_fonts in (True, False):
        has_changed_fonts = write(source, attempt, with_fonts, (dpi, quality, max_pixels))
        if not differences(original(), read_file(attempt)):
            os.replace(attempt, target)
            return
        if not has_changed_fonts:
            break
    raise SystemExit(1)


def write(source: str, target: str, with_fonts: bool, limits: tuple[int, int, int]) -> bool:
    """Writes a smaller file and returns whether fonts were subset."""
    # Forked processes read the file too: only a mapped one has no position that they would share.
    with pikepdf.open(source, access_mode=pikepdf.AccessMode.mmap_only) as pdf:
        if any(is_image(item) for item in pdf.objects):
            # Loads the codecs of Pillow.
            from rewrite_images import rewrite_images

            rewrite_images(pdf, *limits)
        has_changed_fonts = with_fonts and subset_fonts(pdf)
        prune(pdf)
        merge_duplicates(pdf)
        pack_metadata(pdf)
        recompress(pdf)
        pdf.save(
            target,
            encryption=pdf.is_encrypted,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            fix_metadata_version=False,
        )
    return has_changed_fonts


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(text) for text in sys.argv[3:]))
