import { describe, expect, it } from 'vitest';
import { makeOrientationTiff, readOrientation } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { stripHeif } from '#worker-image/engine/image/strip/strip-heif.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const TIFF = makeOrientationTiff(8);
/** Data of the items: image, EXIF, XMP and thumbnail, with unreferenced bytes at the end. */
const PARTS: readonly (readonly [type: string, data: Buffer])[] = [
  ['hvc1', Buffer.from('IMAGE')],
  ['Exif', Buffer.concat([hex('00000000'), TIFF, Buffer.from('SECRET')])],
  ['mime', Buffer.from('SECRET XMP')],
  ['hvc1', Buffer.from('SECRET THUMBNAIL')],
];

/** Returns a file with these items; item 4 is the thumbnail of item 1. */
function heif(...after: readonly Buffer[]): Buffer {
  const ftyp = box('ftyp', 'heic', hex('00000000'));
  const names = PARTS.map(([type], index) => box('infe', hex(`02000000 000${index + 1} 0000`), type));
  const make = (dataAt: number): Buffer => {
    let at = dataAt;
    const rows = PARTS.map(([, { length }], index) => {
      const row = hex(`000${index + 1} 0000 0001 00000000 00000000`);
      row.writeUInt32BE(at, 6);
      row.writeUInt32BE(length, 10);
      at += length;
      return row;
    });
    return Buffer.concat([
      ftyp,
      box(
        'meta',
        hex('00000000'),
        box('iinf', hex('00000000 0004'), ...names),
        box('iloc', hex('00000000 4400 0004'), ...rows),
        box('iref', hex('00000000'), box('thmb', hex('0004 0001 0001'))),
        box('iprp', box('ipco', box('ispe', hex('00')), box('udes', 'SECRET DESCRIPTION'))),
      ),
    ]);
  };
  const head = make(make(0).length + 8);
  return Buffer.concat([head, box('mdat', ...PARTS.map(([, data]) => data), 'SECRET REST'), ...after]);
}

describe('stripHeif', () => {
  it('blanks EXIF, XMP, thumbnail, descriptions and unreferenced bytes, and keeps the image where it was', () => {
    const stripped = stripHeif(heif());
    expect([stripped.includes('SECRET'), heif().includes('SECRET')]).toEqual([false, true]);
    expect([stripped.length, stripped.indexOf('IMAGE')]).toEqual([heif().length, heif().indexOf('IMAGE')]);
  });

  it('keeps the orientation of EXIF in a structure that can be read', () => {
    const stripped = stripHeif(heif());
    const exif = heif().indexOf(TIFF);
    expect(readOrientation(stripped.subarray(exif, exif + TIFF.length))).toBe(8);
  });

  it('marks the thumbnail hidden and removes its reference', () => {
    const stripped = stripHeif(heif());
    expect(stripped.includes('thmb')).toBe(false);
    const flags = (file: Buffer): number[] =>
      [...file.toString('latin1').matchAll(/infe/g)].map(({ index }) => file.readUInt32BE(index + 4) & 1);
    expect([flags(heif()), flags(stripped)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 1],
    ]);
  });

  it.each(['uuid', 'udta', 'mpvd'])('replaces a box %s at the top level by an empty one', (type) => {
    const stripped = stripHeif(heif(box(type, 'SECRET BOX')));
    expect(stripped.subarray(heif().length).equals(box('free', Buffer.alloc(10)))).toBe(true);
  });

  it('blanks the dates of a sequence', () => {
    const movie = (dates: string): Buffer => box('moov', box('mvhd', hex(`00000000 ${dates} 0000000a`)));
    const stripped = stripHeif(heif(movie('aabbccdd aabbccdd')));
    expect(stripped.subarray(heif().length).equals(movie('00000000 00000000'))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['no list of items', box('ftyp', 'heic')],
    ['truncated data', heif().subarray(0, -1)],
    ['a table that claims 65,535 items', box('meta', hex('00000000'), box('iloc', hex('00000000 4400 ffff')))],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripHeif(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });

  it('strips a file with thousands of nested tracks', () => {
    const depth = 20_000;
    const heads = Array.from({ length: depth }, (_, index) => {
      const head = box('moov');
      head.writeUInt32BE((depth - index) * 8);
      return head;
    });
    const file = Buffer.concat([heif(), ...heads]);
    expect(stripHeif(file).length).toBe(file.length);
  });

  it('strips a file whose EXIF begins beyond its item', () => {
    const file = heif();
    file.writeUInt32BE(0xffff_ffff, file.indexOf(TIFF) - 4);
    expect(stripHeif(file).includes('SECRET')).toBe(false);
  });
});
