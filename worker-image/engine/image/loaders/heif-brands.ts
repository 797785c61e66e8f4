/**
 * AVIF and HEIF sequences whose first brand libvips does not know as an image. They hold a still image, which is read in
 * their place.
 */
import { copyFile, open } from 'node:fs/promises';
import { readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** First brands that libvips does not read as an image (ISO/IEC 23000-22; AV1 Image File Format, 6). */
const UNREAD_BRANDS: ReadonlySet<string> = new Set(['avis', 'miaf', 'mif2']);
/** The brand of a file with a still image (ISO/IEC 23008-12). */
const STILL_IMAGE_BRAND = 'mif1';
const BRAND_AT = 8;
const OTHER_BRANDS_AT = 16;

/** Writes a copy with brands that libvips reads and without its sequence. Returns false when libvips reads the original. */
export async function writeStillImage(heif: FileReader, copy: string): Promise<boolean> {
  const patches = await findPatches(heif);
  if (patches.length === 0) return false;
  await copyFile(heif.path, copy);
  await using file = await open(copy, 'r+');
  for (const { at, text } of patches) await file.write(text, at, 'latin1');
  return true;
}

interface Patch {
  readonly at: number;
  readonly text: string;
}

async function findPatches(heif: FileReader): Promise<Patch[]> {
  const { head } = heif;
  if (!UNREAD_BRANDS.has(head.toString('latin1', BRAND_AT, BRAND_AT + 4))) return [];
  const boxes = await readTopBoxes(heif);
  const hasImage = boxes.some(({ type }) => type === 'meta');
  const sequences = hasImage ? boxes.filter(({ type }) => type === 'moov') : [];
  const otherBytes = hasImage ? Math.max(0, Math.min(head.readUInt32BE(0), head.length) - OTHER_BRANDS_AT) : 0;
  return [
    { at: BRAND_AT, text: STILL_IMAGE_BRAND },
    { at: OTHER_BRANDS_AT, text: STILL_IMAGE_BRAND.repeat(Math.floor(otherBytes / STILL_IMAGE_BRAND.length)) },
    ...sequences.map(({ start }) => ({ at: start + 4, text: 'free' })),
  ];
}
