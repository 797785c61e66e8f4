/** Decodes the next encoded bytes; returns true when they contain the end of the data. */
export type FilterDecoder = (encoded: Buffer) => Generator<Buffer, boolean>;

const BUFFER_BYTES = 64 * 1024;
/** Maximum length of one write, in bytes: longer than the longest sequence of LZW. */
const MAX_WRITE_BYTES = 4096;

/** Buffer of decoded bytes that were not yielded yet. */
export class FilterOutput {
  #bytes = Buffer.allocUnsafe(BUFFER_BYTES);
  #length = 0;

  get isFull(): boolean {
    return this.#length > BUFFER_BYTES - MAX_WRITE_BYTES;
  }

  write(byte: number, times: number): void {
    this.#bytes.fill(byte, this.#length, this.#length + times);
    this.#length += times;
  }

  /** Returns the next `length` bytes of the buffer, for the caller to fill. */
  reserve(length: number): Buffer {
    this.#length += length;
    return this.#bytes.subarray(this.#length - length, this.#length);
  }

  /** Returns all buffered bytes and empties the buffer. */
  flush(): Buffer {
    const flushed = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#length] = [Buffer.allocUnsafe(BUFFER_BYTES), 0];
    return flushed;
  }
}
