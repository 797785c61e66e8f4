import { describe, expect, it } from 'vitest';
import { makeOrientationTiff } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

function segment(marker: number, body: Buffer | string, length?: number): Buffer {
  const content = Buffer.from(body as string, 'latin1');
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(length ?? content.length + 2, 2);
  return Buffer.concat([head, content]);
}

const SOI = bytes('ffd8');
const EOI = bytes('ffd9');
const TABLE = segment(0xdb, 'quantization');
/** Coded data with a stuffed 0xff and a restart marker. */
const SCAN = Buffer.concat([segment(0xda, 'scan'), bytes('01 ff00 ffd0 02')]);
const exif = (orientation: number): Buffer =>
  segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), makeOrientationTiff(orientation)]));

const jpeg = (...segments: readonly Buffer[]): Buffer => Buffer.concat([SOI, ...segments, SCAN, EOI]);

describe('stripJpeg', () => {
  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it('keeps the image, the color profile and the color transform, and removes all other segments', () => {
    const [profile, adobe] = [segment(0xe2, 'ICC_PROFILE\0abc'), segment(0xee, 'Adobe.....')];
    const removed = [
      segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0abc'),
      segment(0xe2, 'MPF\0abc'),
      segment(0xed, 'Photoshop 3.0\0'),
      segment(0xfe, 'comment'),
      segment(0xe0, 'JFXX\0'),
    ];
    const stripped = stripJpeg(jpeg(profile, ...removed, adobe, TABLE));
    expect(stripped.equals(jpeg(profile, adobe, TABLE))).toBe(true);
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it('removes the thumbnail of JFIF', () => {
    const jfif = (size: string, thumbnail: string): Buffer =>
      segment(0xe0, Buffer.concat([Buffer.from('JFIF\0'), bytes('0101 00 0001 0001'), bytes(size + thumbnail)]));
    expect(stripJpeg(jpeg(jfif('0101', 'aabbcc'), TABLE)).equals(jpeg(jfif('0000', ''), TABLE))).toBe(true);
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each([
    [1, 0],
    [6, 1],
  ])('keeps orientation %d alone of EXIF, in %d segments', (orientation, segments) => {
    const stripped = stripJpeg(jpeg(exif(orientation), TABLE));
    expect(stripped.equals(jpeg(...Array.from({ length: segments }, () => exif(orientation)), TABLE))).toBe(true);
  });

  it('uses the first one of several EXIF segments, as libvips and browsers do', () => {
    expect(stripJpeg(jpeg(exif(3), exif(8), TABLE)).equals(jpeg(exif(3), TABLE))).toBe(true);
  });

  it('keeps all scans of a progressive image, and nothing after the end marker', () => {
    expect(stripJpeg(Buffer.concat([jpeg(TABLE, SCAN, TABLE), jpeg()])).equals(jpeg(TABLE, SCAN, TABLE))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['no start marker', EOI],
    ['no end marker', jpeg(TABLE).subarray(0, -2)],
    ['a truncated scan', jpeg(TABLE).subarray(0, -3)],
    ['a segment longer than the file', Buffer.concat([SOI, segment(0xdb, 'ab', 0xffff), EOI])],
    ['a segment of length 1', Buffer.concat([SOI, segment(0xdb, 'ab', 1), SCAN, EOI])],
    ['a truncated length', bytes('ffd8 ffdb 00')],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripJpeg(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
