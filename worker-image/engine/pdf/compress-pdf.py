"""Writes a smaller PDF with images rewritten and fonts subset, and compares it with the original.

usage: compress-pdf.py INPUT OUTPUT DPI JPEG_QUALITY MAX_PIXELS OBJECT_STREAMS

Exits with 1 and writes no OUTPUT when neither that nor the same file with whole fonts compares equal.
"""

import os
import sys
from functools import cache

import pikepdf

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from compact_objects import merge_duplicates, pack_metadata, prune, recompress
from compare_files import differences, read_file
from drawn_sizes import is_image, pixels_of
from font_subsetting import subset_fonts
from forked import MAX_FORKED_PIXELS, in_background


def main(source: str, target: str, dpi: int, quality: int, max_pixels: int, object_streams: str) -> None:
    pikepdf.settings.set_flate_compression_level(9)
    attempt, original = f"{target}.attempt", None
    for with_fonts in (True, False):
        # Forked processes read the file too: only a mapped one has no position that they would share.
        with pikepdf.open(source, access_mode=pikepdf.AccessMode.mmap_only) as pdf:
            streams = [item for item in pdf.objects if isinstance(item, pikepdf.Stream)]
            images = [stream for stream in streams if is_image(stream)]
            original = original or start_reading(source, images)
            if images:
                # Loads the codecs of Pillow.
                from rewrite_images import rewrite_images

                rewrite_images(pdf, images, dpi, quality, max_pixels)
            has_changed_fonts = with_fonts and subset_fonts(pdf, streams)
            save(pdf, attempt, streams, object_streams)
        if not differences(original(), read_file(attempt)):
            os.replace(attempt, target)
            return
        if not has_changed_fonts:
            break
    raise SystemExit(1)


def start_reading(source: str, images: list):
    """Starts to read the original, where its images leave memory for that. Returns a function that returns its content."""
    start = in_background if max(map(pixels_of, images), default=0) <= MAX_FORKED_PIXELS else cache
    return start(lambda: read_file(source))


def save(pdf: pikepdf.Pdf, target: str, streams: list, object_streams: str) -> None:
    prune(pdf)
    merge_duplicates(pdf, streams)
    pack_metadata(pdf, streams)
    recompress(streams)
    pdf.save(
        target,
        encryption=pdf.is_encrypted,
        object_stream_mode=pikepdf.ObjectStreamMode[object_streams],
        fix_metadata_version=False,
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(text) for text in sys.argv[3:6]), sys.argv[6])
