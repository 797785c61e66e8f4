import { describe, expect, it } from 'vitest';
import { writeTiff, type Tag } from '#test/fixtures/write-tiff.ts';
import { hasTiffLayers, stripTiff } from '#worker-image/engine/image/strip/strip-tiff.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');
const PIXELS = Buffer.from('PIXELS');
const text = (id: number, value: string): Tag => ({ id, type: 'ascii', values: [...Buffer.from(`${value}\0`)] });
const IMAGE: readonly Tag[] = [
  { id: 256, type: 'short', values: [2] },
  { id: 273, type: 'long', values: 'picture' },
  { id: 274, type: 'short', values: [6] },
  { id: 279, type: 'long', values: [PIXELS.length] },
];
const page = (...tags: readonly Tag[]): Buffer =>
  writeTiff(
    HEADER,
    [...IMAGE, ...tags].toSorted((one, other) => one.id - other.id),
    PIXELS,
  );

describe('hasTiffLayers', () => {
  it.each([
    ['layers', 37_724, 'MIB8ryaL', true],
    ['layers of 16 bits in another byte order', 37_724, '8BIMLr16', true],
    ['other data of Photoshop', 37_724, 'MIB8ttaP', false],
    ['a text that names layers', 270, '8BIMLayr', false],
  ])('recognizes %s', (_what, tag, name, expected) => {
    expect(hasTiffLayers(page(text(tag, `Adobe Photoshop Document Data Block\0${name}`)))).toBe(expected);
  });
});

describe('stripTiff', () => {
  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it('removes the tags that do not describe the image, and their values', () => {
    const stripped = stripTiff(page(text(271, 'maker of cameras'), text(305, 'software'), text(34_853, 'location')));
    expect(stripped.readUInt16LE(8)).toBe(IMAGE.length);
    expect(stripped.toString('latin1')).not.toMatch(/maker|software|location/);
    expect([stripped.includes(PIXELS), stripped.readUInt16LE(10 + 2 * 12)]).toEqual([true, 274]);
  });

  it('keeps a file without metadata byte for byte', () => {
    expect(stripTiff(page()).equals(page())).toBe(true);
  });

  it('cuts bytes after the last one that a tag refers to', () => {
    expect(stripTiff(Buffer.concat([page(), Buffer.from('left by an editor')])).equals(page())).toBe(true);
  });

  it('blanks bytes before the last one that a tag refers to', () => {
    const left = Buffer.from('left by an editor ');
    const file = writeTiff(Buffer.concat([HEADER, left]), IMAGE, PIXELS);
    file.writeUInt32LE(HEADER.length + left.length, 4);
    expect(stripTiff(file).equals(Buffer.from(file).fill(0, HEADER.length, HEADER.length + left.length))).toBe(true);
  });

  it('keeps unreferenced bytes of an old JPEG, in which only its decoder finds the tables', () => {
    const old: Tag = { id: 259, type: 'short', values: [6] };
    const stripped = stripTiff(Buffer.concat([page(old, text(271, 'maker of cameras')), Buffer.from('tables')]));
    expect([stripped.includes('tables'), stripped.includes('maker')]).toEqual([true, false]);
  });

  it('removes a page that is a reduced copy of another one', () => {
    const first = page();
    const end = first.length;
    const reduced = Buffer.alloc(2 + 12 + 4);
    reduced.writeUInt16LE(1);
    reduced.write('fe0004000100000001000000', 2, 'hex');
    const file = Buffer.concat([first, reduced]);
    file.writeUInt32LE(end, 8 + 2 + IMAGE.length * 12);
    expect(stripTiff(file).equals(first)).toBe(true);
  });

  const PREVIEW: Tag = { id: 254, type: 'long', values: [1] };

  it('removes a preview before the image', () => {
    const preview = page(PREVIEW);
    const image = page().subarray(HEADER.length);
    const at = preview.length;
    const file = Buffer.concat([preview, image]);
    file.writeUInt32LE(at, HEADER.length + 2 + (IMAGE.length + 1) * 12);
    // The offset of the pixels.
    file.writeUInt32LE(file.lastIndexOf(PIXELS), at + 2 + 12 + 8);
    const stripped = stripTiff(file);
    expect([stripped.readUInt32LE(4), stripped.indexOf(PIXELS), stripped.length]).toEqual([
      at,
      file.lastIndexOf(PIXELS),
      file.length,
    ]);
  });

  it('refuses a preview that contains the image', () => {
    expect(() => stripTiff(page(PREVIEW, { id: 330, type: 'long', values: [8] }))).toThrow('begins with a preview');
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['truncated pixels', page().subarray(0, -1)],
    ['pixels beyond the end', writeTiff(HEADER, IMAGE.slice(0, 3), PIXELS).subarray(0, 40)],
    ['a cycle of pages', Buffer.from(page()).fill(8, 8 + 2 + 48, 8 + 2 + 49)],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripTiff(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
