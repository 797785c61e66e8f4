"""Rewrites the images of a PDF: smaller ones where they are finer than needed, JPEG where that is smaller.

usage: rewrite-images.py INPUT OUTPUT DPI JPEG_QUALITY

An image is scaled down when it is at least 1.5 times finer than DPI. Black-and-white images are only
packed again, never scaled: thin strokes would vanish.
"""

import sys

import pymupdf

THRESHOLD = 1.5


def main(source: str, target: str, dpi: int, quality: str) -> None:
    pymupdf.TOOLS.mupdf_display_errors(False)
    document = pymupdf.open(source, filetype="pdf")
    document.rewrite_images(options=options(dpi, quality))
    document.save(target, garbage=3, deflate=True, use_objstms=1)


def options(dpi: int, quality: str):
    chosen = pymupdf.mupdf.PdfImageRewriterOptions()
    for colour in ("color", "gray"):
        for packing in ("lossy", "lossless"):
            prefix = f"{colour}_{packing}_image"
            setattr(chosen, f"{prefix}_subsample_method", pymupdf.mupdf.FZ_SUBSAMPLE_BICUBIC)
            setattr(chosen, f"{prefix}_subsample_threshold", round(dpi * THRESHOLD))
            setattr(chosen, f"{prefix}_subsample_to", dpi)
            setattr(chosen, f"{prefix}_recompress_method", pymupdf.mupdf.FZ_RECOMPRESS_JPEG)
            setattr(chosen, f"{prefix}_recompress_quality", quality)
    chosen.bitonal_image_recompress_method = pymupdf.mupdf.FZ_RECOMPRESS_FAX
    chosen.recompress_when = pymupdf.mupdf.FZ_RECOMPRESS_WHEN_SMALLER
    return chosen


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
