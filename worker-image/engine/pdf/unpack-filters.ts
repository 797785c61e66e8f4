/**
 * The filters that a PDF's stream may be packed by and that make it larger when they are undone, as streams of
 * bytes: each piece is small, however much comes after it. Images' own filters are not among them.
 * Damaged data ends what they give, or throws. Source: ISO 32000-2, 7.4.
 */
import { pipeline, Readable } from 'node:stream';
import { constants, createInflate } from 'node:zlib';
import { makeLzwStep } from '#worker-image/engine/pdf/lzw.ts';
import { Piece, type Step } from '#worker-image/engine/pdf/unpacked-piece.ts';

export type Bytes = AsyncIterable<Buffer>;

export type Filter = 'flate' | 'lzw' | 'runs' | 'ascii85' | 'hex';

const NAMES: ReadonlyMap<string, Filter> = new Map([
  ['FlateDecode', 'flate'],
  ['Fl', 'flate'],
  ['LZWDecode', 'lzw'],
  ['LZW', 'lzw'],
  ['RunLengthDecode', 'runs'],
  ['RL', 'runs'],
  ['ASCII85Decode', 'ascii85'],
  ['A85', 'ascii85'],
  ['ASCIIHexDecode', 'hex'],
  ['AHx', 'hex'],
]);

/** More in a row are not undone: one is common, two are rare. */
const MAX_FILTERS = 8;

/**
 * The filters that each `/Filter` of a stream's dictionary names, in the order in which they are undone. Which
 * of them is the stream's own, tools may see in different ways. Filters of images are left out.
 */
export function filtersOf(dictionary: string): Filter[][] {
  const plain = dictionary.replaceAll(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  return [...plain.matchAll(/\/Filter\s*(\[[^\]]*\]|\/\w+)/g)].flatMap(([, value = '']) => {
    const filters = [...value.matchAll(/\/(\w+)/g)].flatMap(([, name = '']) => NAMES.get(name) ?? []);
    return filters.length === 0 ? [] : [filters.slice(0, MAX_FILTERS)];
  });
}

/** Undoes one filter. `dictionary` holds its parameters. */
export function unpack(filter: Filter, packed: Bytes, dictionary: string): Bytes {
  switch (filter) {
    case 'flate':
      return inflate(packed);
    case 'lzw':
      return through(packed, makeLzwStep(/\/EarlyChange\s+0\b/.test(dictionary) ? 0 : 1));
    case 'runs':
      return through(packed, makeRunsStep());
    case 'ascii85':
      return through(packed, makeAscii85Step());
    case 'hex':
      return through(packed, makeHexStep());
  }
}

async function* inflate(packed: Bytes): AsyncGenerator<Buffer> {
  const source = Readable.from(packed);
  const engine = createInflate({ chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  // Its errors come out of the loop.
  pipeline(source, engine, () => undefined);
  try {
    yield* engine as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    engine.destroy();
  }
}

/** Ends where a step finds the end of the data. */
async function* through(packed: Bytes, step: Step): AsyncGenerator<Buffer> {
  for await (const chunk of packed) {
    if (yield* step(chunk)) return;
  }
}

const END_OF_RUNS = 128;

/** A length byte up to 127 stands before as many bytes and one more, a higher one before a byte that is repeated. */
function makeRunsStep(): Step {
  let [literals, repeats] = [0, 0];
  return function* step(chunk) {
    const out = new Piece();
    for (const byte of chunk) {
      if (literals > 0) {
        out.put(byte, 1);
        literals -= 1;
      } else if (repeats > 0) {
        out.put(byte, repeats);
        repeats = 0;
      } else if (byte === END_OF_RUNS) {
        yield out.take();
        return true;
      } else if (byte < END_OF_RUNS) literals = byte + 1;
      else repeats = 257 - byte;
      if (out.isFull) yield out.take();
    }
    yield out.take();
    return false;
  };
}

const [LETTER_Z, TILDE, FIRST_DIGIT] = [0x7a, 0x7e, 0x21];

/** Five digits of base 85 are four bytes, `z` is four zeros, `~` the end. */
function makeAscii85Step(): Step {
  let digits: number[] = [];
  return function* step(chunk) {
    const out = new Piece();
    for (const byte of chunk) {
      if (byte === TILDE) {
        putGroup(digits, out);
        yield out.take();
        return true;
      }
      const digit = byte - FIRST_DIGIT;
      if (byte === LETTER_Z) out.put(0, 4);
      else if (digit >= 0 && digit < 85) digits.push(digit);
      if (digits.length === 5) {
        putGroup(digits, out);
        digits = [];
      }
      if (out.isFull) yield out.take();
    }
    yield out.take();
    return false;
  };
}

/** A group that is not full stands for one byte less than it has digits. */
function putGroup(digits: readonly number[], out: Piece): void {
  let value = 0;
  for (let index = 0; index < 5; index += 1) value = value * 85 + (digits[index] ?? 84);
  for (let index = 0; index < digits.length - 1; index += 1) out.put(Math.trunc(value / 256 ** (3 - index)) & 0xff, 1);
}

/** Two digits are a byte, `>` is the end. */
function makeHexStep(): Step {
  let digits = '';
  return function* step(chunk) {
    const text = chunk.toString('latin1');
    const end = text.indexOf('>');
    digits += (end === -1 ? text : text.slice(0, end)).replaceAll(/[^\da-f]/gi, '');
    const whole = digits.length - (digits.length % 2);
    yield Buffer.from(digits.slice(0, whole), 'hex');
    digits = digits.slice(whole);
    return end !== -1;
  };
}
