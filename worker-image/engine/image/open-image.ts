/** Any image input as something that sharp can read, decoded by another tool first where sharp cannot. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metadata, Region, Sharp, SharpOptions } from 'sharp';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Facts, Work } from '#worker-image/engine/handler.ts';
import { refuseTurnedAlpha } from '#worker-image/engine/image/alpha-turn.ts';
import { readBmp } from '#worker-image/engine/image/bmp-reader.ts';
import { developRaw } from '#worker-image/engine/image/camera-raw.ts';
import { decodeHeif } from '#worker-image/engine/image/decode-heif.ts';
import { isRecoverable, lostCanvas, widenCanvas } from '#worker-image/engine/image/gif-canvas.ts';
import { hasManyItems } from '#worker-image/engine/image/heif-sequence.ts';
import { isRaw } from '#worker-image/engine/image/image-formats.ts';
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import { readableCopy } from '#worker-image/engine/image/readable-copy.ts';
import { decodeOddTiff, oddTiff } from '#worker-image/engine/image/odd-tiff.ts';
import { greySpread } from '#worker-image/engine/image/limited-grey.ts';
import { loadSharp, type SharpFactory } from '#worker-image/engine/image/load-sharp.ts';

const DECODE_SECONDS = 600;

export interface OpenImage {
  /** Of the file that sharp reads. */
  readonly metadata: Metadata;
  /** Frames that can be carried on: animated GIF and WebP. */
  readonly frames: number;
  /** Transparent, or of so few colours that it was drawn rather than photographed. */
  readonly isDrawn: boolean;
  /** Starts a pipeline on the pixels as shown; `animated` takes all frames instead of the first. */
  start(how: { animated: boolean; keepProfile: boolean }): Sharp;
}

/**
 * Opens the input for decoding. Its size was checked against the limits by its header.
 * @throws MediaError processing_failed when it cannot be decoded.
 */
export async function openImage(
  deps: Pick<EngineDeps, 'run' | 'signal'>,
  work: Work,
  facts: Facts,
): Promise<OpenImage> {
  const sharp = await loadSharp();
  const { format } = work.input;
  if (format === 'bmp') return openBmp(sharp, work.input.path);
  const path = await readablePath(deps, work, facts);
  const frames = format === 'gif' || format === 'webp' ? (facts.frames ?? 1) : 1;
  const limitInputPixels = work.limits.maxPixels * frames;
  const unlimited = format === 'avif' && (await hasManyItems(path));
  const metadata = await imageStep('Reading the image', () =>
    sharp(path, { limitInputPixels, animated: frames > 1, unlimited }).metadata(),
  );
  await refuseTurnedAlpha(work.input, metadata);
  const spread = await greySpread(work.input, metadata);
  const gif = format === 'gif' ? await wholeGif(work, metadata) : null;
  return {
    metadata,
    frames,
    isDrawn: metadata.hasAlpha || metadata.isPalette || (metadata.bitsPerSample ?? 8) < 8,
    start: ({ animated, keepProfile }) => {
      const options: SharpOptions = {
        limitInputPixels,
        failOn: 'error',
        animated: animated && frames > 1,
        ignoreIcc: keepProfile,
        unlimited,
      };
      if (gif !== null) return sharp(gif.path, options).extract(gif.canvas);
      return options.animated === true ? sharp(path, options) : spread(sharp(path, options).autoOrient());
    },
  };
}

/** A copy that libvips reads with its margins, which lie in the region; null when it reads all of the file itself. */
async function wholeGif(
  { input, directory }: Work,
  { width, height, pageHeight, hasAlpha }: Metadata,
): Promise<{ path: string; canvas: Region } | null> {
  const canvas = await lostCanvas(input.path, { width, height: pageHeight ?? height });
  if (canvas === null || !isRecoverable(canvas, hasAlpha)) return null;
  const path = join(directory, 'canvas.gif');
  await widenCanvas(input.path, path, canvas);
  return { path, canvas: { left: 0, top: 0, ...canvas } };
}

/** Above, an AVIF is decoded by a tool, in 1.4 GB in place of the image library's 1.8 for one frame of 100 megapixels. */
const LIBRARY_AVIF_PIXELS = 32_000_000;

async function readablePath(deps: Pick<EngineDeps, 'run' | 'signal'>, work: Work, facts: Facts): Promise<string> {
  const { format, path } = work.input;
  const file = { path, format, directory: work.directory };
  if (isRaw(format)) return developRaw(deps, file);
  if (format === 'heic') return decodedHeif(deps, work, path);
  const odd = format === 'tiff' ? await oddTiff(path) : null;
  if (odd !== null) return decodeOddTiff(deps, { ...file, odd });
  const readable = await readableCopy(file);
  const isLarge = format === 'avif' && (facts.width ?? 0) * (facts.height ?? 0) > LIBRARY_AVIF_PIXELS;
  return isLarge && !(await hasManyItems(readable)) ? decodedHeif(deps, work, readable) : readable;
}

async function openBmp(sharp: SharpFactory, path: string): Promise<OpenImage> {
  const { data, isPalette, ...raw } = readBmp(await readFile(path));
  const start = (): Sharp => sharp(data, { raw, limitInputPixels: false });
  return { metadata: await start().metadata(), frames: 1, isDrawn: isPalette || raw.channels === 4, start };
}

async function decodedHeif(deps: Pick<EngineDeps, 'run' | 'signal'>, work: Work, heif: string): Promise<string> {
  const { input, directory } = work;
  const path = join(directory, 'decoded.tif');
  const fault = await decodeHeif(deps, { path: heif, directory, timeoutSeconds: DECODE_SECONDS }, path);
  if (fault === null) return path;
  throw new MediaError(
    'processing_failed',
    `The ${input.format.toUpperCase()} file is damaged or uses a feature that is not supported. Check that it opens in a viewer and send it again.`,
    { cause: new Error(fault) },
  );
}
