import { createHash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseFilters, decodeFilter, type PdfFilter } from '#worker-image/engine/pdf/decode-filters.ts';

/** Digits of hashes, which fill LZW's code table more than once. */
const TEXT = Buffer.from(
  Array.from({ length: 300 }, (_, index) => createHash('sha256').update(String(index)).digest('hex')).join(''),
);

async function decoded(
  filter: PdfFilter,
  packed: Buffer,
  { step = packed.length, dictionary = '' } = {},
): Promise<Buffer> {
  async function* parts(): AsyncGenerator<Buffer> {
    for (let at = 0; at < packed.length; at += step) yield packed.subarray(at, at + step);
  }
  const pieces: Buffer[] = [];
  for await (const piece of decodeFilter(filter, parts(), dictionary)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('decodeFilter', () => {
  it.each([1, 7, 100_000])('decodes every filter in pieces of %d bytes', async (step) => {
    expect(await decoded('flate', deflateSync(TEXT), { step })).toEqual(TEXT);
    expect(await decoded('hex', Buffer.from(`${TEXT.toString('hex')} >ff`), { step })).toEqual(TEXT);
    expect(await decoded('lzw', lzw(TEXT, 1), { step })).toEqual(TEXT);
    expect(await decoded('lzw', lzw(TEXT, 0), { step, dictionary: '/EarlyChange 0' })).toEqual(TEXT);
    expect(await decoded('runs', Buffer.from([2, 1, 2, 3, 254, 9, 128, 7]), { step })).toEqual(
      Buffer.from([1, 2, 3, 9, 9, 9]),
    );
    expect(
      await decoded('ascii85', Buffer.from(":i'QSDBO%4G]Y'PBln#2H=_,8F#kEDz+CT.u+CT.1ASu$2~>tail"), { step }),
    ).toEqual(Buffer.from('Plain text with zeros: \0\0\0\0\0 and an end.'));
  });

  it('ends or throws at damaged data', async () => {
    for (const filter of ['lzw', 'runs', 'ascii85', 'hex'] as const) {
      const { length } = await decoded(filter, randomBytes(10_000));
      expect(length).toBeLessThan(100_000);
    }
    await expect(decoded('flate', randomBytes(100))).rejects.toThrow();
  });
});

describe('parseFilters', () => {
  it.each([
    ['/Filter /FlateDecode', [['flate']]],
    ['/Filter[/A85/LZW /RL]', [['ascii85', 'lzw', 'runs']]],
    ['/Filter /Run#4cengthDecode', [['runs']]],
    ['/Filter [/DCTDecode] /Resources << /Font << /Fl 1 0 R >> >>', []],
    ['/P << /Filter /AHx >> /Filter /Fl', [['hex'], ['flate']]],
    ['/Filter [/A85] /P [] /Filter [/Fl /Filter /AHx', [['ascii85'], ['hex']]],
  ])('returns the filters of %s', (dictionary, filters) => {
    expect(parseFilters(dictionary)).toEqual(filters);
  });
});

/** Encodes with LZW. Independent of the decoder: the code table is a map from text to code. */
function lzw(plain: Buffer, early: 0 | 1): Buffer {
  const bits: string[] = [];
  let [table, next, known] = [new Map<string, number>(), 258, ''];
  const width = (): number => Math.min(12, Math.max(9, 32 - Math.clz32(next - 1 + early)));
  const codeOf = (text: string): number => (text.length === 1 ? text.charCodeAt(0) : (table.get(text) ?? -1));
  const put = (code: number): number => bits.push(code.toString(2).padStart(width(), '0'));
  put(256);
  for (const letter of plain.toString('latin1')) {
    if (codeOf(known + letter) !== -1) {
      known += letter;
      continue;
    }
    put(codeOf(known));
    table.set(known + letter, next);
    next += 1;
    if (next > 4094) {
      put(256);
      [table, next] = [new Map(), 258];
    }
    known = letter;
  }
  put(codeOf(known));
  next += 1;
  put(257);
  const all = bits.join('').match(/.{1,8}/g) ?? [];
  return Buffer.from(all.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}
