/** AVIF and HEIF films: they hold a picture to be shown in their place, which is what is read of them. */
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageFile } from '#worker-image/engine/image/read-image-facts.ts';
import { boxesOf, itemCount, sequenceFrames } from '#worker-image/engine/identify/iso-bmff.ts';
import { withSniffedFile, type SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

/** First brands that the image library does not take for a picture (ISO/IEC 23000-22; AV1 Image File Format, 6). */
const UNREAD_BRANDS: ReadonlySet<string> = new Set(['avis', 'miaf', 'mif2']);
/** The brand of any file that has a picture to show (ISO/IEC 23008-12). */
const PICTURE_BRAND = 'mif1';
/** Items of a file that the image library opens without further words. */
const LIBRARY_ITEMS = 256;
const BRAND_AT = 8;
const OTHER_BRANDS_AT = 16;

/**
 * The path of the file itself, or that of a copy in the directory that the image library takes for a picture:
 * it has other brands and no film.
 */
export async function readableHeif({ path, directory }: Pick<ImageFile, 'path' | 'directory'>): Promise<string> {
  const patches = await withSniffedFile({ path, filename: null }, patchesOf);
  if (patches.length === 0) return path;
  const copy = join(directory, 'branded.heif');
  await copyFile(path, copy);
  await overwrite(copy, patches);
  return copy;
}

/** Frames of the film; 1 when there is none. */
export async function heifFrames(path: string): Promise<number> {
  return Math.max(1, await withSniffedFile({ path, filename: null }, sequenceFrames));
}

/** Tiles of 512 pixels make a picture of 1,000 megapixels with them. */
const MOST_ITEMS = 4096;

/** Whether the image library has to be told to open it: by itself it opens none of many tiles. */
export async function hasManyItems(path: string): Promise<boolean> {
  const items = await withSniffedFile({ path, filename: null }, itemCount);
  return items > LIBRARY_ITEMS && items <= MOST_ITEMS;
}

interface Patch {
  readonly at: number;
  readonly text: string;
}

async function patchesOf(file: SniffedFile): Promise<Patch[]> {
  const { head } = file;
  if (!UNREAD_BRANDS.has(head.toString('latin1', BRAND_AT, BRAND_AT + 4))) return [];
  const boxes = await boxesOf(file);
  const hasPicture = boxes.some(({ type }) => type === 'meta');
  const films = hasPicture ? boxes.filter(({ type }) => type === 'moov') : [];
  const others = hasPicture ? Math.max(0, Math.min(head.readUInt32BE(0), head.length) - OTHER_BRANDS_AT) : 0;
  return [
    { at: BRAND_AT, text: PICTURE_BRAND },
    { at: OTHER_BRANDS_AT, text: PICTURE_BRAND.repeat(Math.floor(others / PICTURE_BRAND.length)) },
    ...films.map(({ typeAt }) => ({ at: typeAt, text: 'free' })),
  ];
}

async function overwrite(path: string, patches: readonly Patch[]): Promise<void> {
  const file = await open(path, 'r+');
  try {
    for (const { at, text } of patches) await file.write(text, at, 'latin1');
  } finally {
    await file.close();
  }
}
