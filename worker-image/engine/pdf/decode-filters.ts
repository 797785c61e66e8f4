/**
 * Decoders of the PDF stream filters that can expand data, without image filters. They stream: each piece is small,
 * whatever the total. Damaged data ends the output or throws. Source: ISO 32000-2, 7.4.
 */
import { pipeline, Readable } from 'node:stream';
import { constants, createInflate } from 'node:zlib';
import { makeLzwDecoder } from '#worker-image/engine/containers/lzw.ts';
import { FilterOutput, type FilterDecoder } from '#worker-image/engine/containers/filter-output.ts';

export type ByteStream = AsyncIterable<Buffer>;

export type PdfFilter = 'flate' | 'lzw' | 'runs' | 'ascii85' | 'hex';

const NAMES: ReadonlyMap<string, PdfFilter> = new Map([
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

/** Maximum number of chained filters that are decoded: one is common, two are rare. */
const MAX_FILTERS = 8;

/**
 * Returns the filters of every `/Filter` entry in a stream's dictionary, in decoding order. Tools disagree which of
 * several entries is the one of the stream. Omits image filters.
 */
export function parseFilters(dictionary: string): PdfFilter[][] {
  const plain = dictionary.replaceAll(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  // Behind the last bracket no list ends: a search for its end at every entry would take quadratic time.
  const listsEnd = plain.lastIndexOf(']') + 1;
  const entries = [
    ...plain.slice(0, listsEnd).matchAll(/\/Filter\s*(\[[^\]]*\]|\/\w+)/g),
    ...plain.slice(listsEnd).matchAll(/\/Filter\s*(\/\w+)/g),
  ];
  return entries.flatMap(([, value = '']) => {
    const filters = [...value.matchAll(/\/(\w+)/g)].flatMap(([, name = '']) => NAMES.get(name) ?? []);
    return filters.length === 0 ? [] : [filters.slice(0, MAX_FILTERS)];
  });
}

/** Decodes one filter. `dictionary` holds its parameters. */
export function decodeFilter(filter: PdfFilter, encoded: ByteStream, dictionary: string): ByteStream {
  switch (filter) {
    case 'flate':
      return inflate(encoded);
    case 'lzw':
      return decodeWith(encoded, makeLzwDecoder(/\/EarlyChange\s+0\b/.test(dictionary) ? 0 : 1));
    case 'runs':
      return decodeWith(encoded, makeRunLengthDecoder());
    case 'ascii85':
      return decodeWith(encoded, makeAscii85Decoder());
    case 'hex':
      return decodeWith(encoded, makeHexDecoder());
  }
}

async function* inflate(encoded: ByteStream): AsyncGenerator<Buffer> {
  const source = Readable.from(encoded);
  const engine = createInflate({ chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  // `yield*` below throws its errors.
  pipeline(source, engine, () => undefined);
  try {
    yield* engine as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    engine.destroy();
  }
}

/** Decodes pieces until the decoder finds the end of the data. */
async function* decodeWith(encoded: ByteStream, decode: FilterDecoder): AsyncGenerator<Buffer> {
  for await (const chunk of encoded) {
    if (yield* decode(chunk)) return;
  }
}

const END_OF_RUNS = 128;

/** Returns a decoder. A length byte n up to 127 precedes n + 1 literal bytes, a higher one a byte for 257 - n times. */
function makeRunLengthDecoder(): FilterDecoder {
  let [literals, repeats] = [0, 0];
  return function* decode(chunk) {
    const out = new FilterOutput();
    for (const byte of chunk) {
      if (literals > 0) {
        out.write(byte, 1);
        literals -= 1;
      } else if (repeats > 0) {
        out.write(byte, repeats);
        repeats = 0;
      } else if (byte === END_OF_RUNS) {
        yield out.flush();
        return true;
      } else if (byte < END_OF_RUNS) literals = byte + 1;
      else repeats = 257 - byte;
      if (out.isFull) yield out.flush();
    }
    yield out.flush();
    return false;
  };
}

const [LETTER_Z, TILDE, FIRST_DIGIT] = [0x7a, 0x7e, 0x21];

/** Returns a decoder. Five base-85 digits are four bytes, `z` is four zeros, `~` is the end. */
function makeAscii85Decoder(): FilterDecoder {
  let digits: number[] = [];
  return function* decode(chunk) {
    const out = new FilterOutput();
    for (const byte of chunk) {
      if (byte === TILDE) {
        writeGroup(digits, out);
        yield out.flush();
        return true;
      }
      const digit = byte - FIRST_DIGIT;
      if (byte === LETTER_Z) out.write(0, 4);
      else if (digit >= 0 && digit < 85) digits.push(digit);
      if (digits.length === 5) {
        writeGroup(digits, out);
        digits = [];
      }
      if (out.isFull) yield out.flush();
    }
    yield out.flush();
    return false;
  };
}

/** Writes a group; an incomplete one has one byte less than digits. */
function writeGroup(digits: readonly number[], out: FilterOutput): void {
  let value = 0;
  for (let index = 0; index < 5; index += 1) value = value * 85 + (digits[index] ?? 84);
  for (let index = 0; index < digits.length - 1; index += 1)
    out.write(Math.trunc(value / 256 ** (3 - index)) & 0xff, 1);
}

/** Returns a decoder. Two digits are a byte, `>` is the end. */
function makeHexDecoder(): FilterDecoder {
  let digits = '';
  return function* decode(chunk) {
    const text = chunk.toString('latin1');
    const end = text.indexOf('>');
    digits += (end === -1 ? text : text.slice(0, end)).replaceAll(/[^\da-f]/gi, '');
    const whole = digits.length - (digits.length % 2);
    yield Buffer.from(digits.slice(0, whole), 'hex');
    digits = digits.slice(whole);
    return end !== -1;
  };
}
