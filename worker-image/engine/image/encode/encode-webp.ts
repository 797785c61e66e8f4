/** WebP: lossy for photos; graphics also losslessly, with few colors. */
import { readFile, rm } from 'node:fs/promises';
import type { Sharp, WebpOptions } from 'sharp';
import { isWholeLossyWebp } from '#worker-image/engine/containers/vp8-frame.ts';
import { decodeAndClassify, openSamples, type DecodedImage } from '#worker-image/engine/image/encode/decoded-image.ts';
import type { Encoder, Output } from '#worker-image/engine/image/encode/encoder.ts';
import { encodeIndexedPng, paletteSamples, type IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';
import { reduceColors, writePalettePng } from '#worker-image/engine/image/encode/palette.ts';
import { encoderQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { releaseMemory } from '#worker-image/engine/release-memory.ts';
import { writeWhole, type WrittenFile } from '#worker-image/engine/written-file.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Maximum size of a graphic that is encoded nearly losslessly, in pixels of all frames. Larger ones take seconds. */
const MAX_EXACT_PIXELS = 4_000_000;

/** Writes WebP: a photo lossily, a graphic in the smaller of two codings. */
export const encodeWebp: Encoder = async (_deps, output) => {
  const { source, size, quality, path } = output;
  const { content, decoded } = await decodeAndClassify(output);
  const target = { quality, content, encoders: encoderQuality(quality, content) };
  const isGraphic = content === 'graphic';
  const canBeExact = isGraphic && size.width * size.height * source.frames <= MAX_EXACT_PIXELS;
  if (canBeExact && quality === 100) return write(path, await encode(output, exactWebpSettings(target)));
  const fewColors = isGraphic && source.frames === 1 ? await encodePalette(output, target, decoded) : null;
  if (fewColors !== null) return write(path, fewColors);
  const lossy = await encode(output, webpSettings(target));
  if (!canBeExact || source.frames === 1) return write(path, lossy);
  const exact = await encode(output, exactWebpSettings(target));
  return write(path, exact.length < lossy.length ? exact : lossy);
};

/** Writes the file. Its checksum finds damages in every frame; decoding finds a quarter of those that headers do not show. */
async function write(path: string, bytes: Buffer): Promise<WrittenFile> {
  return { ...(await writeWhole(path, bytes)), undecoded: isWholeLossyWebp(bytes) ? 'nothing' : 'first frame' };
}

async function encode({ pipeline, source }: Output, settings: WebpOptions): Promise<Buffer> {
  const bytes = await pipeline().webp(settings).toBuffer();
  return source.frames > 1 && source.metadata.hasAlpha ? withAlphaFlag(bytes) : bytes;
}

const [FIRST_CHUNK, FLAGS_AT, ALPHA_FLAG] = [12, 20, 0x10];

/**
 * Sets the flag of transparency of an animation: libwebp sets it for transparent frames only, but a canvas around opaque ones is
 * transparent too. Source: RFC 9649, 2.7.
 */
function withAlphaFlag(webp: Buffer): Buffer {
  if (webp.toString('latin1', FIRST_CHUNK, FIRST_CHUNK + 4) === 'VP8X')
    webp[FLAGS_AT] = (webp[FLAGS_AT] ?? 0) | ALPHA_FLAG;
  return webp;
}

/**
 * Largest lossless file of few colors that is kept, as a share of a lossy draft. The final lossy file has 0.8 of the draft's
 * bytes; ten percent more than that are kept for sharper edges. Measured with 69 graphics at four qualities.
 */
const MAX_DRAFT_SHARE = 0.9;

/** Encodes a still graphic losslessly with a palette. Returns null when that is visible or larger than a lossy file. */
async function encodePalette(
  output: Output,
  target: LossyQuality,
  decoded: DecodedImage | null,
): Promise<Buffer | null> {
  const indexed = decoded === null ? null : reduceColors(decoded, output.quality);
  const exact = indexed === null ? await encodeSearched(output) : await encodeIndexed(indexed);
  if (exact === null) return null;
  const isKept = await isSmallerThanLossy(exact, { output, target, decoded });
  if (decoded !== null) releaseMemory(decoded.samples);
  return isKept ? exact : null;
}

/** Chunks of a PNG whose metadata a WebP can contain. */
const KEPT_CHUNKS: readonly string[] = ['iCCP', 'eXIf', 'iTXt'];

/** Encodes an image losslessly. An uncompressed PNG carries its metadata, which takes longer than samples alone. */
async function encodeIndexed(image: IndexedImage): Promise<Buffer> {
  const hasMetadata = image.metadata.some(({ type }) => KEPT_CHUNKS.includes(type));
  if (hasMetadata) return (await openWithMetadata(await encodeIndexedPng(image, 0))).webp(LOSSLESS).toBuffer();
  const samples = paletteSamples(image);
  releaseMemory(image.pixels);
  const exact = await openSamples({ samples, size: image.size }).webp(LOSSLESS).toBuffer();
  releaseMemory(samples);
  return exact;
}

/** Encodes an image losslessly with a palette that libvips searches for. Returns null when its error is visible. */
async function encodeSearched({ pipeline, quality, path }: Output): Promise<Buffer | null> {
  const png = `${path}.png`;
  const isInvisible = await writePalettePng({ pipeline, quality, content: 'graphic', path: png, compressionLevel: 0 });
  const file = isInvisible ? await readFile(png) : null;
  await rm(png);
  return file === null ? null : (await openWithMetadata(file)).webp(LOSSLESS).toBuffer();
}

/**
 * Drafts of an image that was decoded to memory: height of the bands that stand for it, and distance between their first rows,
 * in pixels. A draft decides when the ratio of the sizes is that far from the limit.
 */
const DRAFTS = [
  { rows: 16, distance: 144, margin: 1.5 },
  { rows: 32, distance: 96, margin: 1 },
] as const;
/** Size up to which only the last draft is written, in pixels: the first one misses small regions. */
const MAX_SMALL_PIXELS = 2 ** 19;

interface Draft {
  readonly output: Output;
  readonly target: LossyQuality;
  readonly decoded: DecodedImage | null;
}

/** Returns whether the lossless file is kept, by drafts of a lossy one. */
async function isSmallerThanLossy(exact: Buffer, { output, target, decoded }: Draft): Promise<boolean> {
  const settings = { ...webpSettings(target), smartSubsample: false, effort: 0 };
  if (decoded === null) return exact.length <= (await encode(output, settings)).length * MAX_DRAFT_SHARE;
  const isSmall = output.size.width * output.size.height <= MAX_SMALL_PIXELS;
  let share = 0;
  for (const { margin, ...bands } of isSmall ? DRAFTS.slice(-1) : DRAFTS) {
    share = exact.length / ((await draftBytes(decoded, bands, settings)) * MAX_DRAFT_SHARE);
    if (share < 1 / margin || share > margin) break;
  }
  return share <= 1;
}

interface Bands {
  readonly rows: number;
  readonly distance: number;
}

/** Returns the bytes of a lossy file, estimated by bands of the image. */
async function draftBytes(
  { samples, size }: DecodedImage,
  { rows, distance }: Bands,
  settings: WebpOptions,
): Promise<number> {
  const rowBytes = samples.length / size.height;
  const bands: Buffer[] = [];
  for (let y = 0; y < size.height; y += distance) {
    bands.push(samples.subarray(y * rowBytes, Math.min(size.height, y + rows) * rowBytes));
  }
  const sampled = Buffer.concat(bands);
  const height = sampled.length / rowBytes;
  const draft = await openSamples({ samples: sampled, size: { width: size.width, height } })
    .webp(settings)
    .toBuffer();
  return (draft.length * size.height) / height;
}

/** Opens a PNG whose samples are final. The output keeps what metadata it has; asked to keep more, libvips would add some. */
async function openWithMetadata(png: Buffer): Promise<Sharp> {
  const image = sharp(png, { limitInputPixels: false, ignoreIcc: true });
  const { icc, exif, xmp } = await image.metadata();
  if (icc !== undefined) image.keepIccProfile();
  if (exif !== undefined) image.keepExif();
  return xmp === undefined ? image : image.keepXmp();
}

/**
 * In lossless files `quality` is effort too: the default of 80 takes longer for files of the same size. Below 51 libwebp
 * searches for repetitions in fewer rows.
 */
const LOSSLESS = { lossless: true, effort: 2, quality: 51 } as const satisfies WebpOptions;

/** Returns the settings for WebP, which has no full chroma. Sharp subsampling keeps colored text readable, at twice the time. */
export function webpSettings({ content, encoders }: LossyQuality): WebpOptions {
  return { quality: encoders.webp, effort: 4, smartSubsample: content === 'graphic' };
}

/** Returns the settings for every sample of a graphic, or nearly so below quality 100. */
export function exactWebpSettings({ quality }: Pick<LossyQuality, 'quality'>): WebpOptions {
  return quality === 100 ? LOSSLESS : { nearLossless: true, quality: 60, effort: 2 };
}
