import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { formatOfIsoBmff } from '#worker-image/engine/identify/iso-bmff.ts';

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const ftyp = (major: string, ...compatible: readonly string[]): Buffer => box('ftyp', major, '\0\0\0\0', ...compatible);
/** A movie with a track for each handler and sample entry. */
const movie = (...tracks: readonly (readonly [handler: string, entry: string])[]): Buffer =>
  box(
    'moov',
    ...tracks.map(([handler, entry]) =>
      box(
        'trak',
        box(
          'mdia',
          box('hdlr', '\0'.repeat(8), handler),
          box('minf', box('stbl', box('stsd', '\0\0\0\0\0\0\0\x01', box(entry)))),
        ),
      ),
    ),
  );
const format = (...boxes: readonly Buffer[]): Promise<string | null> =>
  formatOfIsoBmff(fileReaderOf(Buffer.concat(boxes)));
const VIDEO = ['vide', 'avc1'] as const;
const AUDIO = ['soun', 'mp4a'] as const;

describe('formatOfIsoBmff', () => {
  it.each<readonly [string, readonly Buffer[], string | null]>([
    ['AVIF', [ftyp('avif')], 'avif'],
    ['HEIC', [ftyp('heix')], 'heic'],
    ['a generic image, by its other brands', [ftyp('mif1', 'miaf', 'avif')], 'avif'],
    ['a generic image, by its items', [ftyp('mif1'), box('meta', box('infe', 'hvc1'))], 'heic'],
    ['MP4', [ftyp('isom'), movie(VIDEO, AUDIO)], 'mp4'],
    ['QuickTime', [ftyp('qt  '), movie(VIDEO)], 'mov'],
    ['QuickTime by another brand', [ftyp('unkn', 'qt  '), movie(VIDEO)], 'mov'],
    ['QuickTime without brands', [box('wide'), movie(VIDEO)], 'mov'],
    ['audio in a video container', [ftyp('isom'), movie(AUDIO)], 'm4a'],
    ['an audiobook with chapter images', [ftyp('M4B '), movie(AUDIO, VIDEO)], 'm4a'],
    ['3GP', [ftyp('3gp5'), movie(VIDEO)], '3gp'],
    ['boxes without a movie', [box('free', 'x'.repeat(20))], null],
    ['other bytes', [Buffer.from('nothing of this kind')], null],
    ['a truncated brand', [ftyp('avif').subarray(0, 15)], null],
  ])('returns the format of %s', async (_what, boxes, expected) => {
    expect(await format(...boxes)).toBe(expected);
  });

  it.each<readonly [string, readonly Buffer[], string]>([
    ['HEIF with another codec', [ftyp('mif1', 'jpeg')], 'unsupported_input'],
    ['JPEG 2000', [ftyp('jp2 ')], 'unsupported_input'],
    ['Canon CR3', [ftyp('crx ')], 'unsupported_input'],
    ['an encrypted video', [ftyp('isom'), movie(['vide', 'encv'], AUDIO)], 'processing_failed'],
    ['encrypted audio', [ftyp('M4P '), movie(['soun', 'drms'])], 'processing_failed'],
    ['an audiobook of Audible', [ftyp('M4A '), movie(['soun', 'aavd'])], 'processing_failed'],
  ])('refuses %s', async (_what, boxes, code) => {
    await expect(format(...boxes)).rejects.toMatchObject({ code });
  });

  it('reads no brands behind the size of the first box, or behind 1,024 bytes', async () => {
    const short = ftyp('mif1', 'miaf', 'avif');
    short.writeUInt32BE(20);
    await expect(format(short)).rejects.toMatchObject({ code: 'unsupported_input' });
    const many = ftyp('mif1', ...Array.from({ length: 300 }, () => 'miaf'), 'avif');
    await expect(format(many)).rejects.toMatchObject({ code: 'unsupported_input' });
  });
});
