/** Writers of image files with headers that no real encoder writes. */
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { noise } from '#test/fixtures/noise.ts';
import { makePngChunk, PNG_SIGNATURE } from '#worker-image/engine/containers/png-chunks.ts';

interface DeclaredSize {
  readonly width: number;
  readonly height: number;
}

/** Returns a gray PNG with a declared size and the given pixel data. `more` precedes the pixels. */
export function png(
  { width, height }: DeclaredSize,
  data: Buffer = deflateSync(Buffer.alloc(64)),
  more: readonly Buffer[] = [],
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width >>> 0, 0);
  header.writeUInt32BE(height >>> 0, 4);
  header[8] = 8;
  return Buffer.concat([
    PNG_SIGNATURE,
    makePngChunk('IHDR', header),
    ...more,
    makePngChunk('IDAT', data),
    makePngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns an animation control chunk that declares that many frames. */
export function pngFrames(frames: number): Buffer {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(frames, 0);
  return makePngChunk('acTL', data);
}

/** Returns an AVIF of a few pixels whose size property declares another size. */
export async function avif({ width, height }: DeclaredSize): Promise<Buffer> {
  return claimSize(await noise().avif({ quality: 20, effort: 0 }).toBuffer(), { width, height });
}

/** Overwrites every `ispe` property of a HEIF file. */
export function claimSize(file: Buffer, { width, height }: DeclaredSize): Buffer {
  const bytes = Buffer.from(file);
  for (let at = bytes.indexOf('ispe'); at !== -1; at = bytes.indexOf('ispe', at + 4)) {
    bytes.writeUInt32BE(width, at + 8);
    bytes.writeUInt32BE(height, at + 12);
  }
  return bytes;
}

/** Returns a GIF of one-pixel frames on a logical screen of the given size. */
export function gif({ width, height }: DeclaredSize, frames: number): Buffer {
  const header = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  header.writeUInt16LE(width, 6);
  header.writeUInt16LE(height, 8);
  const control = Buffer.from([0x21, 0xf9, 4, 0, 5, 0, 0, 0]);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  const body = Array.from({ length: frames }, (_, index) => {
    const own = Buffer.from(control);
    own[4] = 2 + (index % 7);
    return Buffer.concat([own, frame]);
  });
  return Buffer.concat([header, ...body, Buffer.from([0x3b])]);
}

/** Returns a JPEG of a few pixels whose frame header declares another size. */
export async function jpeg({ width, height }: DeclaredSize): Promise<Buffer> {
  const bytes = await noise().jpeg().toBuffer();
  const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, at + 5);
  bytes.writeUInt16BE(width, at + 7);
  return bytes;
}

/** Returns a progressive JPEG that repeats its last scan, each of which covers the whole image. */
export async function jpegOfScans({ width, height }: DeclaredSize, scans: number): Promise<Buffer> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#888' } })
    .jpeg({ progressive: true })
    .toBuffer();
  const last = bytes.lastIndexOf(Buffer.from([0xff, 0xda]));
  const scan = bytes.subarray(last, -2);
  return Buffer.concat([bytes.subarray(0, last), ...Array.from({ length: scans }, () => scan), bytes.subarray(-2)]);
}

/** Inserts an application segment after the start of a JPEG, split where it exceeds the maximum length of a segment. */
export function withSegment(jpegBytes: Buffer, marker: number, data: Buffer): Buffer {
  const parts: Buffer[] = [jpegBytes.subarray(0, 2)];
  for (let at = 0; at < data.length; at += 65_000) {
    const piece = data.subarray(at, at + 65_000);
    parts.push(Buffer.from([0xff, marker, (piece.length + 2) >> 8, (piece.length + 2) & 0xff]), piece);
  }
  return Buffer.concat([...parts, jpegBytes.subarray(2)]);
}

export interface ForgedTiffEntry {
  readonly tag: number;
  /** 3: two bytes, 4: four bytes. */
  readonly type: number;
  readonly count: number;
  readonly value: number;
}

/** Returns one little-endian TIFF directory, entries sorted by tag. */
export function tiffDirectory(entries: readonly ForgedTiffEntry[], next: number): Buffer {
  const bytes = Buffer.alloc(2 + entries.length * 12 + 4);
  bytes.writeUInt16LE(entries.length, 0);
  entries.forEach(({ tag, type, count, value }, index) => {
    const at = 2 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    bytes.writeUInt32LE(value >>> 0, at + 8);
  });
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}

/** Header of a little-endian TIFF whose first directory follows at once. */
export const TIFF_HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');

/** Returns a gray TIFF of one strip with a declared size. */
export function tiff({ width, height }: DeclaredSize, next = 0): Buffer {
  const long = (tag: number, value: number): ForgedTiffEntry => ({ tag, type: 4, count: 1, value });
  const entries = [
    long(256, width),
    long(257, height),
    long(258, 8),
    long(259, 1),
    long(262, 1),
    long(273, 8 + 2 + 9 * 12 + 4),
    long(277, 1),
    long(278, height),
    long(279, Math.min(width * height, 4096)),
  ];
  return Buffer.concat([TIFF_HEADER, tiffDirectory(entries, next), Buffer.alloc(4096, 0x55)]);
}

/** Returns EXIF with that many short text tags. `next` is the declared offset of a further directory. */
export function exif(tags: number, next = 0): Buffer {
  const entries = Array.from({ length: tags }, (_, index) => ({
    tag: index & 0xffff,
    type: 3,
    count: 1,
    value: index,
  }));
  return Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), TIFF_HEADER, tiffDirectory(entries, next)]);
}

/** Returns a WebP container with the given canvas and number of empty frames. */
export function webp({ width, height }: DeclaredSize, frames: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.write(type, 'latin1');
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const canvas = Buffer.alloc(10);
  canvas[0] = 2;
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  const still = Buffer.from('2f00000000888808', 'hex');
  const frame = Buffer.concat([Buffer.alloc(12), Buffer.from([10, 0, 0, 0]), chunk('VP8L', still)]);
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    chunk('VP8X', canvas),
    chunk('ANIM', Buffer.alloc(6)),
    ...Array.from({ length: frames }, () => chunk('ANMF', frame)),
  ]);
  return chunk('RIFF', body);
}
