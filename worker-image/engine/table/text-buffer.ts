/** Output of the table writers: text in UTF-8, in buffers that are used again. */
import { loneSurrogateAt } from '#worker-image/engine/table/wtf8.ts';

const INITIAL_BYTES = 512 * 1024;
/** Number of bytes that `appendEscaped` appends between two checks of the space, at most. */
const MAX_REPLACEMENT_BYTES = 16;
/** Up to this length, copying byte by byte takes less time than a call. */
const SHORT_BYTES = 64;
const SURROGATE_LEAD = 0xed;
const MAX_BYTES_PER_CHAR = 3;

interface Replacement {
  /** At most `MAX_REPLACEMENT_BYTES`. */
  readonly bytes: Buffer;
  /** Number of bytes that it replaces. */
  readonly length: number;
}

/** Returns the replacement of the bytes at an offset of a cell that ends at another one, or null. */
type Replace = (source: Uint8Array, at: number, to: number) => Replacement | null;

/** Replacements that a format needs in its cells. */
export class Escapes {
  /** Indexed by byte: 1 for those that `replacementAt` looks at. */
  readonly marks = new Uint8Array(256);
  readonly #replace = new Map<number, Replace>();

  /** @param characters maps ASCII characters to texts; a function returns what replaces a lone surrogate. */
  constructor(characters: Readonly<Record<string, string>>, loneSurrogate = (_code: number): string => '\ufffd') {
    for (const [char, text] of Object.entries(characters)) {
      const replacement = { bytes: Buffer.from(text), length: 1 };
      this.addSequence(char.charCodeAt(0), () => replacement);
    }
    this.addSequence(SURROGATE_LEAD, (source, at) => {
      const code = loneSurrogateAt(source, at);
      return code === null ? null : { bytes: Buffer.from(loneSurrogate(code)), length: 3 };
    });
  }

  /** Adds a replacement of sequences that begin with a byte. */
  addSequence(firstByte: number, replace: Replace): void {
    this.marks[firstByte] = 1;
    this.#replace.set(firstByte, replace);
  }

  replacementAt(source: Uint8Array, at: number, to: number): Replacement | null {
    return this.#replace.get(source[at] ?? 0)?.(source, at, to) ?? null;
  }
}

export class TextBuffer {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #spare = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  /** Number of bytes. */
  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    if (bytes.length > SHORT_BYTES) this.#bytes.set(bytes, this.#length);
    else for (let at = 0; at < bytes.length; at += 1) this.#bytes[this.#length + at] = bytes[at] ?? 0;
    this.#length += bytes.length;
  }

  appendText(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_CHAR);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Appends a cell, which is a range of bytes, with replacements. */
  appendEscaped(source: Uint8Array, from: number, to: number, escapes: Escapes): void {
    const { marks } = escapes;
    for (let at = from; at < to;) {
      // A short range at a time, so that the space is not checked for each byte.
      const end = Math.min(to, at + INITIAL_BYTES);
      this.#reserve(end - at + MAX_REPLACEMENT_BYTES);
      const unmarked = this.#copyUnmarked(source, at, end, marks);
      at = unmarked;
      if (at >= end) continue;
      const replacement = escapes.replacementAt(source, at, to);
      this.append(replacement === null ? source.subarray(at, at + 1) : replacement.bytes);
      at += replacement?.length ?? 1;
    }
  }

  /** Copies up to a marked byte and returns its offset. */
  #copyUnmarked(source: Uint8Array, from: number, to: number, marks: Uint8Array): number {
    const [bytes, shift] = [this.#bytes, this.#length - from];
    let at = from;
    for (; at < to; at += 1) {
      const byte = source[at] ?? 0;
      if (marks[byte] === 1) break;
      bytes[at + shift] = byte;
    }
    this.#length = at + shift;
    return at;
  }

  /** Returns the bytes and begins again. They are valid until the next call but one. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#length = 0;
    return taken;
  }

  #reserve(bytes: number): void {
    const length = this.#length + bytes;
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
