/** LZW as PDF has it: codes of 9 to 12 bits, the highest bit first. Source: ISO 32000-2, 7.4.4. */
import { Piece, type Step } from '#worker-image/engine/pdf/unpacked-piece.ts';

const [CLEAR, END, FIRST] = [256, 257, 258];
const MAX_CODES = 4096;

/** @param early 1 when codes become longer one code before they must, which is usual; 0 otherwise. */
export function makeLzwStep(early: 0 | 1): Step {
  const table = new Table();
  let [held, bits] = [0, 0];
  return function* step(packed) {
    const out = new Piece();
    for (const byte of packed) {
      [held, bits] = [(held << 8) | byte, bits + 8];
      const width = table.width(early);
      if (bits < width) continue;
      bits -= width;
      const code = held >>> bits;
      held &= (1 << bits) - 1;
      if (!table.read(code, out)) {
        yield out.take();
        return true;
      }
      if (out.isFull) yield out.take();
    }
    yield out.take();
    return false;
  };
}

/** The sequences that codes stand for: each is a shorter one and a byte. */
class Table {
  readonly #before = new Uint16Array(MAX_CODES);
  readonly #last = Uint8Array.from({ length: MAX_CODES }, (_, code) => code);
  readonly #length = new Uint16Array(MAX_CODES).fill(1);
  #next = FIRST;
  #previous: number | null = null;

  width(early: number): number {
    return Math.min(12, 32 - Math.clz32(this.#next + early));
  }

  /** Puts the code's bytes out; false at the end of the data, and at a code that there is not yet. */
  read(code: number, out: Piece): boolean {
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

  /** The sequence of `before`, and the first byte of `after`. */
  #add(before: number, after: number): void {
    let first = after;
    while (first >= FIRST) first = this.#before[first] ?? 0;
    this.#before[this.#next] = before;
    this.#last[this.#next] = first;
    this.#length[this.#next] = (this.#length[before] ?? 0) + 1;
    this.#next += 1;
  }

  #write(code: number, room: Buffer): void {
    for (let [at, from] = [room.length - 1, code]; at >= 0; at -= 1) {
      room[at] = this.#last[from] ?? 0;
      from = this.#before[from] ?? 0;
    }
  }
}
