import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { writeTiff, type Tag } from '#test/fixtures/write-tiff.ts';
import { formatOfTiff } from '#worker-image/engine/identify/tiff.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');
const make = (name: string): Tag => ({ id: 271, type: 'ascii', values: [...Buffer.from(`${name}\0`)] });
const SENSOR: Tag = { id: 262, type: 'short', values: [32_803] };
const DNG: Tag = { id: 50_706, type: 'byte', values: [1, 4, 0, 0] };
const tiff = (...tags: readonly Tag[]): Buffer => writeTiff(HEADER, tags, Buffer.alloc(8));

const format = (bytes: Buffer, filename: string | null = null): Promise<string | null> =>
  formatOfTiff({ ...fileReaderOf(bytes), filename });

describe('formatOfTiff', () => {
  it.each<readonly [string, Buffer, string | null, string | null]>([
    ['a TIFF', tiff(), null, 'tiff'],
    ['DNG', tiff(make('NIKON'), SENSOR, DNG), null, 'dng'],
    ['sensor data of Nikon', tiff(make('NIKON CORPORATION'), SENSOR), null, 'nef'],
    ['sensor data of Sony', tiff(make('SONY'), SENSOR), null, 'arw'],
    ['a TIFF that a program made of a RAW', tiff(make('NIKON CORPORATION')), 'a.tif', 'tiff'],
    ['a RAW without a mark, by its name', tiff(make('SONY')), 'a.arw', 'arw'],
    ['a short name of a maker', tiff(make('abc')), null, 'tiff'],
    ['Canon', Buffer.from('II*\0\x10\0\0\0CR\x02\0', 'latin1'), null, 'cr2'],
    ['a directory beyond the end', Buffer.from('II*\0\xff\xff\xff\xff', 'latin1'), null, 'tiff'],
    ['other bytes', Buffer.from('IIII'), null, null],
  ])('of %s', async (_what, bytes, filename, expected) => {
    expect(await format(bytes, filename)).toBe(expected);
  });

  it('refuses sensor data of another maker', async () => {
    await expect(format(tiff(make('Hasselblad'), SENSOR))).rejects.toThrow('HASSELBLAD');
  });
});
