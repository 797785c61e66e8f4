/** AVIF and HEIF films: they hold a picture to be shown in their place, which is what is read of them. */
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageFile } from '#worker-image/engine/image/read-image-facts.ts';
import { sequenceFrames } from '#worker-image/engine/identify/iso-bmff.ts';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

/** Brands that the image library does not take for a picture (ISO/IEC 23000-22; AV1 Image File Format, 6). */
const UNREAD_BRANDS: ReadonlySet<string> = new Set(['avis', 'miaf', 'mif2']);
/** The brand of any file that has a picture to show (ISO/IEC 23008-12). */
const PICTURE_BRAND = 'mif1';
const BRAND_AT = 8;

/** The path of the file itself, or that of a copy in the directory whose brand the image library knows. */
export async function readableHeif({ path, directory }: Pick<ImageFile, 'path' | 'directory'>): Promise<string> {
  const brand = await withSniffedFile({ path, filename: null }, ({ head }) =>
    Promise.resolve(head.toString('latin1', BRAND_AT, BRAND_AT + 4)),
  );
  if (!UNREAD_BRANDS.has(brand)) return path;
  const copy = join(directory, 'branded.heif');
  await copyFile(path, copy);
  const file = await open(copy, 'r+');
  try {
    await file.write(PICTURE_BRAND, BRAND_AT, 'latin1');
  } finally {
    await file.close();
  }
  return copy;
}

/** Frames of the film; 1 when there is none. */
export async function heifFrames(path: string): Promise<number> {
  return Math.max(1, await withSniffedFile({ path, filename: null }, sequenceFrames));
}
