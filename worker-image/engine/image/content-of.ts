/** Whether a picture is a photo or a graphic such as a screenshot, a chart or text: encoders want other settings for each. */
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import type { OpenImage } from '#worker-image/engine/image/open-image.ts';

export type Content = 'photo' | 'graphic';

/** Rows that are looked at, spread over the picture. */
const ROWS = 128;
/** Among neighbours in a row, as large a share is equal in a graphic, */
const EQUAL_SHARE = 0.5;
/** and among the others as large a share differs by an edge. Sky, studio white and gradients are flat without edges. */
const EDGE_SHARE = 0.2;
const EDGE = 24;

/**
 * Looks at the first frame. A picture whose colours are already at half resolution counts as a photo: finer settings
 * would not bring them back.
 * @throws MediaError processing_failed when it cannot be decoded.
 */
export async function contentOf({ metadata, start }: Pick<OpenImage, 'metadata' | 'start'>): Promise<Content> {
  const chroma = metadata.chromaSubsampling;
  if (chroma !== undefined && !chroma.startsWith('4:4:4')) return 'photo';
  const { width, height } = metadata.autoOrient;
  const { data, info } = await imageStep('Reading the image', () =>
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

/** The largest one of the three colours and the opacity, to the pixel before. */
function difference(data: Buffer, at: number): number {
  let largest = 0;
  for (let c = at; c < at + RGBA; c += 1) largest = Math.max(largest, Math.abs((data[c] ?? 0) - (data[c - RGBA] ?? 0)));
  return largest;
}
