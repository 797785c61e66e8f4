import { describe, expect, it } from 'vitest';
import {
  readBoxes,
  readItemProperties,
  readItems,
  verifyLocations,
} from '#worker-image/engine/containers/heif-items.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? bytes(part) : part)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

/** The content of a `meta` box: version and flags, then boxes. */
const meta = (...boxes: readonly Buffer[]): Buffer => Buffer.concat([bytes('00000000'), ...boxes]);
const whole = (file: Buffer): { body: number; end: number } => ({ body: 0, end: file.length });
const item = (version: string, id: string, type: string): Buffer =>
  box('infe', `${version}000000`, id, '0000', Buffer.from(type));
/** Two items, one with a 16-bit id and one with a 32-bit id. */
const NAMES = box('iinf', '00000000 0002', item('02', '0001', 'hvc1'), item('03', '00000002', 'Exif'));

const damaged = expect.objectContaining({ code: 'processing_failed' });

describe('readItems', () => {
  it('returns id, type, position of the flags and extents of each item', () => {
    // Offsets and lengths of 4 bytes; item 1 has two extents, item 2 begins at its base offset of 4 bytes.
    const locations = box(
      'iloc',
      '00000000 4440 0002',
      ['0001 0000 00000000 0002 00000004 00000003 00000010 00000002', '0002 0000 00000020 0001 00000001 00000005'].join(
        '',
      ),
    );
    const file = meta(NAMES, locations);
    expect(readItems(file, whole(file)).items).toEqual([
      {
        id: 1,
        type: 'hvc1',
        flagsAt: 29,
        extents: [
          { start: 4, end: 7 },
          { start: 16, end: 18 },
        ],
      },
      { id: 2, type: 'Exif', flagsAt: 49, extents: [{ start: 33, end: 38 }] },
    ]);
  });

  it('adds the offset of idat to extents of construction method 1, and skips those of method 2', () => {
    const locations = box(
      'iloc',
      '01000000 4400 0002',
      '0001 0001 0000 0001 00000001 00000002',
      '0002 0002 0000 0001 00000001 00000002',
    );
    const file = meta(box('idat', 'aabbccdd'), NAMES, locations);
    expect(readItems(file, whole(file)).items.map(({ extents }) => extents)).toEqual([[{ start: 13, end: 15 }], []]);
  });

  it('ends an extent that is longer than the file at the end of the file', () => {
    const locations = box('iloc', '00000000 4400 0001', '0001 0000 0001 00000004 ffffffff');
    const file = meta(NAMES, locations);
    expect(readItems(file, whole(file)).items[0]?.extents).toEqual([{ start: 4, end: file.length }]);
  });

  it('returns references with their types', () => {
    const file = meta(box('iref', '00000000', box('thmb', '0002 0001 0001'), box('cdsc', '0003 0002 0001 0002')));
    expect(readItems(file, whole(file)).references.map(({ type, from, to }) => [type, from, to])).toEqual([
      ['thmb', 2, [1]],
      ['cdsc', 3, [1, 2]],
    ]);
  });

  it('returns nothing of a file without tables', () => {
    expect(readItems(meta(), whole(meta()))).toEqual({ items: [], references: [], properties: [] });
  });

  it.each<readonly [string, Buffer]>([
    ['locations that claim 65,535 items', meta(NAMES, box('iloc', '00000000 4400 ffff'))],
    ['an item that claims 65,535 extents', meta(NAMES, box('iloc', '00000000 4400 0001 0001 0000 ffff'))],
    ['extents without offset and length', meta(NAMES, box('iloc', '00000000 0000 0001 0001 0000 0001'))],
    ['a truncated reference', meta(box('iref', '00000000', box('thmb', '0002 ffff 0001')))],
    ['a box longer than its container', meta(Buffer.concat([bytes('000000ff'), Buffer.from('iinf')]))],
    ['a name longer than its list', meta(box('iinf', '00000000 0001', 'ffffffff', Buffer.from('infe')))],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => readItems(file, whole(file))).toThrow(damaged);
  });
});

describe('verifyLocations', () => {
  const extents = (count: number): Buffer =>
    Buffer.concat([bytes('00000000 4400 0001 0001 0000'), Buffer.from([0, count]), Buffer.alloc(count * 8)]);

  it('accepts an item with 32 extents', () => {
    expect(() => verifyLocations(extents(32))).not.toThrow();
  });

  it.each<readonly [string, Buffer, string]>([
    ['an item with 33 extents', extents(33), '33 extents'],
    ['extents without offset and length', bytes('00000000 0000 0001 0001 0000 0001'), 'no width'],
    ['a truncated table', extents(32).subarray(0, -1), 'truncated'],
  ])('refuses %s', (_what, table, reason) => {
    expect(() => verifyLocations(table)).toThrow(damaged);
    expect(() => verifyLocations(table)).toThrow(reason);
  });
});

describe('readItemProperties', () => {
  const container = box('ipco', box('ispe', '00'), box('irot', '01'));

  it.each([
    ['7 bits', '00000000 00000001 0001 02 02 81'],
    ['15 bits', '00000001 00000001 0001 02 0002 8001'],
    ['7 bits and 32-bit ids', '01000000 00000001 00000001 02 02 81'],
  ])('returns the properties of an item by indexes of %s, in order, with the essential ones', (_width, list) => {
    const file = meta(box('iprp', container, box('ipma', list)));
    const properties = readItemProperties(file, whole(file));
    expect(properties?.(1).map(({ box: { type }, isEssential }) => [type, isEssential])).toEqual([
      ['irot', false],
      ['ispe', true],
    ]);
    expect(properties?.(7)).toEqual([]);
  });

  it('skips indexes without a property', () => {
    const file = meta(box('iprp', container, box('ipma', '00000000 00000001 0001 02 00 09')));
    expect(readItemProperties(file, whole(file))?.(1)).toEqual([]);
  });

  it('returns null without a table, and throws for one that claims more items than bytes', () => {
    expect(readItemProperties(meta(), whole(meta()))).toBeNull();
    const file = meta(box('iprp', container, box('ipma', '00000000 ffffffff')));
    expect(() => readItemProperties(file, whole(file))).toThrow(RangeError);
  });
});

describe('readBoxes', () => {
  it('refuses a box that is longer than its container', () => {
    const file = Buffer.concat([box('free', 'aabb'), box('mdat', 'cc')]);
    expect(readBoxes(file, 0, file.length).map(({ type }) => type)).toEqual(['free', 'mdat']);
    expect(() => readBoxes(file, 0, file.length - 1)).toThrow(damaged);
  });
});
