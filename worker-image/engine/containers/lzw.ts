/** LZW decoder for PDF and TIFF: codes of 9 to 12 bits, most significant bit first. Sources: ISO 32000-2, 7.4.4; TIFF 6.0, 13. */
import { FilterOutput, type FilterDecoder } from '#worker-image/engine/containers/filter-output.ts';

const [CLEAR, END, FIRST] = [256, 257, 258];
const MAX_CODES = 4096;

/** Makes a decoder. @param early `EarlyChange`: 1 (usual) when code lengths increase one code early, else 0. */
export function makeLzwDecoder(early: 0 | 1): FilterDecoder {
  const table = new CodeTable();
  let [held, bits] = [0, 0];
  return function* decode(encoded) {
    const out = new FilterOutput();
    for (const byte of encoded) {
      [held, bits] = [(held << 8) | byte, bits + 8];
      const width = table.width(early);
      if (bits < width) continue;
      bits -= width;
      const code = held >>> bits;
      held &= (1 << bits) - 1;
      if (!table.read(code, out)) {
        yield out.flush();
        return true;
      }
      if (out.isFull) yield out.flush();
    }
    yield out.flush();
    return false;
  };
}

/** Code table: each code is a shorter sequence and a last byte. */
class CodeTable {
  readonly #before = new Uint16Array(MAX_CODES);
  readonly #last = Uint8Array.from({ length: MAX_CODES }, (_, code) => code);
  readonly #length = new Uint16Array(MAX_CODES).fill(1);
  #next = FIRST;
  #previous: number | null = null;

  width(early: number): number {
    return Math.min(12, 32 - Math.clz32(this.#next + early));
  }

  /** Writes the bytes of a code. Returns false at the end of the data and for an undefined code. */
  read(code: number, out: FilterOutput): boolean {
    if (code === CLEAR) {
      [this.#next, this.#previous] = [FIRST, null];
      return true;
    }
    const isNew = code === this.#next && this.#previous !== null;
    if (code === END || (code >= this.#next && !isNew)) return false;
    if (this.#previous !== null && this.#next < MAX_CODES) this.#add(this.#previous, isNew ? this.#previous : code);
    this.#write(code, out.reserve(this.#length[code] ?? 0));
    this.#previous = code;
    return true;
  }

  /** Adds the sequence of `before` plus the first byte of `after`. */
  #add(before: number, after: number): void {
    let first = after;
    while (first >= FIRST) first = this.#before[first] ?? 0;
    this.#before[this.#next] = before;
    this.#last[this.#next] = first;
    this.#length[this.#next] = (this.#length[before] ?? 0) + 1;
    this.#next += 1;
  }

  #write(code: number, target: Buffer): void {
    for (let [at, from] = [target.length - 1, code]; at >= 0; at -= 1) {
      target[at] = this.#last[from] ?? 0;
      from = this.#before[from] ?? 0;
    }
  }
}
