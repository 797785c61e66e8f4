/** Byte order mark of UTF-8. */
export const UTF8_MARK = Buffer.from('\ufeff');

/** Minimum number of valid characters beyond ASCII, and of those for each invalid sequence. */
const MIN_VALID = 10;

type ByteRange = readonly [lowest: number, highest: number];

const CONTINUATION: ByteRange = [0x80, 0xbf];
/** Ranges of the second byte that exclude overlong forms, surrogates and codes beyond U+10FFFF, by the first byte. */
const SECOND_BYTES: Readonly<Record<number, ByteRange>> = {
  0xe0: [0xa0, 0xbf],
  0xed: [0x80, 0x9f],
  0xf0: [0x90, 0xbf],
  0xf4: [0x80, 0x8f],
};

/** Counts the characters of UTF-8 beyond ASCII, and the sequences that a decoder replaces by U+FFFD. */
export class Utf8Counter {
  #valid = 0;
  #invalid = 0;
  /** Number of bytes that the current character still needs. */
  #missing = 0;
  #range = CONTINUATION;

  /** Number of invalid sequences. A truncated character at the end is one. */
  get invalid(): number {
    return this.#invalid + (this.#missing > 0 ? 1 : 0);
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#missing === 0 && byte < 0x80) continue;
      if (this.#missing > 0 && byte >= this.#range[0] && byte <= this.#range[1]) this.#continue();
      else this.#begin(byte);
    }
  }

  /**
   * Returns whether the text is UTF-8 with a few invalid bytes: it begins with the mark, or most sequences are valid,
   * which those of other encodings rarely are.
   */
  isMostlyUtf8(head: Buffer): boolean {
    if (head.subarray(0, UTF8_MARK.length).equals(UTF8_MARK)) return true;
    return this.#valid >= MIN_VALID && this.#valid >= MIN_VALID * this.invalid;
  }

  #continue(): void {
    this.#missing -= 1;
    this.#range = CONTINUATION;
    if (this.#missing === 0) this.#valid += 1;
  }

  #begin(byte: number): void {
    if (this.#missing > 0) this.#invalid += 1;
    this.#missing = continuationBytes(byte);
    this.#range = SECOND_BYTES[byte] ?? CONTINUATION;
    if (this.#missing === 0 && byte >= 0x80) this.#invalid += 1;
  }
}

/** Returns the number of bytes that follow a first byte; zero for ASCII and for bytes that begin no character. */
function continuationBytes(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return 1;
  return first < 0xf0 ? 2 : 3;
}
