import { describe, expect, it } from 'vitest';
import { alignToFour, FLAVOR, hasCffOutlines, readSfnt, writeSfnt } from '#worker-image/engine/font/sfnt.ts';

const HEAD = { tag: 'head', checksum: 1, data: Buffer.alloc(54) };
const MAXP = { tag: 'maxp', checksum: 2, data: Buffer.from('000100000003', 'hex') };
const GLYF = { tag: 'glyf', checksum: 3, data: Buffer.from('abcde') };

/** Offsets of the directory's records: tag, checksum, offset and length, in the order of the tags. */
const record = (index: number): { offset: number; length: number } => ({
  offset: 12 + 16 * index + 8,
  length: 12 + 16 * index + 12,
});

function font(change: (bytes: Buffer) => unknown = () => {}): Buffer {
  const bytes = writeSfnt(FLAVOR.trueType, [MAXP, GLYF, HEAD]);
  change(bytes);
  return bytes;
}

describe('readSfnt', () => {
  it('returns the tables that writeSfnt wrote, sorted by tag, with their bytes in the given order', () => {
    const { tables, glyphs, flavor, bytes } = readSfnt(font());
    expect([flavor, glyphs]).toEqual([FLAVOR.trueType, 3]);
    expect(tables).toEqual([
      { tag: 'glyf', checksum: 3, offset: 68, length: 5 },
      { tag: 'head', checksum: 1, offset: 76, length: 54 },
      { tag: 'maxp', checksum: 2, offset: 60, length: 6 },
    ]);
    expect(bytes.toString('latin1', 68, 73)).toBe('abcde');
    expect(bytes.readUInt16BE(6)).toBe(32);
  });

  it('accepts two tables that share exactly the same bytes', () => {
    const shared = font((bytes) => {
      bytes.copy(bytes, record(0).offset, record(2).offset, record(2).offset + 8);
    });
    expect(readSfnt(shared).tables[0]).toMatchObject({ tag: 'glyf', offset: 60, length: 6 });
  });

  it.each<readonly [string, Buffer, string]>([
    ['an empty file', Buffer.alloc(0), 'header'],
    ['a collection of fonts', font((bytes) => bytes.write('ttcf', 'latin1')), '0x74746366'],
    ['no tables', font((bytes) => bytes.writeUInt16BE(0, 4)), '0 tables'],
    ['more tables than fit', font((bytes) => bytes.writeUInt16BE(0xffff, 4)), '65535 tables'],
    ['a truncated directory', font().subarray(0, 59), '3 tables'],
    ['a table inside the directory', font((bytes) => bytes.writeUInt32BE(8, record(0).offset)), '"glyf"'],
    ['a table beyond the end', font((bytes) => bytes.writeUInt32BE(0xffff_ffff, record(1).length)), '"head"'],
    ['a table over another one', font((bytes) => bytes.writeUInt32BE(12, record(2).length)), '"glyf"'],
    ['a table twice', font((bytes) => bytes.write('maxp', 12, 'latin1')), 'twice'],
    ['no table of glyphs', font((bytes) => bytes.write('maxq', 12 + 32, 'latin1')), 'maxp'],
    ['a truncated count of glyphs', font((bytes) => bytes.writeUInt32BE(5, record(2).length)), 'maxp'],
    ['zero glyphs', font((bytes) => bytes.writeUInt16BE(0, 64)), 'glyphs'],
  ])('refuses a font with %s', (_what, bytes, reason) => {
    expect(() => readSfnt(bytes)).toThrow(reason);
  });
});

describe('hasCffOutlines', () => {
  it.each([
    ['CFF ', true],
    ['CFF2', true],
    ['glyf', false],
  ])('decides on a font with the table %j: %j', (tag, expected) => {
    expect(hasCffOutlines(readSfnt(writeSfnt(FLAVOR.openType, [{ ...GLYF, tag }, HEAD, MAXP])))).toBe(expected);
  });
});

describe('alignToFour', () => {
  it.each([
    [0, 0],
    [1, 4],
    [4, 4],
    [0xffff_ffff, 2 ** 32],
  ])('rounds %d up to %d, also beyond 31 bits', (length, aligned) => {
    expect(alignToFour(length)).toBe(aligned);
  });
});
