/** Removes metadata without touching the pixels. */
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, Work } from '#worker-image/engine/handler.ts';
import { GAIN_MAP_WARNING } from '#worker-image/engine/image/libvips-picture.ts';
import { openImage } from '#worker-image/engine/image/loaders/open-picture.ts';
import { MOTION_PHOTO_WARNING } from '#worker-image/engine/image/motion-photo.ts';
import type { ImageFacts, Picture, ProducedImage } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import { stripGif } from '#worker-image/engine/image/strip/strip-gif.ts';
import { stripHeif } from '#worker-image/engine/image/strip/strip-heif.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { stripPng } from '#worker-image/engine/image/strip/strip-png.ts';
import { hasTiffLayers, stripTiff } from '#worker-image/engine/image/strip/strip-tiff.ts';
import { stripWebp } from '#worker-image/engine/image/strip/strip-webp.ts';

/** Functions by format; null for a format that has no metadata. The other formats are refused. */
const STRIPPERS: Readonly<Partial<Record<Format, ((file: Buffer) => Buffer) | null>>> = {
  jpg: stripJpeg,
  png: stripPng,
  webp: stripWebp,
  gif: stripGif,
  heic: stripHeif,
  avif: stripHeif,
  tiff: stripTiff,
  bmp: null,
};

/**
 * Removes camera, location, time and software details, XMP, IPTC and embedded thumbnails; keeps pixels,
 * orientation and color profile. A file of a format without metadata is returned unchanged with a warning.
 * @throws MediaError unsupported_input for camera RAW, limit_exceeded above 2 GiB, processing_failed for a damaged file.
 */
export async function stripImage(deps: EngineDeps, work: Work, { picture }: ImageFacts): Promise<ProducedImage> {
  const { format, path: input } = picture.file;
  const path = join(work.directory, `stripped.${extensionOf(format)}`);
  const strip = STRIPPERS[format];
  if (strip === undefined) {
    throw new MediaError(
      'unsupported_input',
      `Metadata cannot be removed from ${format} files. Compress the file: the result has no metadata.`,
    );
  }
  const file = await readWhole(input);
  const written = await writeWhole(path, strip === null ? file : strip(file));
  const facts = await openImage(deps, work, { path, format });
  const warnings = [
    ...(strip === null ? [`A ${format.toUpperCase()} file has no metadata: the file is returned unchanged.`] : []),
    ...(await removedParts(picture, facts.picture)),
    ...(format === 'tiff' && hasTiffLayers(file) ? ['The layers of the TIFF were removed.'] : []),
  ];
  return { path, format, facts, warnings, written };
}

/** Returns warnings for what is removed with the metadata, such as the images of a JPEG after the first one. */
async function removedParts(before: Picture, after: Picture): Promise<string[]> {
  const lostGainMap = (await before.hasGainMap?.()) === true && (await after.hasGainMap?.()) !== true;
  const lostVideo = (await before.hasMotionVideo?.()) === true && (await after.hasMotionVideo?.()) !== true;
  return [...(lostGainMap ? [GAIN_MAP_WARNING] : []), ...(lostVideo ? [MOTION_PHOTO_WARNING] : [])];
}
