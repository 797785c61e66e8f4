/**
 * The service's quality scale. A quality q stands for a similarity to the input in any format, in SSIMULACRA2 about 62 at
 * 50, 74 at 75 and 85 at 90. Each row holds the encoders' own qualities for one q, measured on the calibration set. They
 * are interpolated between rows and extrapolated outside 30 to 95. See docs/reference/options.md#image.
 */
import { ALPHA_SHIFT, pixelWords } from '#worker-image/engine/image/encode/count-colors.ts';
import { withImageErrors } from '#worker-image/engine/image/libvips-picture.ts';
import type { ImageSize, PixelSource } from '#worker-image/engine/image/picture.ts';

/** Photos and graphics, such as screenshots, charts and text, need other settings of an encoder. */
export type ImageContent = 'photo' | 'graphic';

/** Quality of a lossy output. */
export interface LossyQuality {
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  readonly content: ImageContent;
  readonly encoders: EncoderQuality;
}

/** Returns the quality for an image. @throws MediaError processing_failed when it cannot be decoded. */
export async function lossyQuality(
  source: Pick<PixelSource, 'metadata' | 'start'>,
  quality: number,
): Promise<LossyQuality> {
  const content = await classifyImage(source);
  return { quality, content, encoders: encoderQuality(quality, content) };
}

export interface EncoderQuality {
  readonly jpg: number;
  readonly webp: number;
  readonly avif: number;
  readonly heic: number;
}

type QualityRow = EncoderQuality & { readonly q: number };

const BEST: QualityRow = { q: 100, jpg: 100, webp: 100, avif: 100, heic: 90 };

/** Measured with the settings of each encoder: subsampled chroma in WebP and HEIC, in JPEG below 95, and in AVIF below 80. */
const PHOTO: readonly QualityRow[] = [
  { q: 0, jpg: 1, webp: 1, avif: 8, heic: 8 },
  { q: 30, jpg: 20, webp: 17, avif: 24, heic: 21 },
  { q: 50, jpg: 37, webp: 49, avif: 40, heic: 32 },
  { q: 60, jpg: 46, webp: 64, avif: 45, heic: 36 },
  { q: 70, jpg: 55, webp: 73, avif: 51, heic: 39 },
  { q: 75, jpg: 61, webp: 78, avif: 54, heic: 41 },
  { q: 80, jpg: 69, webp: 83, avif: 58, heic: 45 },
  { q: 85, jpg: 80, webp: 87, avif: 65, heic: 48 },
  { q: 90, jpg: 85, webp: 91, avif: 75, heic: 54 },
  { q: 95, jpg: 93, webp: 96, avif: 83, heic: 61 },
  BEST,
];

/**
 * Measured with full chroma where the format has it, and sharp subsampling in WebP. HEIC with subsampled chroma reaches a
 * mean of at most 81: colored text on a colored background stays at 50.
 */
const GRAPHIC: readonly QualityRow[] = [
  { q: 0, jpg: 1, webp: 1, avif: 4, heic: 8 },
  { q: 30, jpg: 22, webp: 8, avif: 12, heic: 20 },
  { q: 50, jpg: 52, webp: 20, avif: 25, heic: 29 },
  { q: 60, jpg: 64, webp: 37, avif: 31, heic: 33 },
  { q: 70, jpg: 73, webp: 49, avif: 35, heic: 38 },
  { q: 75, jpg: 77, webp: 57, avif: 38, heic: 42 },
  { q: 80, jpg: 83, webp: 72, avif: 43, heic: 49 },
  { q: 85, jpg: 87, webp: 81, avif: 49, heic: 58 },
  { q: 90, jpg: 92, webp: 92, avif: 56, heic: 68 },
  { q: 95, jpg: 95, webp: 97, avif: 63, heic: 76 },
  BEST,
];

const SCALES: Readonly<Record<ImageContent, readonly QualityRow[]>> = { photo: PHOTO, graphic: GRAPHIC };

/**
 * Loss of gifsicle by quality, for every content: graphics hardly become smaller with more. 0 is lossless. Measured with the
 * settings of `compress-gif.ts`, relative to a GIF.
 */
const GIF_LOSS: readonly { readonly q: number; readonly loss: number }[] = [
  { q: 0, loss: 200 },
  { q: 30, loss: 75 },
  { q: 50, loss: 43 },
  { q: 60, loss: 32 },
  { q: 70, loss: 23 },
  { q: 75, loss: 19 },
  { q: 80, loss: 14 },
  { q: 85, loss: 11 },
  { q: 90, loss: 8 },
  { q: 95, loss: 4 },
  { q: 100, loss: 0 },
];

/** Returns the encoders' own qualities for a quality of 0 to 100. */
export function encoderQuality(q: number, content: ImageContent): EncoderQuality {
  const between = interpolator(SCALES[content], q);
  return {
    jpg: between(({ jpg }) => jpg),
    webp: between(({ webp }) => webp),
    avif: between(({ avif }) => avif),
    heic: between(({ heic }) => heic),
  };
}

/** Returns the loss of gifsicle for a quality of 0 to 100. */
export function gifLoss(q: number): number {
  return interpolator(GIF_LOSS, q)(({ loss }) => loss);
}

/** Returns a function that interpolates a column of the rows at q, rounded. */
function interpolator<Row extends { readonly q: number }>(
  rows: readonly Row[],
  q: number,
): (column: (row: Row) => number) => number {
  const low = rows.findLast((row) => row.q <= q) ?? rows[0];
  const high = rows.find((row) => row.q >= q) ?? low;
  if (low === undefined || high === undefined) throw new TypeError('a scale has no rows');
  const share = high.q === low.q ? 1 : (q - low.q) / (high.q - low.q);
  return (column) => Math.round(column(low) + (column(high) - column(low)) * share);
}

/** Number of sampled rows, spread over the image. */
const SAMPLED_ROWS = 128;
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
  if (!hasFullChroma(metadata)) return 'photo';
  const { width, height } = metadata.autoOrient;
  const { data, info } = await withImageErrors('Reading the image', () =>
    start({ animated: false, keepProfile: true })
      .resize({ width, height: Math.min(height, SAMPLED_ROWS), fit: 'fill', kernel: 'nearest' })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true }),
  );
  return classifySamples(data, info);
}

/** Returns whether the image has as many samples of color as of brightness. */
export function hasFullChroma({
  chromaSubsampling = '4:4:4',
}: Pick<PixelSource['metadata'], 'chromaSubsampling'>): boolean {
  return chromaSubsampling.startsWith('4:4:4');
}

/** Counts of pixels that are compared with the pixel before. */
interface Neighbors {
  visible: number;
  equal: number;
  edges: number;
}

/** Classifies RGBA samples of an image with full chroma by some of its rows. */
export function classifySamples(samples: Buffer, { width, height }: ImageSize): ImageContent {
  const words = pixelWords(samples);
  const counted: Neighbors = { visible: 0, equal: 0, edges: 0 };
  const rows = Math.min(height, SAMPLED_ROWS);
  for (let row = 0; row < rows; row += 1) {
    const y = Math.floor(((row + 0.5) * height) / rows);
    countNeighbors(words.subarray(y * width, (y + 1) * width), counted);
  }
  const { visible, equal, edges } = counted;
  const isGraphic = visible > 0 && equal / visible >= EQUAL_SHARE && edges / Math.max(1, visible - equal) >= EDGE_SHARE;
  return isGraphic ? 'graphic' : 'photo';
}

function countNeighbors(row: Uint32Array, counted: Neighbors): void {
  let [visible, equal, edges] = [0, 0, 0];
  let before = row[0] ?? 0;
  for (let x = 1; x < row.length; x += 1) {
    const word = row[x] ?? 0;
    if ((word | before) >>> ALPHA_SHIFT !== 0) {
      visible += 1;
      if (word === before) equal += 1;
      else if (hasEdge(word, before)) edges += 1;
    }
    before = word;
  }
  counted.visible += visible;
  counted.equal += equal;
  counted.edges += edges;
}

/** Returns whether a sample of two pixels, opacity included, differs by an edge. */
function hasEdge(one: number, other: number): boolean {
  for (let shift = 0; shift <= ALPHA_SHIFT; shift += 8) {
    if (Math.abs(((one >>> shift) & 255) - ((other >>> shift) & 255)) >= EDGE) return true;
  }
  return false;
}
