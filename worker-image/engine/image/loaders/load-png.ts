/**
 * PNG. libvips reads the still image of an animated one, and no EXIF behind the pixels, where other programs read it. It does
 * not know color spaces without an ICC profile either.
 */
import { writeFile } from 'node:fs/promises';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { readExifBlock } from '#worker-image/engine/image/carried-exif.ts';
import type { ColorSpace } from '#worker-image/engine/image/color/color-space.ts';
import { openConverted } from '#worker-image/engine/image/color/convert-colors.ts';
import { COLOR_CHUNK_BYTES, pngColorSpace } from '#worker-image/engine/image/color/png-color.ts';
import { libvipsPicture, readMetadata, scratchPath } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

export function loadPng(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  return withFileReader(file.path, async (png) => {
    const path = await writeExifFirst(png, file);
    const { frames, isGray, color } = await readPngHeader(png);
    const metadata = await readMetadata({ path });
    const picture = await libvipsPicture({ file, path, frames, metadata });
    if (color === null || (isGray && color.isWide && !color.isHdr)) return picture;
    const samples = isGray ? 'gray' : 'rgb';
    return {
      ...picture,
      decode: (deps) => openConverted(deps, { file, path, color, metadata, samples }),
      readExif: () => readExifBlock(metadata.exif),
      isHdr: color.isHdr,
    };
  });
}

/** Tail of the file that is searched for an EXIF chunk, in bytes: twice the longest EXIF that a JPEG can hold. */
const TAIL_BYTES = 128 * 1024;
/** Maximum size of a file that is copied, in bytes. No image within the limits is larger. */
const MAX_FILE_BYTES = 1024 ** 3;

/** Returns the path of a copy whose EXIF, and so its orientation, precedes the pixels; of the file if its EXIF does. */
async function writeExifFirst(png: FileReader, file: ImageFile): Promise<string> {
  const tail = await png.read(Math.max(0, png.size - TAIL_BYTES), TAIL_BYTES);
  if (png.size > MAX_FILE_BYTES || !tail.includes('eXIf')) return file.path;
  const chunks = readPngChunks(await readWhole(file.path)) ?? [];
  const exif = chunks.findIndex(({ type }) => type === 'eXIf');
  const pixels = chunks.findIndex(({ type }) => type === 'IDAT');
  if (pixels === -1 || exif < pixels) return file.path;
  const ordered = chunks.toSpliced(exif, 1).toSpliced(1, 0, ...chunks.slice(exif, exif + 1));
  const copy = scratchPath(file, 'exif-first.png');
  await writeFile(copy, Buffer.concat([PNG_SIGNATURE, ...ordered.map(({ whole }) => whole)]));
  return copy;
}

/** Length and type. */
const CHUNK_HEAD_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_FRAME_BYTES = 12;
const MAX_CHUNKS_BEFORE_PIXELS = 1000;
/** Bits of the color type of IHDR, in its tenth byte. */
const [COLOR_TYPE_AT, HAS_COLOR] = [9, 2];
/** Chunks whose data is read, with the number of bytes. */
const READ_BYTES: Readonly<Record<string, number>> = { IHDR: 13, acTL: 4, fcTL: 0, ...COLOR_CHUNK_BYTES };

export interface PngHeader {
  /** 1 for a PNG that is not animated. */
  readonly frames: number;
  readonly isGray: boolean;
  /** Null for sRGB and for an ICC profile. */
  readonly color: ColorSpace | null;
}

/**
 * Returns facts from the chunks before the pixels. A single frame without an `fcTL` chunk there is not the still image, which
 * counts as a frame of its own.
 */
export async function readPngHeader(png: Pick<FileReader, 'read'>): Promise<PngHeader> {
  const chunks = await chunksBeforePixels(png);
  const claimed = chunks.get('acTL')?.readUInt32BE(0) ?? 0;
  return {
    frames: claimed === 1 && !chunks.has('fcTL') ? 2 : Math.max(1, claimed),
    isGray: ((chunks.get('IHDR')?.[COLOR_TYPE_AT] ?? HAS_COLOR) & HAS_COLOR) === 0,
    color: pngColorSpace(chunks),
  };
}

/** Returns the beginning of the data of the chunks that are read, by type. */
async function chunksBeforePixels(png: Pick<FileReader, 'read'>): Promise<Map<string, Buffer>> {
  const chunks = new Map<string, Buffer>();
  let at = PNG_SIGNATURE.length;
  for (let i = 0; i < MAX_CHUNKS_BEFORE_PIXELS; i += 1) {
    const head = await png.read(at, CHUNK_HEAD_BYTES);
    const type = head.toString('latin1', 4);
    if (head.length < CHUNK_HEAD_BYTES || type === 'IDAT') break;
    const [length, wanted] = [head.readUInt32BE(0), READ_BYTES[type]];
    const data = wanted === undefined || length < wanted ? null : await png.read(at + CHUNK_HEAD_BYTES, wanted);
    if (data !== null && data.length === wanted) chunks.set(type, data);
    at += CHUNK_FRAME_BYTES + length;
  }
  return chunks;
}
