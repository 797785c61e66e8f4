import { describe, expect, it } from 'vitest';
import { makeLzwDecoder } from '#worker-image/engine/containers/lzw.ts';

const [CLEAR, END] = [256, 257];

/** Packs codes, the highest bit first. `widths` are those of each code, in bits. */
function pack(codes: readonly number[], width: (index: number) => number): Buffer {
  const bits = codes.map((code, index) => code.toString(2).padStart(width(index), '0')).join('');
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

/** Returns the text, and whether the data led to an end. */
function decode(encoded: Buffer, early: 0 | 1 = 1): { text: string; ended: boolean } {
  const pieces = makeLzwDecoder(early)(encoded);
  let text = '';
  for (;;) {
    const { value, done } = pieces.next();
    if (done === true) return { text, ended: value };
    text += value.toString('latin1');
  }
}

describe('makeLzwDecoder', () => {
  it('decodes the example of the PDF specification', () => {
    expect(decode(Buffer.from('800b6050220c0c8501', 'hex'))).toEqual({ text: '-----A---B', ended: true });
  });

  it('decodes a code that is defined by itself', () => {
    expect(decode(pack([CLEAR, 97, 258, 259, END], () => 9)).text).toBe('aaaaaa');
  });

  it.each([
    [1, 510],
    [0, 511],
  ] as const)('widens the codes to 10 bits early or not: %d', (early, firstWide) => {
    // After the first byte each code adds one entry, from 258 on.
    const literals = Array.from({ length: 300 }, () => 98);
    const codes = [CLEAR, ...literals, END];
    const encoded = pack(codes, (index) => (index < firstWide - 258 + 3 ? 9 : 10));
    expect(decode(encoded, early)).toEqual({ text: 'b'.repeat(300), ended: true });
  });

  it('forgets its table at a clear code', () => {
    expect(decode(pack([CLEAR, 97, 98, CLEAR, 258, END], () => 9))).toEqual({ text: 'ab', ended: true });
  });

  it('reports data without an end code', () => {
    expect(decode(pack([CLEAR, 97, 98], () => 9))).toEqual({ text: 'ab', ended: false });
  });

  it('ends at an undefined code, and returns nothing for no data', () => {
    expect(decode(pack([CLEAR, 97, 300, 98], () => 9))).toEqual({ text: 'a', ended: true });
    expect(decode(Buffer.alloc(0))).toEqual({ text: '', ended: false });
  });
});
