/** GIF. Frames of a GIF are compressed as they are; those that libvips had to draw again are compressed afterwards. */
import { rename } from 'node:fs/promises';
import type { GifOptions } from 'sharp';
import { writeWhole, type WrittenFile } from '#worker-image/engine/written-file.ts';
import { compressGif, type GifTask } from '#worker-image/engine/image/encode/compress-gif.ts';
import type { Encoder, EncoderDeps, Output } from '#worker-image/engine/image/encode/encoder.ts';
import { gifLoss } from '#worker-image/engine/image/encode/quality-scale.ts';

/** Minimum quality at which a GIF keeps its palette. */
const MIN_OWN_PALETTE_QUALITY = 90;

export const encodeGif: Encoder = async (deps, output) => {
  const { picture, source, path, size } = output;
  if (picture.file.format !== 'gif') return draw(output, path);
  const isResized = size.width !== picture.size.width || size.height !== picture.size.height;
  if (isResized) return drawAndCompress(deps, output);
  const { width, height, pageHeight = height } = source.metadata;
  const input = { input: picture.file.path, size: { width, height: pageHeight } };
  return (await compress(deps, output, input)) ?? draw(output, path);
};

async function drawAndCompress(deps: EncoderDeps, output: Output): Promise<WrittenFile> {
  const path = `${output.path}.drawn.gif`;
  const drawn = await draw(output, path);
  const compressed = await compress(deps, output, { input: path, size: output.size });
  if (compressed !== null && compressed.bytes < drawn.bytes) return compressed;
  await rename(path, output.path);
  return drawn;
}

async function draw({ pipeline, quality }: Output, path: string): Promise<WrittenFile> {
  return writeWhole(path, await pipeline().gif(gifSettings(quality)).toBuffer());
}

function compress(
  deps: EncoderDeps,
  { picture, path, quality }: Output,
  input: Pick<GifTask, 'input' | 'size'>,
): Promise<WrittenFile | null> {
  const { frames, file } = picture;
  return compressGif(deps, { ...input, path, directory: file.directory, frames, loss: gifLoss(quality) });
}

/** Returns libvips' settings for GIF, which has no quality: fewer colors and a coarser match between frames. */
export function gifSettings(quality: number): GifOptions {
  return {
    colours: Math.min(256, Math.round(2 ** (3 + (4 * quality) / 75))),
    interFrameMaxError: Math.round((100 - quality) / 6),
    keepDuplicateFrames: true,
    reuse: quality >= MIN_OWN_PALETTE_QUALITY,
    effort: 7,
  };
}
