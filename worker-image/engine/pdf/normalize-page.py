"""Replaces invalid entries of a page by the values that viewers assume: no rotation, the MediaBox, points.

usage: normalize-page.py INPUT OUTPUT PAGE ENTRY...
"""

import sys

import pikepdf


def main(source: str, target: str, number: int, entries: list[str]) -> None:
    with pikepdf.open(source) as pdf:
        page = pdf.pages[number - 1]
        assumed = {"Rotate": 0, "CropBox": page.mediabox, "UserUnit": 1}
        for entry in entries:
            page.obj[f"/{entry}"] = assumed[entry]
        pdf.save(target, fix_metadata_version=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
