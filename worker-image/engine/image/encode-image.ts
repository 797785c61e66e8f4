/** One picture or animation written in one target format. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { extensionOf } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Facts, Work } from '#worker-image/engine/handler.ts';
import { writeBmp } from '#worker-image/engine/image/bmp-writer.ts';
import { becomesDisplayP3, hasKeptProfile } from '#worker-image/engine/image/colour-profile.ts';
import { contentOf } from '#worker-image/engine/image/content-of.ts';
import { encodeAvif } from '#worker-image/engine/image/encode-avif.ts';
import { encodeHeic } from '#worker-image/engine/image/encode-heic.ts';
import { encodePng } from '#worker-image/engine/image/encode-png.ts';
import { encodeWebp } from '#worker-image/engine/image/encode-webp.ts';
import { avifSettings, gifSettings, jpegSettings, type Look } from '#worker-image/engine/image/encoder-settings.ts';
import { encoderQuality } from '#worker-image/engine/image/image-quality.ts';
import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import { writeImagePdf } from '#worker-image/engine/image/image-to-pdf.ts';
import type { OpenImage } from '#worker-image/engine/image/open-image.ts';
import { resizedSize, resizeImage, type Resize } from '#worker-image/engine/image/resize-image.ts';

export interface Encoding {
  readonly work: Work;
  /** Of the input. */
  readonly facts: Facts;
  readonly image: OpenImage;
  readonly target: ImageTarget;
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  /** PNG and TIFF keep every sample, with its depth. */
  readonly lossless: boolean;
  readonly resize: Resize;
  /** EXIF, XMP and the like travel along; orientation becomes 1, as the pixels are turned. */
  readonly keepMetadata: boolean;
}

/**
 * Writes the file into the work's directory and gives its path.
 * @throws MediaError limit_exceeded when a side is longer than the format allows, processing_failed when
 * the input cannot be decoded.
 */
export async function encodeImage(deps: Pick<EngineDeps, 'run' | 'signal'>, encoding: Encoding): Promise<string> {
  requireSides(encoding);
  const path = join(encoding.work.directory, `out.${extensionOf(encoding.target)}`);
  const pipeline = (): Sharp => prepare(encoding);
  await imageStep(`Writing the ${TARGETS[encoding.target].name} file`, () =>
    WRITERS[encoding.target](deps, { encoding, pipeline, path }),
  );
  return path;
}

interface Writing {
  readonly encoding: Encoding;
  /** Each call starts the input anew. */
  readonly pipeline: () => Sharp;
  readonly path: string;
}

type Writer = (deps: Pick<EngineDeps, 'run' | 'signal'>, writing: Writing) => Promise<unknown>;

const WRITERS: Readonly<Record<ImageTarget, Writer>> = {
  jpg: async (_deps, { encoding, pipeline, path }) =>
    pipeline()
      .jpeg(jpegSettings(await lookOf(encoding)))
      .toFile(path),
  webp: async (_deps, { encoding, pipeline, path }) => {
    const look = await lookOf(encoding);
    return encodeWebp({ pipeline, path, look, pixels: pixelsOf(encoding) * encoding.image.frames });
  },
  avif: async (_deps, { encoding, pipeline, path }) => {
    const picture = { pixels: pixelsOf(encoding), bitdepth: isDeep(encoding) ? 10 : 8 } as const;
    const settings = avifSettings(await lookOf(encoding), picture);
    return encodeAvif({ pipeline, path, settings, pixels: picture.pixels });
  },
  gif: (_deps, { encoding: { quality }, pipeline, path }) => pipeline().gif(gifSettings(quality)).toFile(path),
  tiff: (_deps, { pipeline, path }) =>
    pipeline().tiff({ compression: 'deflate', predictor: 'horizontal' }).toFile(path),
  png: async (_deps, { encoding, pipeline, path }) => {
    const exact = encoding.lossless || (await isBeyondPalette(encoding));
    await encodePng({ pipeline, path, quality: exact ? 100 : encoding.quality });
  },
  heic: async (deps, { encoding, pipeline, path }) => {
    const { quality, content } = await lookOf(encoding);
    const { directory } = encoding.work;
    return encodeHeic(deps, { pipeline, path, quality: encoderQuality(quality, content).heic, directory });
  },
  bmp: (_deps, { encoding, pipeline, path }) => writeBitmap(encoding, pipeline(), path),
  pdf: (_deps, { encoding: { work, image }, pipeline, path }) =>
    writeImagePdf({ work, metadata: image.metadata, pipeline, path }),
};

async function lookOf({ quality, image }: Encoding): Promise<Look> {
  return { quality, content: await contentOf(image) };
}

/** 256 colours never come nearer to a photo than this quality asks for. */
const PALETTE_UP_TO = 80;

async function isBeyondPalette(encoding: Encoding): Promise<boolean> {
  return encoding.quality > PALETTE_UP_TO && (await lookOf(encoding)).content === 'photo';
}

function pixelsOf({ facts, resize }: Encoding): number {
  const { width, height } = resizedSize({ width: facts.width ?? 1, height: facts.height ?? 1 }, resize);
  return width * height;
}

function prepare(encoding: Encoding): Sharp {
  const { image, target, resize, keepMetadata } = encoding;
  const row = TARGETS[target];
  const keepProfile = row.profile && hasKeptProfile(image.metadata);
  let pipeline = resizeImage(image.start({ animated: row.animated, keepProfile }), resize);
  if (!row.alpha) pipeline = pipeline.flatten({ background: '#ffffff' });
  if (isDeep(encoding)) pipeline = pipeline.toColourspace(isGrey(image) ? 'grey16' : 'rgb16');
  if (keepProfile) pipeline = pipeline.keepIccProfile();
  else if (becomesDisplayP3(image.metadata)) pipeline = pipeline.withIccProfile('srgb', { attach: false });
  return keepMetadata && row.exif ? carryMetadata(pipeline, keepProfile || !image.metadata.hasProfile) : pipeline;
}

/** "All" would bring back a profile that no longer fits. */
function carryMetadata(pipeline: Sharp, profileFits: boolean): Sharp {
  return profileFits ? pipeline.keepMetadata() : pipeline.keepExif().keepXmp();
}

/** Whether more than 8 bits a sample are written: only of what had them before. */
function isDeep({ image, target, lossless, quality }: Encoding): boolean {
  if (image.metadata.depth !== 'ushort') return false;
  return target === 'avif' || (TARGETS[target].deep && (lossless || quality === 100));
}

function isGrey({ metadata }: OpenImage): boolean {
  return metadata.channels <= 2;
}

async function writeBitmap({ image }: Encoding, pipeline: Sharp, path: string): Promise<void> {
  const { data, info } = await pipeline
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const density = image.metadata.density ?? 72;
  await writeFile(path, writeBmp({ width, height, data: channels === 3 ? data : spreadGrey(data, channels), density }));
}

function spreadGrey(grey: Buffer, channels: number): Buffer {
  const data = Buffer.allocUnsafe((grey.length / channels) * 3);
  for (let i = 0, o = 0; i < grey.length; i += channels, o += 3) data.fill(grey[i] ?? 0, o, o + 3);
  return data;
}

function requireSides({ target, facts, resize }: Encoding): void {
  const { width, height } = resizedSize({ width: facts.width ?? 1, height: facts.height ?? 1 }, resize);
  const { maxSide, name } = TARGETS[target];
  if (Math.max(width, height) <= maxSide) return;
  throw new MediaError(
    'limit_exceeded',
    `The picture would be ${width} × ${height} pixels; ${name} holds at most ${maxSide} on a side. Choose another format or a smaller size.`,
  );
}
