/** WebP: lossy for photos; graphics also losslessly, with few colors. */
import { rm } from 'node:fs/promises';
import type { Sharp, WebpOptions } from 'sharp';
import type { Encoder, Output } from '#worker-image/engine/image/encode/encoder.ts';
import { writePalettePng } from '#worker-image/engine/image/encode/palette.ts';
import { lossyQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { writeWhole, type WrittenFile } from '#worker-image/engine/written-file.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Maximum size of a graphic that is encoded nearly losslessly, in pixels of all frames. Larger ones take seconds. */
const MAX_EXACT_PIXELS = 4_000_000;

/** Writes WebP: a photo lossily, a graphic in the smaller of two codings. */
export const encodeWebp: Encoder = async (_deps, output) => {
  const { source, size, quality, path } = output;
  const target = await lossyQuality(source, quality);
  const isGraphic = target.content === 'graphic';
  const canBeExact = isGraphic && size.width * size.height * source.frames <= MAX_EXACT_PIXELS;
  if (canBeExact && quality === 100) return write(path, await encode(output, exactWebpSettings(target)));
  const fewColors = isGraphic && source.frames === 1 ? await encodePalette(output, target) : null;
  if (fewColors !== null) return write(path, fewColors);
  const lossy = await encode(output, webpSettings(target));
  if (!canBeExact || source.frames === 1) return write(path, lossy);
  const exact = await encode(output, exactWebpSettings(target));
  return write(path, exact.length < lossy.length ? exact : lossy);
};

/** Writes the file. Its checksum finds damages in every frame; decoding finds a quarter of those that headers do not show. */
async function write(path: string, bytes: Buffer): Promise<WrittenFile> {
  return { ...(await writeWhole(path, bytes)), undecoded: 'first frame' };
}

function encode({ pipeline }: Output, settings: WebpOptions): Promise<Buffer> {
  return pipeline().webp(settings).toBuffer();
}

/**
 * Largest lossless file of few colors that is kept, as a share of a lossy draft. The final lossy file has 0.8 of the draft's
 * bytes; ten percent more than that are kept for sharper edges. Measured with 69 graphics at four qualities.
 */
const MAX_DRAFT_SHARE = 0.9;

/** Encodes a still graphic losslessly with a palette. Returns null when that is visible or larger than a lossy file. */
async function encodePalette(output: Output, target: LossyQuality): Promise<Buffer | null> {
  const { pipeline, quality, path } = output;
  const png = `${path}.png`;
  const isInvisible = await writePalettePng({ pipeline, quality, content: 'graphic', path: png, compressionLevel: 0 });
  const exact = isInvisible ? await (await openWithMetadata(png)).webp(LOSSLESS).toBuffer() : null;
  await rm(png);
  if (exact === null) return null;
  const draft = await encode(output, { ...webpSettings(target), smartSubsample: false, effort: 0 });
  return exact.length <= draft.length * MAX_DRAFT_SHARE ? exact : null;
}

/** Opens a file whose samples are final. The output keeps what metadata it has; asked to keep more, libvips would add some. */
async function openWithMetadata(path: string): Promise<Sharp> {
  const image = sharp(path, { limitInputPixels: false, ignoreIcc: true });
  const { icc, exif, xmp } = await image.metadata();
  if (icc !== undefined) image.keepIccProfile();
  if (exif !== undefined) image.keepExif();
  return xmp === undefined ? image : image.keepXmp();
}

const LOSSLESS = { lossless: true, effort: 2 } as const satisfies WebpOptions;

/** Returns the settings for WebP, which has no full chroma. Sharp subsampling keeps colored text readable, at twice the time. */
export function webpSettings({ content, encoders }: LossyQuality): WebpOptions {
  return { quality: encoders.webp, effort: 4, smartSubsample: content === 'graphic' };
}

/** Returns the settings for every sample of a graphic, or nearly so below quality 100. */
export function exactWebpSettings({ quality }: Pick<LossyQuality, 'quality'>): WebpOptions {
  return quality === 100 ? LOSSLESS : { nearLossless: true, quality: 60, effort: 2 };
}
