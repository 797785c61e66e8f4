/** LZW decoder of GIF: codes of 3 to 12 bits, least significant bit first, in sub-blocks. Source: GIF89a, appendix F. */

const MAX_CODES = 4096;
const MAX_WIDTH = 12;
/** Range of the smallest code size that images of 2 to 256 colors have. */
const [MIN_CODE_SIZE, MAX_CODE_SIZE] = [2, 8];
/** Pixels that are copied at once, and that the target therefore holds beyond its end. */
const COPIED = 4;

/** Returns a target for images of at most that many pixels. */
export function makePixelTarget(pixels: number): Uint8Array {
  return new Uint8Array(pixels + COPIED);
}

/**
 * Decodes the first `size` pixels of an image. Further data is skipped, as browsers do.
 * @param at Byte of the smallest code size, which the sub-blocks follow.
 * @param pixels Target of `makePixelTarget`.
 * @throws Error when the data ends early or has an undefined code.
 */
export function decodeGifPixels(file: Buffer, at: number, pixels: Uint8Array, size: number): void {
  const codeSize = file[at] ?? 0;
  if (codeSize < MIN_CODE_SIZE || codeSize > MAX_CODE_SIZE) throw new Error(`The GIF has a code size of ${codeSize}.`);
  const codes = new CodeReader(joinSubBlocks(file, at + 1));
  const clear = 1 << codeSize;
  const table = new SequenceTable(clear + 1, pixels);
  for (let written = 0; written < size;) {
    const code = codes.read(table.width);
    if (code === clear) table.clear();
    else written = table.copy(code, written);
  }
}

function joinSubBlocks(file: Buffer, start: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = start, size = file[at] ?? 0; size > 0; at += 1 + size, size = file[at] ?? 0) {
    parts.push(file.subarray(at + 1, at + 1 + size));
  }
  return Buffer.concat(parts);
}

class CodeReader {
  readonly #bytes: Buffer;
  #at = 0;
  #held = 0;
  #bits = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Returns the next code of at most 12 bits. @throws Error at the end of the data. */
  read(width: number): number {
    if (this.#bits < width) {
      if (this.#at >= this.#bytes.length) throw new Error('The GIF ends inside of an image.');
      const [low = 0, high = 0] = [this.#bytes[this.#at], this.#bytes[this.#at + 1]];
      this.#held |= (low | (high << 8)) << this.#bits;
      this.#bits += 16;
      this.#at += 2;
    }
    const code = this.#held & ((1 << width) - 1);
    this.#held >>>= width;
    this.#bits -= width;
    return code;
  }
}

/**
 * Sequences of pixels by code. A new code's sequence is that of the previous code and one pixel more, which always stands in
 * the pixels that are decoded already: the table keeps where, instead of a copy.
 */
class SequenceTable {
  readonly #pixels: Uint8Array;
  readonly #end: number;
  readonly #begins = new Uint32Array(MAX_CODES);
  readonly #lengths = new Uint16Array(MAX_CODES);
  /** Number of bits of the next code. */
  width: number;
  /** Code that the next sequence gets; `#end` after a clear code, when the first code adds none. */
  #next: number;
  #begin = 0;

  /** @param end Code of the end of the data, one above the clear code. */
  constructor(end: number, pixels: Uint8Array) {
    this.#end = end;
    this.#pixels = pixels;
    this.#next = end;
    this.width = 32 - Math.clz32(end);
  }

  clear(): void {
    this.#next = this.#end;
    this.width = 32 - Math.clz32(this.#end);
  }

  /** Copies the sequence of a code behind the pixels that are written, and returns their new number. @throws Error for an undefined code. */
  copy(code: number, written: number): number {
    const next = this.#next;
    if (next > this.#end && next < MAX_CODES) {
      this.#begins[next] = this.#begin;
      this.#lengths[next] = written - this.#begin + 1;
    }
    if (code === this.#end || code > next) throw new Error('The GIF has an undefined code.');
    this.#begin = written;
    if (next < MAX_CODES) {
      this.#next = next + 1;
      if (this.#next === 1 << this.width && this.width < MAX_WIDTH) this.width += 1;
    }
    if (code > this.#end) return this.#repeat(code, written);
    this.#pixels[written] = code;
    return written + 1;
  }

  #repeat(code: number, start: number): number {
    const pixels = this.#pixels;
    let from = this.#begins[code] ?? 0;
    let to = start;
    const end = start + (this.#lengths[code] ?? 0);
    // Most sequences are this short: without a loop they take two thirds of the time.
    pixels[to] = pixels[from] ?? 0;
    pixels[to + 1] = pixels[from + 1] ?? 0;
    pixels[to + 2] = pixels[from + 2] ?? 0;
    pixels[to + 3] = pixels[from + 3] ?? 0;
    for (to += COPIED, from += COPIED; to < end; to += 1, from += 1) pixels[to] = pixels[from] ?? 0;
    return end;
  }
}
