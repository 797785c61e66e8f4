import { describe, expect, it } from 'vitest';
import { loneSurrogateAt, readWtf8, writeWtf8 } from '#worker-image/engine/table/wtf8.ts';

describe('WTF-8', () => {
  it.each(['', 'a', 'é日😀', '\ufffd', '힣\ud7ff', '\ud800', 'a\udfffb', '\udc00\ud800', '\ufffd\udbff😀\udbff'])(
    'keeps %j',
    (text) => {
      const bytes = Buffer.alloc(64);
      const length = writeWtf8(bytes, 2, text);
      expect(readWtf8(bytes, 2, 2 + length)).toBe(text);
      if (text.isWellFormed()) expect(bytes.subarray(2, 2 + length)).toEqual(Buffer.from(text));
    },
  );

  it('finds a lone surrogate, but no character of the same first byte', () => {
    const bytes = Buffer.alloc(8);
    writeWtf8(bytes, 0, '힣\udabc');
    expect([loneSurrogateAt(bytes, 0), loneSurrogateAt(bytes, 3)]).toEqual([null, 0xdabc]);
  });
});
