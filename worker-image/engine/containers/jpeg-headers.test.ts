import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { jpegFrameMarker, readJpegHeaders } from '#worker-image/engine/containers/jpeg-headers.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('jpegFrameMarker', () => {
  it.each<readonly [string, string, number | null]>([
    ['a baseline image', 'ffd8 ffe0 0004 abcd ffdb 0003 00 ffc0 0008', 0xc0],
    ['a progressive image', 'ffd8 ffc4 0003 00 ffc2 0008', 0xc2],
    ['an image with arithmetic codes', 'ffd8 ffcc 0004 0010 ffc9 0008', 0xc9],
    ['fill bytes before a marker', 'ffd8 ffff ffdb 0003 00 ff ffc1 0008', 0xc1],
    ['a marker inside of a segment', 'ffd8 ffe1 0006 ffc0 0000 ffc9 0008', 0xc9],
    ['no frame before the scan', 'ffd8 ffda 0003 00 ffc0 0008', null],
    ['a truncated file', 'ffd8 ff', null],
    ['a segment of length 0 at the end', 'ffd8 ffdb 0000', null],
  ])('returns for %s the marker of its frame', (_what, hex, marker) => {
    expect(jpegFrameMarker(bytes(hex))).toBe(marker);
  });
});

describe('readJpegHeaders', () => {
  const segment = Buffer.concat([bytes('ffe1 ffff'), Buffer.alloc(0xfffd)]);
  const scan = bytes('ffda 0003 00 12 34');

  async function headersOf(...parts: readonly Buffer[]): Promise<Buffer> {
    const path = join(await freshDirectory(), 'image.jpg');
    await writeFile(path, Buffer.concat(parts));
    return withFileReader(path, readJpegHeaders);
  }

  it('returns everything before the first scan', async () => {
    const short = bytes('ffd8 ffe0 0004 abcd');
    expect(await headersOf(short, scan)).toEqual(short);
    const long = Buffer.concat([short, segment, segment]);
    expect((await headersOf(long, scan)).equals(long)).toBe(true);
  });

  it('returns the first 512 KiB of a file without a scan before', async () => {
    const start = [bytes('ffd8'), ...Array.from({ length: 9 }, () => segment)];
    const expected = Buffer.concat(start).subarray(0, 512 * 1024);
    expect((await headersOf(...start, scan)).equals(expected)).toBe(true);
    expect(await headersOf(bytes('ffd8 ffe0'))).toEqual(bytes('ffd8 ffe0'));
  });
});
