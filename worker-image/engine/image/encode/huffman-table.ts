/** Huffman tables of JPEG: codes of 1 to 16 bits for symbols of a byte. Source: ITU-T T.81, annexes C and K.2. */

/** A table as a JPEG holds it. */
export interface HuffmanTable {
  /** Number of codes of 1 to 16 bits. */
  readonly counts: Uint8Array;
  /** Symbols in the order of their codes. */
  readonly symbols: Uint8Array;
}

const MAX_LENGTH = 16;
const SYMBOLS = 256;

/** Calls the function for each symbol of the table with its code and the code's length in bits. */
export function eachCode(
  { counts, symbols }: HuffmanTable,
  use: (symbol: number, code: number, length: number) => void,
): void {
  let [code, at] = [0, 0];
  for (let length = 1; length <= MAX_LENGTH; length += 1) {
    for (const end = at + (counts[length - 1] ?? 0); at < end; at += 1, code += 1) use(symbols[at] ?? 0, code, length);
    code <<= 1;
  }
}

/**
 * Returns the table with which symbols of these frequencies take the fewest bits.
 * @param frequencies Number of occurrences of each of the 256 symbols; at least one occurs.
 */
export function optimalTable(frequencies: Uint32Array): HuffmanTable {
  const lengths = codeLengths(frequencies);
  const counts = limitedCounts(lengths);
  const symbols = Array.from({ length: SYMBOLS }, (_, symbol) => symbol)
    .filter((symbol) => (lengths[symbol] ?? 0) > 0)
    .toSorted((one, other) => (lengths[one] ?? 0) - (lengths[other] ?? 0));
  return { counts, symbols: Uint8Array.from(symbols) };
}

interface Node {
  readonly frequency: number;
  /** Symbol of the rarer part: among nodes of one frequency, that of the higher symbol is merged first. */
  readonly symbol: number;
  readonly symbols: readonly number[];
}

/**
 * Returns the lengths of the codes of all symbols, in bits; 0 for those that do not occur. A reserved symbol behind them takes the code
 * of ones only, which a JPEG must not use.
 */
function codeLengths(frequencies: Uint32Array): Uint8Array {
  const lengths = new Uint8Array(SYMBOLS + 1);
  const nodes: Node[] = [...frequencies, 1]
    .map((frequency, symbol) => ({ frequency, symbol, symbols: [symbol] }))
    .filter(({ frequency }) => frequency > 0)
    .toSorted((one, other) => (isRarer(one, other) ? 1 : -1));
  for (let [rare, other] = [nodes.pop(), nodes.pop()]; rare && other; [rare, other] = [nodes.pop(), nodes.pop()]) {
    const symbols = [...rare.symbols, ...other.symbols];
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
    const merged = { frequency: rare.frequency + other.frequency, symbol: rare.symbol, symbols };
    nodes.splice(nodes.findLastIndex((node) => isRarer(merged, node)) + 1, 0, merged);
  }
  return lengths;
}

function isRarer(one: Node, other: Node): boolean {
  return one.frequency === other.frequency ? one.symbol > other.symbol : one.frequency < other.frequency;
}

/**
 * Returns the number of codes by length, none longer than 16 bits: two codes that are too long become one bit shorter, for which a
 * shorter code becomes the prefix of two. The longest code is that of the reserved symbol, and not counted.
 */
function limitedCounts(lengths: Uint8Array): Uint8Array {
  const counts = Array.from({ length: SYMBOLS + 1 }, () => 0);
  for (const length of lengths) if (length > 0) counts[length] = (counts[length] ?? 0) + 1;
  const add = (length: number, count: number): void => {
    counts[length] = (counts[length] ?? 0) + count;
  };
  for (let length = counts.findLastIndex(isUsed); length > MAX_LENGTH; length = counts.findLastIndex(isUsed)) {
    const shorter = counts.findLastIndex((count, at) => at <= length - 2 && count > 0);
    add(length, -2);
    add(length - 1, 1);
    add(shorter + 1, 2);
    add(shorter, -1);
  }
  add(counts.findLastIndex(isUsed), -1);
  return Uint8Array.from(counts.slice(1, MAX_LENGTH + 1));
}

function isUsed(count: number): boolean {
  return count > 0;
}
