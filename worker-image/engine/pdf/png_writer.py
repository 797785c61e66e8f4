"""Writes rendered pages as PNG with one filter for the whole image, the smaller one by a sample."""

import struct
import zlib

from PIL import Image, ImageChops

METERS_PER_INCH = 0.0254
COMPRESSION = 6
# Pages of text are smaller without a filter, photos with the difference to the pixel on the left.
NONE, SUB = b"\0", b"\1"
BAND_ROWS = 64
SAMPLED_BANDS = 6
SAMPLED_ROWS = 12


def write_png(path: str, samples: memoryview, size: tuple[int, int], dpi: int) -> None:
    """Writes RGB samples of 8 bits."""
    width, height = size
    length = 3 * width

    def filtered(kind: bytes, start: int, rows: int) -> bytes:
        return filtered_rows(kind, samples[start * length : (start + rows) * length], length)

    step = max(SAMPLED_ROWS, height // SAMPLED_BANDS)
    sizes = {
        kind: sum(len(zlib.compress(filtered(kind, at, SAMPLED_ROWS), 1)) for at in range(0, height, step))
        for kind in (NONE, SUB)
    }
    kind = min(sizes, key=sizes.get)
    per_meter = round(dpi / METERS_PER_INCH)
    engine = zlib.compressobj(COMPRESSION)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"pHYs", struct.pack(">IIB", per_meter, per_meter, 1)))
        for start in range(0, height, BAND_ROWS):
            file.write(chunk(b"IDAT", engine.compress(filtered(kind, start, BAND_ROWS))))
        file.write(chunk(b"IDAT", engine.flush()))
        file.write(chunk(b"IEND", b""))


def filtered_rows(kind: bytes, rows: memoryview, length: int) -> bytes:
    """Returns rows as PNG stores them, each behind its filter."""
    data = bytes(rows)
    if kind == SUB:
        image = Image.frombytes("RGB", (length // 3, len(data) // length), data)
        left = Image.new("RGB", image.size)
        left.paste(image, (1, 0))
        data = ImageChops.subtract_modulo(image, left).tobytes()
    return b"".join(kind + data[at : at + length] for at in range(0, len(data), length))


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
