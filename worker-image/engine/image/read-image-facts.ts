/** Size and frames of an image file, from its headers alone. */
import { open } from 'node:fs/promises';
import type { Metadata } from 'sharp';
import type { Format } from '#crds/formats.ts';
import { NO_FACTS, type EngineDeps, type Facts } from '#worker-image/engine/handler.ts';
import { countPngFrames } from '#worker-image/engine/image/count-png-frames.ts';
import { BMP_HEADER_BYTES, readBmpHeader } from '#worker-image/engine/image/bmp-header.ts';
import { readRawSize } from '#worker-image/engine/image/camera-raw.ts';
import { isRecoverable, lostCanvas } from '#worker-image/engine/image/gif-canvas.ts';
import { hasManyItems, heifFrames } from '#worker-image/engine/image/heif-sequence.ts';
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { readableCopy } from '#worker-image/engine/image/readable-copy.ts';
import { oddTiff } from '#worker-image/engine/image/odd-tiff.ts';
import { isRaw } from '#worker-image/engine/image/image-formats.ts';
import type { Size } from '#worker-image/engine/image/resize-image.ts';

export interface ImageFile {
  readonly path: string;
  readonly format: Format;
  /** Private directory for tools. */
  readonly directory: string;
}

/**
 * Width and height as shown, and frames. Nothing is decoded: a picture of any claimed size is answered in
 * milliseconds.
 * @throws MediaError processing_failed when the headers cannot be read.
 */
export async function readImageFacts(deps: Pick<EngineDeps, 'run' | 'signal'>, file: ImageFile): Promise<Facts> {
  if (isRaw(file.format)) return stillFacts(await readRawSize(deps, file));
  if (file.format === 'bmp') return bmpFacts(file.path);
  const odd = file.format === 'tiff' ? await oddTiff(file.path) : null;
  if (odd !== null) return stillFacts(odd);
  const sharp = await loadSharp();
  const animated = file.format === 'gif' || file.format === 'webp';
  const path = await readableCopy(file);
  const unlimited = isHeif(file.format) && (await hasManyItems(path));
  const metadata = await imageStep('Reading the image', () =>
    sharp(path, { limitInputPixels: false, animated, unlimited }).metadata(),
  );
  const frames = await framesOf(file, metadata);
  const size = frames > 1 && animated ? frameSize(metadata) : metadata.autoOrient;
  return stillFacts(await shownSize(file, size, metadata.hasAlpha), frames);
}

async function framesOf({ format, path }: ImageFile, { pages }: Metadata): Promise<number> {
  if (format === 'png') return countPngFrames(path);
  if (isHeif(format)) return heifFrames(path);
  return format === 'gif' || format === 'webp' ? (pages ?? 1) : 1;
}

function isHeif(format: Format): boolean {
  return format === 'avif' || format === 'heic';
}

function frameSize({ width, height, pageHeight }: Metadata): Size {
  return { width, height: pageHeight ?? height };
}

async function shownSize({ path, format }: ImageFile, covered: Size, hasAlpha: boolean): Promise<Size> {
  const canvas = format === 'gif' ? await lostCanvas(path, covered) : null;
  return canvas !== null && isRecoverable(canvas, hasAlpha) ? canvas : covered;
}

function stillFacts({ width, height }: Size, frames = 1): Facts {
  return { ...NO_FACTS, width, height, frames };
}

async function bmpFacts(path: string): Promise<Facts> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(BMP_HEADER_BYTES);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return stillFacts(readBmpHeader(bytes.subarray(0, bytesRead)));
  } finally {
    await file.close();
  }
}
