/** Classification of images as photos or graphics, such as screenshots, charts and text. Encoders need other settings for each. */
import { withImageErrors } from '#worker-image/engine/image/image-errors.ts';
import type { PixelSource } from '#worker-image/engine/image/picture.ts';

export type ImageContent = 'photo' | 'graphic';

/** Number of sampled rows, spread over the image. */
const ROWS = 128;
/** Minimum share of pixels in a graphic that equal the pixel before. */
const EQUAL_SHARE = 0.5;
/** Minimum share of edges among the other pixels of a graphic. Sky, studio white and gradients are flat without edges. */
const EDGE_SHARE = 0.2;
/** Minimum difference of an edge in a sample, of 255. */
const EDGE = 24;

/**
 * Classifies the first frame. An image with subsampled chroma counts as a photo: finer settings would not restore it.
 * @throws MediaError processing_failed when it cannot be decoded.
 */
export async function classifyImage({
  metadata,
  start,
}: Pick<PixelSource, 'metadata' | 'start'>): Promise<ImageContent> {
  const chroma = metadata.chromaSubsampling;
  if (chroma !== undefined && !chroma.startsWith('4:4:4')) return 'photo';
  const { width, height } = metadata.autoOrient;
  const { data, info } = await withImageErrors('Reading the image', () =>
    start({ animated: false, keepProfile: true })
      .resize({ width, height: Math.min(height, ROWS), fit: 'fill', kernel: 'nearest' })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true }),
  );
  return isGraphic(data, info.width * RGBA) ? 'graphic' : 'photo';
}

const RGBA = 4;

function isGraphic(data: Buffer, rowBytes: number): boolean {
  let visible = 0;
  let equal = 0;
  let edges = 0;
  for (let at = RGBA; at < data.length; at += RGBA) {
    if (at % rowBytes === 0 || (data[at + 3] === 0 && data[at - 1] === 0)) continue;
    const step = difference(data, at);
    visible += 1;
    if (step === 0) equal += 1;
    else if (step >= EDGE) edges += 1;
  }
  return visible > 0 && equal / visible >= EQUAL_SHARE && edges / Math.max(1, visible - equal) >= EDGE_SHARE;
}

/** Returns the largest difference of a sample, opacity included, from the pixel before. */
function difference(data: Buffer, at: number): number {
  let largest = 0;
  for (let c = at; c < at + RGBA; c += 1) largest = Math.max(largest, Math.abs((data[c] ?? 0) - (data[c - RGBA] ?? 0)));
  return largest;
}
