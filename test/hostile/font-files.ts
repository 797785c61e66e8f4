/** Hostile fonts. */
import { readFile } from 'node:fs/promises';
import { deflateEqualBytes } from '#test/hostile/forge-deflate.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const TO_TTF = { operation: 'convert', options: { convert: { to: 'ttf' } } } as const;
const TO_WOFF2 = { operation: 'convert', options: { convert: { to: 'woff2' } } } as const;

export const HOSTILE_FONTS: readonly HostileFile[] = [
  {
    name: 'a WOFF2 that claims to decompress to 4 GB',
    filename: 'a.woff2',
    bytes: () => woff2(0xffff_ffff),
    ...TO_TTF,
    ends: ['processing_failed'],
    says: /4294967295 bytes; the maximum is 31457280/,
  },
  {
    name: 'a WOFF2 that claims to be small and contains random bytes',
    filename: 'a.woff2',
    bytes: () => woff2(1000),
    ...TO_TTF,
    ends: ['processing_failed'],
  },
  {
    name: 'a WOFF whose tables claim 4 GB each',
    filename: 'a.woff',
    bytes: () => woff(Array.from({ length: 20 }, () => ({ data: Buffer.alloc(20), length: 0xffff_ffff }))),
    ...TO_TTF,
    ends: ['processing_failed'],
    says: /decompresses to \d+ bytes/,
  },
  {
    name: 'a WOFF whose table decompresses to 500 MB and claims 1 kB',
    filename: 'a.woff',
    bytes: () => woff([{ data: deflateEqualBytes(500 * 1024 ** 2), length: 600_000 }]),
    ...TO_TTF,
    ends: ['processing_failed'],
  },
  {
    name: 'a TTF whose tables lie over each other',
    filename: 'a.ttf',
    bytes: async () => {
      const bytes = await typeface();
      bytes.writeUInt32BE(bytes.readUInt32BE(12 + 8) + 4, 12 + 16 + 8);
      return bytes;
    },
    ...TO_WOFF2,
    ends: ['processing_failed'],
  },
  {
    name: 'a TTF whose table is outside the file',
    filename: 'a.ttf',
    bytes: async () => {
      const bytes = await typeface();
      bytes.writeUInt32BE(0xffff_fff0, 12 + 8);
      return bytes;
    },
    ...TO_WOFF2,
    ends: ['processing_failed'],
  },
  {
    name: 'a TTF that claims 65,535 tables',
    filename: 'a.ttf',
    bytes: async () => {
      const bytes = await typeface();
      bytes.writeUInt16BE(1000, 4);
      return bytes;
    },
    ...TO_WOFF2,
    ends: ['processing_failed'],
  },
  {
    name: 'a TTF whose glyphs are made of themselves',
    filename: 'a.ttf',
    bytes: async () => withGlyphs(await typeface(), Buffer.from('ffff00000000000000000020000000000000', 'hex')),
    ...TO_WOFF2,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a TTF whose glyphs are all ones',
    filename: 'a.ttf',
    bytes: async () => withGlyphs(await typeface(), Buffer.from([0xff])),
    ...TO_WOFF2,
    ends: ['done', 'processing_failed'],
  },
];

function woff2(unpacked: number): Buffer {
  const bytes = Buffer.alloc(200, 0x3f);
  bytes.write('wOF2\0\x01\0\0', 'latin1');
  bytes.writeUInt32BE(bytes.length, 8);
  bytes.writeUInt16BE(10, 12);
  bytes.writeUInt32BE(unpacked, 16);
  return bytes;
}

function woff(tables: readonly { data: Buffer; length: number }[]): Buffer {
  const head = Buffer.alloc(44 + 20 * tables.length);
  head.write('wOFF\0\x01\0\0', 'latin1');
  head.writeUInt16BE(tables.length, 12);
  let at = head.length;
  tables.forEach(({ data, length }, index) => {
    const entry = 44 + 20 * index;
    head.write(`t${String(index).padStart(3, '0')}`, entry);
    head.writeUInt32BE(at, entry + 4);
    head.writeUInt32BE(data.length, entry + 8);
    head.writeUInt32BE(length, entry + 12);
    at += data.length;
  });
  const bytes = Buffer.concat([head, ...tables.map(({ data }) => data)]);
  bytes.writeUInt32BE(bytes.length, 8);
  return bytes;
}

/** Returns the font with its outlines overwritten by the pattern. */
function withGlyphs(font: Buffer, pattern: Buffer): Buffer {
  const entry = font.indexOf('glyf', 12);
  const at = font.readUInt32BE(entry + 8);
  return Buffer.from(font).fill(pattern, at, at + font.readUInt32BE(entry + 12));
}

function typeface(): Promise<Buffer> {
  return readFile(new URL('../../api/data/samples/typeface.ttf', import.meta.url));
}
