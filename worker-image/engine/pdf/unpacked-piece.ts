/** Undoes a filter for the next packed bytes; true when they hold the end of the data. */
export type Step = (packed: Buffer) => Generator<Buffer, boolean>;

const PIECE_BYTES = 64 * 1024;
/** The most that one step may put in at once: the longest sequence of LZW is shorter. */
const ROOM_BYTES = 4096;

/** What is unpacked and not given on yet. */
export class Piece {
  #bytes = Buffer.allocUnsafe(PIECE_BYTES);
  #length = 0;

  get isFull(): boolean {
    return this.#length > PIECE_BYTES - ROOM_BYTES;
  }

  put(byte: number, times: number): void {
    this.#bytes.fill(byte, this.#length, this.#length + times);
    this.#length += times;
  }

  /** Room for so many bytes, to be filled at once. */
  reserve(length: number): Buffer {
    this.#length += length;
    return this.#bytes.subarray(this.#length - length, this.#length);
  }

  /** Gives all of it on. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#length] = [Buffer.allocUnsafe(PIECE_BYTES), 0];
    return taken;
  }
}
