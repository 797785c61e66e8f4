/**
 * The entropy-coded data of a sequential JPEG as Huffman symbols with the bits that follow them. Source: ITU-T T.81, annex F.
 *
 * Loops keep their state in local variables: a photo of 12 megapixels has a million symbols.
 */
import { eachCode, type HuffmanTable } from '#worker-image/engine/image/encode/huffman-table.ts';

/** Tables of a scan: that of DC for component class 0, of AC for 0, of DC for 1, of AC for 1. */
export const TABLES = 4;
const SYMBOLS = 256;
/** Length of codes that are decoded by one lookup, in bits. */
const LOOKUP_BITS = 10;
const MAX_LENGTH = 16;
const COEFFICIENTS = 64;
/** Zeros behind the data, as many as a damaged block may read: 64 codes of 16 bits with 15 bits each. */
const PADDING = 256;

/** Bytes behind the data that a whole block may read: two words. */
const MAX_AHEAD = 4;

/** Entries of a symbol: its table and itself in the upper 16 bits, the bits that follow it in the lower ones. */
export type JpegSymbols = Uint32Array;

/** Codes by their first bits: length and symbol; 0 for longer ones. */
interface Decoder {
  readonly lookup: Uint16Array;
  /** Length and symbol by code, of the codes longer than a lookup. */
  readonly long: ReadonlyMap<number, number>;
  readonly table: number;
}

/** Reads symbols block by block. */
export class SymbolReader {
  readonly #bytes: Uint8Array;
  readonly #size: number;
  readonly #decoders: readonly Decoder[];
  readonly #symbols: JpegSymbols;
  #position = 0;
  #held = 0;
  #bits = 0;
  #count = 0;

  /** @param scan Entropy-coded data, from the byte after the header on, without restart markers. */
  constructor(scan: Buffer, tables: readonly HuffmanTable[]) {
    const { bytes, size } = withoutStuffing(scan);
    this.#bytes = bytes;
    this.#size = size;
    this.#decoders = tables.map(makeDecoder);
    // No code is shorter than two bits.
    this.#symbols = new Uint32Array(4 * bytes.length);
  }

  /** Reads the symbols of a block. Returns false when it is damaged. */
  readBlock(dcTable: number, acTable: number): boolean {
    const [bytes, symbols] = [this.#bytes, this.#symbols];
    let [position, held, bits, count] = [this.#position, this.#held, this.#bits, this.#count];
    let decoder = this.#decoders[dcTable];
    let coefficient = 0;
    while (decoder !== undefined && coefficient < COEFFICIENTS) {
      if (bits < MAX_LENGTH) {
        held = (held << 16) | wordAt(bytes, position);
        position += 2;
        bits += 16;
      }
      const found = decoder.lookup[(held >>> (bits - LOOKUP_BITS)) & LOOKUP_MASK] || longCode(decoder, held, bits);
      if (found === 0) return false;
      const symbol = found & 0xff;
      const size = symbol & 15;
      bits -= found >>> 8;
      if (bits < size) {
        held = (held << 16) | wordAt(bytes, position);
        position += 2;
        bits += 16;
      }
      bits -= size;
      symbols[count] = (decoder.table << 24) | (symbol << 16) | ((held >>> bits) & ((1 << size) - 1));
      count += 1;
      const isEnd = symbol === 0 && coefficient > 0;
      coefficient = isEnd ? COEFFICIENTS : coefficient + (symbol >>> 4) + 1;
      decoder = this.#decoders[acTable];
    }
    [this.#position, this.#held, this.#bits, this.#count] = [position, held, bits, count];
    return coefficient === COEFFICIENTS && position <= this.#size + MAX_AHEAD;
  }

  /** Returns the symbols of all blocks; null when bytes are missing or left. */
  end(): JpegSymbols | null {
    const left = 8 * (this.#size - this.#position) + this.#bits;
    return left >= 0 && left < 8 ? this.#symbols.subarray(0, this.#count) : null;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

const LOOKUP_MASK = (1 << LOOKUP_BITS) - 1;

function makeDecoder(table: HuffmanTable, index: number): Decoder {
  const lookup = new Uint16Array(1 << LOOKUP_BITS);
  const long = new Map<number, number>();
  eachCode(table, (symbol, code, length) => {
    const found = (length << 8) | symbol;
    const free = LOOKUP_BITS - length;
    if (free < 0) long.set((length << 16) | code, found);
    else lookup.fill(found, code << free, (code + 1) << free);
  });
  return { lookup, long, table: index };
}

/** Returns length and symbol of a code that no lookup finds; 0 for bits that are none. */
function longCode({ long }: Decoder, held: number, bits: number): number {
  for (let length = LOOKUP_BITS + 1; length <= MAX_LENGTH; length += 1) {
    const found = long.get((length << 16) | ((held >>> (bits - length)) & ((1 << length) - 1)));
    if (found !== undefined) return found;
  }
  return 0;
}

/** Removes the 0 that follows each 255, and adds padding. */
function withoutStuffing(scan: Buffer): { readonly bytes: Uint8Array; readonly size: number } {
  const bytes = Buffer.allocUnsafeSlow(scan.length + PADDING);
  let [at, size] = [0, 0];
  while (at < scan.length) {
    const next = scan.indexOf(0xff, at);
    const end = next === -1 ? scan.length : next + 1;
    size += scan.copy(bytes, size, at, end);
    at = next === -1 ? end : end + 1;
  }
  bytes.fill(0, size);
  return { bytes, size };
}

/** Returns the number of occurrences of each symbol, 256 for each table. */
export function countSymbols(symbols: JpegSymbols): Uint32Array {
  const counts = new Uint32Array(TABLES * SYMBOLS);
  for (let at = 0; at < symbols.length; at += 1) {
    const symbol = (symbols[at] ?? 0) >>> 16;
    counts[symbol] = (counts[symbol] ?? 0) + 1;
  }
  return counts;
}

/** Writes symbols by other tables and returns the entropy-coded data. */
export function writeSymbols(symbols: JpegSymbols, tables: readonly HuffmanTable[]): Buffer {
  const codes = new Uint32Array(TABLES * SYMBOLS);
  for (const [table, one] of tables.entries())
    eachCode(one, (symbol, code, length) => (codes[table * SYMBOLS + symbol] = (length << 16) | code));
  // At most 16 bits of code and 15 that follow.
  const bytes = Buffer.allocUnsafeSlow(4 * symbols.length + 4);
  let [position, held, bits] = [0, 0, 0];
  for (let at = 0; at < symbols.length; at += 1) {
    const entry = symbols[at] ?? 0;
    const code = codes[entry >>> 16] ?? 0;
    held = (held << (code >>> 16)) | (code & 0xffff);
    bits += code >>> 16;
    if (bits >= 16) {
      bits -= 16;
      bytes[position] = held >>> (bits + 8);
      bytes[position + 1] = held >>> bits;
      position += 2;
    }
    const size = (entry >>> 16) & 15;
    held = (held << size) | (entry & 0xffff);
    bits += size;
    if (bits >= 16) {
      bits -= 16;
      bytes[position] = held >>> (bits + 8);
      bytes[position + 1] = held >>> bits;
      position += 2;
    }
  }
  // The last byte is filled with ones.
  held = (held << 16) | 0xffff;
  for (; bits > 0; bits -= 8, position += 1) bytes[position] = held >>> (bits + 8);
  return withStuffing(bytes.subarray(0, position));
}

/** Adds a 0 after each 255. */
function withStuffing(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    const next = bytes.indexOf(0xff, at);
    end = next === -1 ? bytes.length : next + 1;
    parts.push(bytes.subarray(at, end));
    if (next !== -1) parts.push(ZERO);
  }
  return Buffer.concat(parts);
}

const ZERO = Buffer.alloc(1);
