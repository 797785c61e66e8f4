/** Hostile images. */
import { readFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { drawRaw } from '#test/fixtures/draw-raw.ts';
import { noise } from '#test/fixtures/noise.ts';
import { deflateEqualBytes } from '#test/hostile/forge-deflate.ts';
import {
  avif,
  claimSize,
  exif,
  gif,
  jpeg,
  jpegOfScans,
  png,
  pngFrames,
  tiff,
  tiffDirectory,
  TIFF_HEADER,
  webp,
  withSegment,
} from '#test/hostile/forge-image.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';
import { makePngChunk } from '#worker-image/engine/containers/png-chunks.ts';

const HUGE = { width: 65_000, height: 65_000 };
const SMALL = { width: 64, height: 64 };

/** Images that are refused by their headers, with the value and the limit. */
export const IMAGES_OVER_LIMITS: readonly HostileFile[] = [
  {
    name: 'a PNG of 65,000 × 65,000 pixels',
    filename: 'a.png',
    bytes: () => png(HUGE),
    ends: ['limit_exceeded'],
    says: /4225000000 .*100000000/,
  },
  {
    name: 'a PNG of the largest sides that there are',
    filename: 'a.png',
    bytes: () => png({ width: 0x7fff_ffff, height: 0x7fff_ffff }),
    ends: ['limit_exceeded', 'processing_failed'],
  },
  {
    name: 'a PNG that claims four thousand million frames',
    filename: 'a.png',
    bytes: () => png(SMALL, undefined, [pngFrames(0xffff_ffff)]),
    ends: ['limit_exceeded'],
    says: /4294967295 frames.*2000/,
  },
  {
    name: 'an AVIF of 17,000 × 17,000 pixels in 2 kB',
    filename: 'a.avif',
    bytes: () => avif({ width: 17_000, height: 17_000 }),
    ends: ['limit_exceeded'],
    says: /289000000 .*100000000/,
  },
  {
    name: 'a JPEG of 65,500 × 65,500 pixels',
    filename: 'a.jpg',
    bytes: () => jpeg({ width: 65_500, height: 65_500 }),
    ends: ['limit_exceeded'],
    says: /4290250000 /,
  },
  {
    name: 'a GIF of 2,001 frames',
    filename: 'a.gif',
    bytes: () => gif({ width: 1, height: 1 }, 2001),
    ends: ['limit_exceeded'],
    says: /2001 frames.*2000/,
  },
  {
    name: 'a GIF of one pixel on a canvas of 60,000 × 60,000',
    filename: 'a.gif',
    bytes: () => gif({ width: 60_000, height: 60_000 }, 1),
    ends: ['limit_exceeded'],
    says: /3600000000 pixels/,
  },
  {
    name: 'a WebP of 2,001 frames',
    filename: 'a.webp',
    bytes: () => webp({ width: 1, height: 1 }, 2001),
    ends: ['limit_exceeded'],
    says: /2001 frames/,
  },
  {
    name: 'a WebP on a canvas of 16,777,216 × 16,777,216',
    filename: 'a.webp',
    bytes: () => webp({ width: 0x100_0000, height: 0x100_0000 }, 2),
    ends: ['limit_exceeded', 'processing_failed'],
  },
  {
    name: 'a TIFF of 60,000 × 60,000 pixels',
    filename: 'a.tif',
    bytes: () => tiff({ width: 60_000, height: 60_000 }),
    ends: ['limit_exceeded'],
  },
  {
    name: 'a BMP of 30,000 × 30,000 pixels in 70 bytes',
    filename: 'a.bmp',
    bytes: () => bmp(30_000, 30_000),
    ends: ['limit_exceeded'],
    says: /900000000 /,
  },
  {
    name: 'a BMP of the largest sides that there are',
    filename: 'a.bmp',
    bytes: () => bmp(0x7fff_ffff, -0x7fff_ffff),
    ends: ['limit_exceeded'],
  },
  {
    name: 'a camera RAW file of 60,000 × 60,000 pixels',
    filename: 'a.dng',
    bytes: () => rawOf(60_000),
    ends: ['limit_exceeded', 'processing_failed'],
  },
];

export const HOSTILE_IMAGES: readonly HostileFile[] = [
  {
    name: 'a GIF of a hundred frames of one pixel on a screen of 4 megapixels',
    filename: 'a.gif',
    bytes: () => gif({ width: 2000, height: 2000 }, 100),
    ends: ['done'],
  },
  {
    name: 'a PNG with far more pixel data than its dimensions need',
    filename: 'a.png',
    bytes: () => png(SMALL, deflateEqualBytes(512 * 1024 ** 2)),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PNG with a color profile that decompresses to 512 MB',
    filename: 'a.png',
    bytes: () =>
      png(SMALL, deflateSync(Buffer.alloc(65 * 64)), [
        makePngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0'), deflateEqualBytes(512 * 1024 ** 2)])),
      ]),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PNG with a thousand texts that decompress to 8 MB each',
    filename: 'a.png',
    bytes: () => {
      const text = makePngChunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), deflateEqualBytes(8 * 1024 ** 2)]));
      return png(
        SMALL,
        deflateSync(Buffer.alloc(65 * 64)),
        Array.from({ length: 1000 }, () => text),
      );
    },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a PNG whose chunks claim to be longer than the file',
    filename: 'a.png',
    bytes: () => {
      const bytes = png(SMALL);
      bytes.writeUInt32BE(0xffff_fff0, bytes.indexOf('IDAT') - 4);
      return bytes;
    },
    operation: 'strip_metadata',
    ends: ['processing_failed'],
  },
  {
    name: 'a progressive JPEG of 20,000 scans',
    filename: 'a.jpg',
    bytes: () => jpegOfScans({ width: 6000, height: 6000 }, 20_000),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a JPEG whose EXIF has 5,000 tags and a cycle',
    filename: 'a.jpg',
    bytes: async () => withSegment(await noise().jpeg().toBuffer(), 0xe1, exif(5000, 8)),
    operation: 'strip_metadata',
    ends: ['done'],
    result: ({ bytes }) => expectNo(bytes, 'Exif'),
  },
  {
    name: 'a JPEG whose EXIF points far beyond its end',
    filename: 'a.jpg',
    bytes: async () => withSegment(await noise().jpeg().toBuffer(), 0xe1, exif(3, 0xffff_fff0)),
    ends: ['done'],
  },
  {
    name: 'a JPEG with 20 MB of XMP',
    filename: 'a.jpg',
    bytes: async () =>
      withSegment(
        await noise().jpeg().toBuffer(),
        0xe1,
        Buffer.from(`http://ns.adobe.com/xap/1.0/\0${'<rdf:li>deep'.repeat(1_700_000)}`),
      ),
    operation: 'strip_metadata',
    ends: ['done'],
    result: ({ bytes }) => expectNo(bytes, '<rdf:li>'),
  },
  {
    name: 'a JPEG with a color profile of 255 parts that never ends',
    filename: 'a.jpg',
    bytes: async () => {
      const picture = await noise().jpeg().toBuffer();
      const part = Buffer.concat([Buffer.from('ICC_PROFILE\0\xff\xff', 'latin1'), Buffer.alloc(60_000, 0x41)]);
      return Array.from({ length: 255 }).reduce<Buffer>((file) => withSegment(file, 0xe2, part), picture);
    },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a JPEG with a color profile that claims 4 GB',
    filename: 'a.jpg',
    bytes: async () => {
      const profile = Buffer.alloc(400, 0);
      profile.writeUInt32BE(0xffff_ffff, 0);
      profile.write('RGB XYZ ', 16);
      profile.write('acsp', 36);
      profile.writeUInt32BE(0x0fff_ffff, 128);
      return withSegment(
        await noise().jpeg().toBuffer(),
        0xe2,
        Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), profile]),
      );
    },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a TIFF whose directories go round in a circle',
    filename: 'a.tif',
    bytes: () => tiff(SMALL, 8),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a TIFF of 200,000 directories',
    filename: 'a.tif',
    bytes: () => tiffOfDirectories(200_000),
    ends: ['done', 'processing_failed', 'limit_exceeded'],
  },
  {
    name: 'a TIFF that claims strips without number',
    filename: 'a.tif',
    bytes: () => {
      const bytes = tiff(SMALL);
      bytes.writeUInt32LE(0x7fff_ffff, 8 + 2 + 5 * 12 + 4);
      return bytes;
    },
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a TIFF that describes a million tags',
    filename: 'a.tif',
    bytes: () => Buffer.concat([TIFF_HEADER, Buffer.from([0xff, 0xff]), Buffer.alloc(65_535 * 12, 1)]),
    ends: ['processing_failed'],
  },
  {
    name: 'a HEIC of which only the claimed size is large',
    filename: 'a.heic',
    bytes: async () => claimSize(await readSample('photo.heic'), { width: 9999, height: 9999 }),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a HEIF of VVC images',
    filename: 'a.heic',
    bytes: async () => {
      const bytes = await readSample('photo.heic');
      for (const [old, now] of [
        ['heic', 'vvic'],
        ['hvc1', 'vvc1'],
        ['heix', 'vvic'],
      ] as const)
        for (let at = bytes.indexOf(old); at !== -1; at = bytes.indexOf(old)) bytes.write(now, at, 'latin1');
      return bytes;
    },
    ends: ['unsupported_input'],
  },
  {
    name: 'a BigTIFF whose directory claims tags without number',
    filename: 'a.tif',
    bytes: bigTiffOfEndlessTags,
    ends: ['processing_failed'],
  },
  {
    name: 'the same BigTIFF while its metadata is removed',
    filename: 'a.tif',
    bytes: bigTiffOfEndlessTags,
    operation: 'strip_metadata',
    ends: ['processing_failed'],
  },
  {
    name: 'a HEIC whose boxes claim to be larger than the file',
    filename: 'a.heic',
    bytes: async () => {
      const bytes = await readSample('photo.heic');
      bytes.writeUInt32BE(0x7fff_ffff, bytes.indexOf('iinf') - 4);
      return bytes;
    },
    operation: 'strip_metadata',
    ends: ['processing_failed'],
  },
  {
    name: 'a GIF whose only frame is outside the canvas',
    filename: 'a.gif',
    bytes: () => {
      const bytes = gif({ width: 1, height: 1 }, 1);
      bytes.writeUInt16LE(65_000, bytes.indexOf(0x2c, 19) + 1);
      return bytes;
    },
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a GIF with one byte of image data',
    filename: 'a.gif',
    bytes: () => gif(SMALL, 3).subarray(0, 40),
    ends: ['processing_failed'],
  },
  {
    name: 'a BMP that is truncated after its header',
    filename: 'a.bmp',
    bytes: () => bmp(4000, 4000),
    ends: ['processing_failed', 'done'],
  },
  ...[25, 50, 90].map((percent): HostileFile => ({
    name: `a camera RAW file that ends after ${percent} %`,
    filename: 'a.dng',
    bytes: async () => {
      const whole = await rawOf(64);
      return whole.subarray(0, (whole.length * percent) / 100);
    },
    ends: ['processing_failed'],
  })),
  {
    name: 'a camera RAW file that is to be converted',
    filename: 'a.dng',
    bytes: () => rawOf(64),
    operation: 'convert',
    options: { convert: { to: 'png' } },
    ends: ['unsupported_input'],
  },
];

function expectNo(bytes: Buffer, words: string): void {
  if (bytes.includes(words)) throw new Error(`the result holds ${words}`);
}

function bmp(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(70);
  bytes.write('BM');
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

/** Returns a DNG of 64 × 64 samples whose tags declare another side. */
async function rawOf(side: number): Promise<Buffer> {
  const { width, height } = SMALL;
  const bytes = drawRaw('dng', { width, height, data: await noise(width, height).raw().toBuffer() });
  for (const tag of [256, 257]) {
    const entry = Buffer.from([tag & 0xff, tag >> 8, 4, 0, 1, 0, 0, 0]);
    bytes.writeUInt32LE(side, bytes.indexOf(entry) + 8);
  }
  return bytes;
}

function tiffOfDirectories(count: number): Buffer {
  const size = 2 + 12 + 4;
  const first = tiff({ width: 8, height: 8 }, 0);
  const pages = Array.from({ length: count }, (_, index) =>
    tiffDirectory(
      [{ tag: 256, type: 4, count: 1, value: 8 }],
      index + 1 === count ? 0 : first.length + (index + 1) * size,
    ),
  );
  first.writeUInt32LE(first.length, 8 + 2 + 9 * 12);
  return Buffer.concat([first, ...pages]);
}

function bigTiffOfEndlessTags(): Buffer {
  const bytes = Buffer.alloc(88);
  bytes.write('II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0', 'latin1');
  bytes.writeBigUInt64LE(2n ** 60n, 16);
  return bytes;
}

function readSample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../api/data/samples/${name}`, import.meta.url));
}
