"""Compares what two PDF files contain and how their pages look."""

import pikepdf

from document_structure import structure
from page_looks import differs, looks


def read_file(path: str) -> dict:
    """Returns structure and looks of a file."""
    with pikepdf.open(path) as pdf:
        return {**structure(pdf), **(looks(path) or {})}


def differences(before: dict, after: dict) -> list[str]:
    """Returns a sentence for each part of a file that a rewritten one lacks."""
    found = []
    for name, value in before.items():
        if name == "rendering":
            found += rendered_differences(value, after.get(name) or [])
        elif is_less(after.get(name), value):
            found.append(f"{name}: {short(value)} became {short(after.get(name))}")
    return found


def rendered_differences(before: list, after: list) -> list[str]:
    pairs = enumerate(differs(*pair) for pair in zip(before, after))
    return [f"rendering: page {at + 1} of those read differs by {most} of 255" for at, most in pairs if most > 0]


def is_less(after, before) -> bool:
    """Returns whether a value differs; one that could not be read from the original (None) may differ."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return any(is_less(*pair) for pair in zip(after, before))
    return before is not None and after != before


def short(value) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
