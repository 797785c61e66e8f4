/** BMP, which is decoded here as libvips has no decoder for it: Windows and OS/2 headers, 1 to 32 bits per pixel, RLE and color masks. */
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { damaged, readBmpHeader, type BmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';
import { readRunLengths } from '#worker-image/engine/image/loaders/bmp-run-lengths.ts';
import { sharp, STILL_IMAGE } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

export async function loadBmp(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path } = file;
  const { width, height, hasProfile } = await withFileReader(path, (bmp) => Promise.resolve(readBmpHeader(bmp.head)));
  return {
    ...STILL_IMAGE,
    file,
    size: { width, height },
    ...(hasProfile && { warning: PROFILE_WARNING }),
    decode: () => openBmp(path),
    verify: async () => void decodeBmp(await readWhole(path)),
  };
}

const PROFILE_WARNING = 'The color profile of the BMP was ignored: its colors are taken for sRGB.';

async function openBmp(path: string): Promise<PixelSource> {
  const { data, isPalette, ...raw } = decodeBmp(await readWhole(path));
  const start: PixelSource['start'] = () => sharp(data, { raw, limitInputPixels: false });
  const metadata = await start({ animated: false, keepProfile: false }).metadata();
  const size = { width: raw.width, height: raw.height };
  return { metadata, size, frames: 1, pages: 1, isDrawn: isPalette || raw.channels === 4, start };
}

export interface BmpPixels {
  readonly width: number;
  readonly height: number;
  /** 3: RGB, 4: RGBA. */
  readonly channels: 3 | 4;
  /** True when the file's pixels are indices of a palette. */
  readonly isPalette: boolean;
  readonly data: Buffer;
}

/**
 * Decodes a whole BMP file, rows top down. The caller has checked width times height against its limit.
 * @throws MediaError processing_failed when the file is damaged or not complete.
 */
export function decodeBmp(bytes: Buffer): BmpPixels {
  const header = readBmpHeader(bytes);
  if (header.bits <= 8) return readIndexed(bytes, header);
  requireRows(bytes, header);
  if (header.bits === 24) return readTriples(bytes, header);
  return readMasked(bytes, header);
}

function rowBytes(header: BmpHeader): number {
  return Math.ceil((header.width * header.bits) / 32) * 4;
}

function requireRows(bytes: Buffer, header: BmpHeader): void {
  const needed = header.pixelOffset + rowBytes(header) * header.height;
  // The padding of the last row is often missing.
  if (bytes.length + 3 < needed) throw damaged(`it is truncated after ${bytes.length} of ${needed} bytes`);
}

/** Returns the offset of an image row in the file. */
function rowStart(header: BmpHeader, y: number): number {
  return header.pixelOffset + rowBytes(header) * (header.topDown ? y : header.height - 1 - y);
}

function readIndexed(bytes: Buffer, header: BmpHeader): BmpPixels {
  const palette = readPalette(bytes, header);
  const indices = header.compression === 'none' ? unpackIndices(bytes, header) : readRunLengths(bytes, header);
  const data = Buffer.allocUnsafe(indices.length * 3);
  for (let i = 0, o = 0; i < indices.length; i += 1, o += 3) {
    const entry = (indices[i] ?? 0) * 3;
    data[o] = palette[entry] ?? 0;
    data[o + 1] = palette[entry + 1] ?? 0;
    data[o + 2] = palette[entry + 2] ?? 0;
  }
  return { width: header.width, height: header.height, channels: 3, isPalette: true, data };
}

/** Returns 256 entries of red, green and blue; those that the file lacks are black. */
function readPalette(bytes: Buffer, { palette }: BmpHeader): Uint8Array {
  const colors = new Uint8Array(256 * 3);
  for (let i = 0; i < palette.count; i += 1) {
    const entry = palette.offset + i * palette.entryBytes;
    if (entry + 3 > bytes.length) break;
    colors.set([bytes[entry + 2] ?? 0, bytes[entry + 1] ?? 0, bytes[entry] ?? 0], i * 3);
  }
  return colors;
}

function unpackIndices(bytes: Buffer, header: BmpHeader): Uint8Array {
  requireRows(bytes, header);
  const { width, height, bits } = header;
  const indices = new Uint8Array(width * height);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let y = 0, o = 0; y < height; y += 1) {
    const start = rowStart(header, y);
    for (let x = 0; x < width; x += 1, o += 1) {
      const byte = bytes[start + Math.floor(x / perByte)] ?? 0;
      indices[o] = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
    }
  }
  return indices;
}

function readTriples(bytes: Buffer, header: BmpHeader): BmpPixels {
  const { width, height } = header;
  const data = Buffer.allocUnsafe(width * height * 3);
  for (let y = 0, o = 0; y < height; y += 1) {
    let i = rowStart(header, y);
    for (let x = 0; x < width; x += 1, o += 3, i += 3) {
      data[o] = bytes[i + 2] ?? 0;
      data[o + 1] = bytes[i + 1] ?? 0;
      data[o + 2] = bytes[i] ?? 0;
    }
  }
  return { width, height, channels: 3, isPalette: false, data };
}

function readMasked(bytes: Buffer, header: BmpHeader): BmpPixels {
  const { width, height, masks } = header;
  const channels = masks.alpha === 0 ? 3 : 4;
  const readers = [masks.red, masks.green, masks.blue, masks.alpha].slice(0, channels).map(sampleReader);
  const step = header.bits / 8;
  const data = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y += 1) {
    const start = rowStart(header, y);
    for (let x = 0; x < width; x += 1) {
      const at = start + x * step;
      if (at + step > bytes.length) break;
      const value = step === 2 ? bytes.readUInt16LE(at) : bytes.readUInt32LE(at);
      let o = (y * width + x) * channels;
      for (const read of readers) data[o++] = read(value);
    }
  }
  if (channels === 4 && isInvisible(data)) return readMasked(bytes, { ...header, masks: { ...masks, alpha: 0 } });
  return { width, height, channels, isPalette: false, data };
}

/** Returns whether no RGBA pixel has opacity: the program that wrote the file left the samples empty, and browsers ignore them. */
function isInvisible(data: Buffer): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) return false;
  return true;
}

/** Returns a function that extracts the sample of a mask and scales it to 0–255. */
function sampleReader(mask: number): (value: number) => number {
  if (mask === 0) return () => 0;
  const shift = 31 - Math.clz32(mask & -mask);
  const top = mask >>> shift;
  return (value) => Math.round((((value & mask) >>> shift) * 255) / top);
}
