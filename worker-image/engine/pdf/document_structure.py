"""Reads the structure of a PDF that a rewritten file must keep."""

from collections import Counter

import pikepdf

# Maximum number of pages, evenly spread, that are read.
PAGES_READ = 40
# Maximum number of outline entries that are read.
MAX_OUTLINE = 20_000


def structure(pdf: pikepdf.Pdf) -> dict:
    """Returns the structure; None for what is too damaged to be read."""
    root = pdf.Root
    pages = [pdf.pages[number].obj for number in spread(len(pdf.pages), PAGES_READ)]
    return {
        "pages": len(pdf.pages),
        "outline": read(lambda: outline(root)),
        "tags": read(lambda: "/StructTreeRoot" in root),
        "form": read(lambda: len(root.get("/AcroForm", {}).get("/Fields", [])) > 0),
        "layers": read(lambda: len(root.get("/OCProperties", {}).get("/OCGs", []))),
        "attachments": read(lambda: len(pdf.attachments)),
        "annotations": [read(lambda: annotations(page)) for page in pages],
    }


def spread(count: int, most: int) -> range:
    return range(0, count, max(1, -(-count // most)))


def outline(root) -> list:
    """Returns depth and title of the entries in document order, without those that have no title."""
    entries, seen = [], set()
    waiting = [(root.get("/Outlines", {}).get("/First"), 1)]
    while waiting and len(entries) < MAX_OUTLINE:
        entry, depth = waiting.pop()
        if not isinstance(entry, pikepdf.Dictionary) or (entry.is_indirect and entry.objgen in seen):
            continue
        seen.add(entry.objgen)
        title = str(entry.get("/Title", ""))
        if title.strip():
            entries.append((depth, title))
        waiting += [(entry.get("/Next"), depth), (entry.get("/First"), depth + 1)]
    return entries


def annotations(page) -> list:
    """Returns how many annotations of each type there are, links and fields among them."""
    found = [item for item in page.get("/Annots", []) if isinstance(item, pikepdf.Dictionary)]
    return sorted(Counter(str(item.get("/Subtype")) for item in found).items())


def read(value):
    try:
        return value()
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError):
        return None
