import { describe, expect, it } from 'vitest';
import { FLAVOR, MAX_FONT_BYTES, readSfnt, writeSfnt } from '#worker-image/engine/font/sfnt.ts';
import { readWoff, writeWoff } from '#worker-image/engine/font/woff.ts';

/** A font with a table that deflate makes smaller, and one that it does not. */
const PLAIN = writeSfnt(FLAVOR.openType, [
  { tag: 'maxp', checksum: 1, data: Buffer.from('000100000003', 'hex') },
  { tag: 'head', checksum: 2, data: Buffer.alloc(540) },
]);

/** Offsets of the fields of the first entry, which is `head`: offset, packed length, length. */
const [OFFSET, PACKED, LENGTH] = [48, 52, 56];

function woff(change: (bytes: Buffer) => unknown = () => {}): Buffer {
  const bytes = writeWoff(readSfnt(PLAIN));
  change(bytes);
  return bytes;
}

describe('WOFF', () => {
  // Promise, Direct endpoints: Fonts change their container only; table cells are text
  it('is smaller than the font, and is read back without a changed byte', () => {
    expect(woff().length).toBeLessThan(PLAIN.length);
    expect(readWoff(woff()).equals(PLAIN)).toBe(true);
  });

  it('states its own size and that of the unpacked font', () => {
    expect([woff().readUInt32BE(8), woff().readUInt32BE(16)]).toEqual([woff().length, PLAIN.length]);
  });

  it('stores a table without compression when deflate does not shrink it', () => {
    const maxp = 44 + 20;
    expect(woff().toString('latin1', maxp, maxp + 4)).toBe('maxp');
    expect([woff().readUInt32BE(maxp + 8), woff().readUInt32BE(maxp + 12)]).toEqual([6, 6]);
  });
});

describe('readWoff', () => {
  it.each<readonly [string, Buffer, string]>([
    ['an empty file', Buffer.alloc(0), 'WOFF'],
    ['another signature', woff((bytes) => bytes.write('wOF2', 'latin1')), 'WOFF'],
    ['a collection of fonts', woff((bytes) => bytes.write('ttcf', 4, 'latin1')), 'single font'],
    ['no tables', woff((bytes) => bytes.writeUInt16BE(0, 12)), '0 tables'],
    [
      'more tables than a font header can count',
      Buffer.concat([woff((bytes) => bytes.writeUInt16BE(4096, 12)).subarray(0, 44), Buffer.alloc(4096 * 20)]),
      '4096 tables; the maximum is 1024',
    ],
    ['a truncated directory', woff().subarray(0, 60), '2 tables'],
    ['a table beyond the end', woff((bytes) => bytes.writeUInt32BE(0xffff_ff00, OFFSET)), '"head"'],
    ['a packed table longer than the table', woff((bytes) => bytes.writeUInt32BE(3, LENGTH)), '"head"'],
    ['a truncated table', woff().subarray(0, -8), 'outside'],
    ['a table of 4 GB', woff((bytes) => bytes.writeUInt32BE(0xffff_ffff, LENGTH)), `${MAX_FONT_BYTES}`],
    ['a table that inflates to more', woff((bytes) => bytes.writeUInt32BE(539, LENGTH)), '"head"'],
    ['a table that inflates to less', woff((bytes) => bytes.writeUInt32BE(541, LENGTH)), '540 of 541'],
    ['a damaged zlib stream', woff((bytes) => bytes.fill(0xff, bytes.readUInt32BE(OFFSET))), '"head"'],
    ['a truncated zlib stream', woff((bytes) => bytes.writeUInt32BE(8, PACKED)), '"head"'],
  ])('refuses a font with %s', (_what, bytes, reason) => {
    expect(() => readWoff(bytes)).toThrow(reason);
  });
});
