/** Encodes one image or animation in a target format. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { extensionOf } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { encodeBmp } from '#worker-image/engine/image/encode/encode-bmp.ts';
import type { ExifFields } from '#worker-image/engine/image/encode/carried-exif.ts';
import { becomesDisplayP3, hasKeptProfile } from '#worker-image/engine/image/encode/color-profile.ts';
import { classifyImage } from '#worker-image/engine/image/encode/classify-image.ts';
import { encodeAvif } from '#worker-image/engine/image/encode/encode-avif.ts';
import { encodeHeic } from '#worker-image/engine/image/encode/encode-heic.ts';
import { encodePng } from '#worker-image/engine/image/encode/encode-png.ts';
import { encodeWebp } from '#worker-image/engine/image/encode/encode-webp.ts';
import {
  avifSettings,
  gifSettings,
  jpegSettings,
  type TargetQuality,
} from '#worker-image/engine/image/encode/encoder-settings.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { withImageErrors } from '#worker-image/engine/image/image-errors.ts';
import { encodePdf } from '#worker-image/engine/image/encode/encode-pdf.ts';
import type { Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { resizedSize, resizeImage, type Resize } from '#worker-image/engine/image/resize-image.ts';

export interface Encoding {
  readonly picture: Picture;
  readonly source: PixelSource;
  readonly target: ImageTarget;
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  /** PNG and TIFF keep every sample with its depth. */
  readonly lossless: boolean;
  readonly resize: Resize;
  /** EXIF, XMP and similar metadata are copied; orientation becomes 1, as the pixels are rotated. */
  readonly keepMetadata: boolean;
  /** Details that the decoded image lacks; null for none. */
  readonly exif: ExifFields | null;
}

/**
 * Writes the output into the work's directory and returns its path.
 * @throws MediaError limit_exceeded when a side is longer than the format allows, processing_failed when
 * the input cannot be decoded.
 */
export async function encodeImage(deps: Pick<EngineDeps, 'run' | 'signal'>, encoding: Encoding): Promise<string> {
  requireSides(encoding);
  const path = join(encoding.picture.file.directory, `out.${extensionOf(encoding.target)}`);
  const pipeline = (): Sharp => prepare(encoding);
  await withImageErrors(`Writing the ${TARGETS[encoding.target].name} file`, () =>
    WRITERS[encoding.target](deps, { encoding, pipeline, path }),
  );
  return path;
}

interface OutputFile {
  readonly encoding: Encoding;
  /** Starts a new pipeline on the input. */
  readonly pipeline: () => Sharp;
  readonly path: string;
}

type Writer = (deps: Pick<EngineDeps, 'run' | 'signal'>, output: OutputFile) => Promise<unknown>;

const WRITERS: Readonly<Record<ImageTarget, Writer>> = {
  jpg: async (_deps, { encoding, pipeline, path }) =>
    pipeline()
      .jpeg(jpegSettings(await targetQuality(encoding)))
      .toFile(path),
  webp: async (_deps, { encoding, pipeline, path }) => {
    const target = await targetQuality(encoding);
    return encodeWebp({ pipeline, path, target, pixels: pixelsOf(encoding) * encoding.source.frames });
  },
  avif: async (_deps, { encoding, pipeline, path }) => {
    const samples = { pixels: pixelsOf(encoding), bitdepth: isDeep(encoding) ? 10 : 8 } as const;
    const settings = avifSettings(await targetQuality(encoding), samples);
    return encodeAvif({ pipeline, path, settings, pixels: samples.pixels });
  },
  gif: (_deps, { encoding: { quality }, pipeline, path }) => pipeline().gif(gifSettings(quality)).toFile(path),
  tiff: (_deps, { pipeline, path }) =>
    pipeline().tiff({ compression: 'deflate', predictor: 'horizontal' }).toFile(path),
  png: async (_deps, { encoding, pipeline, path }) => {
    const exact = encoding.lossless || (await isBeyondPalette(encoding));
    await encodePng({ pipeline, path, quality: exact ? 100 : encoding.quality });
  },
  heic: async (deps, { encoding, pipeline, path }) => {
    const { quality, content } = await targetQuality(encoding);
    const { directory } = encoding.picture.file;
    return encodeHeic(deps, { pipeline, path, quality: encoderQuality(quality, content).heic, directory });
  },
  bmp: (_deps, { encoding, pipeline, path }) => writeBitmap(encoding, pipeline(), path),
  pdf: (_deps, { encoding: { picture, source }, pipeline, path }) =>
    encodePdf({ picture, metadata: source.metadata, pipeline, path }),
};

async function targetQuality({ quality, source }: Encoding): Promise<TargetQuality> {
  return { quality, content: await classifyImage(source) };
}

/** Maximum quality that 256 colors can reach for a photo. */
const MAX_PALETTE_QUALITY = 80;

async function isBeyondPalette(encoding: Encoding): Promise<boolean> {
  return encoding.quality > MAX_PALETTE_QUALITY && (await targetQuality(encoding)).content === 'photo';
}

function pixelsOf({ picture, resize }: Encoding): number {
  const { width, height } = resizedSize(picture.size, resize);
  return width * height;
}

function prepare(encoding: Encoding): Sharp {
  const { source, target, resize, keepMetadata, exif } = encoding;
  const row = TARGETS[target];
  const keepProfile = row.profile && hasKeptProfile(source.metadata);
  let pipeline = resizeImage(source.start({ animated: row.animated, keepProfile }), source.size, resize);
  if (!row.alpha) pipeline = pipeline.flatten({ background: '#ffffff' });
  if (isDeep(encoding)) pipeline = pipeline.toColourspace(isGray(source) ? 'grey16' : 'rgb16');
  if (keepProfile) pipeline = pipeline.keepIccProfile();
  else if (becomesDisplayP3(source.metadata)) pipeline = pipeline.withIccProfile('srgb', { attach: false });
  return keepMetadata && row.exif
    ? carryMetadata(pipeline, { exif, profileFits: keepProfile || !source.metadata.hasProfile })
    : pipeline;
}

interface CarriedMetadata {
  readonly exif: ExifFields | null;
  /** False when the samples were converted: keeping all metadata would attach a profile that no longer fits. */
  readonly profileFits: boolean;
}

function carryMetadata(pipeline: Sharp, { exif, profileFits }: CarriedMetadata): Sharp {
  const kept = profileFits ? pipeline.keepMetadata() : pipeline.keepExif().keepXmp();
  return exif === null ? kept : kept.withExifMerge({ ...exif });
}

/** Returns whether more than 8 bits per sample are written, which needs an input that has them. */
function isDeep({ source, target, lossless, quality }: Encoding): boolean {
  if (source.metadata.depth !== 'ushort') return false;
  return target === 'avif' || (TARGETS[target].deep && (lossless || quality === 100));
}

function isGray({ metadata }: PixelSource): boolean {
  return metadata.channels <= 2;
}

async function writeBitmap({ source }: Encoding, pipeline: Sharp, path: string): Promise<void> {
  const { data, info } = await pipeline
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const density = source.metadata.density ?? 72;
  await writeFile(path, encodeBmp({ width, height, data: channels === 3 ? data : grayToRgb(data, channels), density }));
}

function grayToRgb(gray: Buffer, channels: number): Buffer {
  const data = Buffer.allocUnsafe((gray.length / channels) * 3);
  for (let i = 0, o = 0; i < gray.length; i += channels, o += 3) data.fill(gray[i] ?? 0, o, o + 3);
  return data;
}

function requireSides({ target, picture, resize }: Encoding): void {
  const { width, height } = resizedSize(picture.size, resize);
  const { maxSide, name } = TARGETS[target];
  if (Math.max(width, height) <= maxSide) return;
  throw new MediaError(
    'limit_exceeded',
    `The image would be ${width} × ${height} pixels; the maximum side of ${name} is ${maxSide}. Choose another format or a smaller size.`,
  );
}
