/** Removes metadata without touching the picture. Spec: POST /v1/strip-metadata. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import { GAIN_MAP_WARNING, hasGainMap } from '#worker-image/engine/image/gain-map.ts';
import { stripGif } from '#worker-image/engine/image/strip/strip-gif.ts';
import { stripHeif } from '#worker-image/engine/image/strip/strip-heif.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { stripPng } from '#worker-image/engine/image/strip/strip-png.ts';
import { stripTiff } from '#worker-image/engine/image/strip/strip-tiff.ts';
import { stripWebp } from '#worker-image/engine/image/strip/strip-webp.ts';

const STRIPPERS: Partial<Readonly<Record<Format, (file: Buffer) => Buffer>>> = {
  jpg: stripJpeg,
  png: stripPng,
  webp: stripWebp,
  gif: stripGif,
  heic: stripHeif,
  avif: stripHeif,
  tiff: stripTiff,
};

const BMP_WARNING = 'A BMP file holds no metadata: the file is returned unchanged.';

/**
 * Removes camera, place, time and software details, XMP, IPTC and embedded thumbnails; keeps pixels,
 * orientation and colour profile. A BMP comes back unchanged with a warning.
 * @throws MediaError unsupported_input for camera RAW, processing_failed for a damaged file.
 */
export async function stripImage(_deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const { format, path: input } = work.input;
  const path = join(work.directory, `stripped.${extensionOf(format)}`);
  if (format === 'bmp') {
    await copyFile(input, path);
    return { path, format, facts, warnings: [BMP_WARNING] };
  }
  const strip = STRIPPERS[format];
  if (strip === undefined) {
    throw new MediaError(
      'unsupported_input',
      `Metadata cannot be removed from camera RAW of the format ${format}. Compress decodes it to a picture without metadata.`,
    );
  }
  await writeFile(path, strip(await readFile(input)));
  // What follows the picture in a JPEG is removed with the rest; the other formats keep all their pictures.
  const warnings = format === 'jpg' && (await hasGainMap(work.input)) ? [GAIN_MAP_WARNING] : [];
  return { path, format, facts, warnings };
}
