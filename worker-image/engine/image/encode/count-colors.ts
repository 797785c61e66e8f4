/** The distinct colors of an image. A graphic has some thousands: work per color costs less than work per pixel. */

import { releaseMemory } from '#worker-image/engine/release-memory.ts';

export interface ColorCounts {
  /** RGBA samples of each color, as they are in memory. Fully transparent pixels are one color, 0. */
  readonly colors: Uint32Array;
  /** Number of pixels of each color. */
  readonly counts: Uint32Array;
  /** Position in `colors` of each pixel. */
  readonly pixels: Uint16Array;
}

/** Maximum number of distinct colors, so that a position fits in 16 bits. */
const MAX_COLORS = 2 ** 16;
/** Slots of the hash table, twice as many as colors. */
const SLOT_BITS = 17;
const LAST_SLOT = 2 ** SLOT_BITS - 1;
/** Multiplier of Fibonacci hashing: 2 ** 32 divided by the golden ratio. */
const HASH_MULTIPLIER = 0x9e3779b1;
/** Shift that leaves the opacity of a pixel. Every supported processor stores the lowest byte first. */
export const ALPHA_SHIFT = 24;

/**
 * Pixels that are handled in one call of a function. V8 compiles a loop anew whenever a function of one call an image runs it,
 * but a function of many calls once.
 */
export const PIXELS_PER_CALL = 2048;

/** Counts the colors of RGBA samples. Returns null for more than 65,536. */
export function countColors(samples: Buffer): ColorCounts | null {
  const words = pixelWords(samples);
  const pixels = new Uint16Array(words.length);
  const table = new ColorTable();
  for (let at = 0; at < words.length; at += PIXELS_PER_CALL) {
    if (!table.count(words, pixels, at)) return null;
  }
  const counted = {
    colors: table.colors.slice(0, table.size),
    counts: table.counts.slice(0, table.size),
    pixels,
  };
  table.release();
  return counted;
}

/** Returns RGBA samples as one number a pixel. They are copied only where their memory is not aligned. */
export function pixelWords(samples: Buffer): Uint32Array {
  const aligned = samples.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0 ? samples : new Uint8Array(samples);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / Uint32Array.BYTES_PER_ELEMENT);
}

/** Hash table with open addressing. */
class ColorTable {
  readonly colors = new Uint32Array(MAX_COLORS);
  readonly counts = new Uint32Array(MAX_COLORS);
  size = 0;
  /** Position of the color plus one; 0 for a free slot. */
  readonly #slots = new Uint32Array(LAST_SLOT + 1);

  release(): void {
    releaseMemory(this.colors, this.counts, this.#slots);
  }

  /** Counts the pixels from a position on. Returns false when the table is full. */
  count(words: Uint32Array, pixels: Uint16Array, begin: number): boolean {
    const end = Math.min(words.length, begin + PIXELS_PER_CALL);
    let at = begin;
    while (at < end) {
      const word = words[at] ?? 0;
      const color = this.#find(word >>> ALPHA_SHIFT === 0 ? 0 : word);
      if (color === MAX_COLORS) return false;
      const first = at;
      do {
        pixels[at] = color;
        at += 1;
      } while (at < end && words[at] === word);
      this.counts[color] = (this.counts[color] ?? 0) + at - first;
    }
    return true;
  }

  /** Returns the position of the color, which is added when it is new; `MAX_COLORS` when the table is full. */
  #find(color: number): number {
    let slot = Math.imul(color, HASH_MULTIPLIER) >>> (32 - SLOT_BITS);
    for (;;) {
      const found = this.#slots[slot] ?? 0;
      if (found === 0) return this.#add(color, slot);
      if (this.colors[found - 1] === color) return found - 1;
      slot = (slot + 1) & LAST_SLOT;
    }
  }

  #add(color: number, slot: number): number {
    if (this.size === MAX_COLORS) return MAX_COLORS;
    this.colors[this.size] = color;
    this.size += 1;
    this.#slots[slot] = this.size;
    return this.size - 1;
  }
}
