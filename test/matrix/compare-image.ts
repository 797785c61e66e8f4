/** Compares processed images: content, size, orientation and duration. */
import { expect } from 'vitest';
import { CONVERT_TARGETS, type Format } from '#crds/catalogue/formats.ts';
import type { Cell } from '#test/matrix/cells.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { animationOf, distance, drawnPhoto, openDisplayed } from '#test/matrix/displayed-image.ts';

export interface ImageInput {
  /** Name of the fixture. */
  readonly name: string;
  readonly format: Format;
  /** Stored size, without rotation, in pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** EXIF orientation. */
  readonly orientation: number;
  /** Maximum distance; higher where colors are converted. */
  readonly tolerance: number;
  /** Frames or pages that a warning reports when the target cannot hold them. */
  readonly holds: 'frames' | 'pages' | null;
  /** Targets of the tested conversions. */
  readonly targets: readonly Format[];
}

const SMALL = { width: 320, height: 240 };

const row = (name: string, format: Format, more: Partial<ImageInput> = {}): ImageInput => ({
  name,
  format,
  size: SMALL,
  orientation: 1,
  tolerance: 5,
  holds: null,
  targets: CONVERT_TARGETS.image,
  ...more,
});
/** Returns an input of camera RAW. LibRaw scales the brightness until the lightest parts are white. */
const raw = (format: Format): ImageInput => row(`photo-${format}`, format, { tolerance: 25 });

/** One input for every format. */
export const IMAGE_INPUTS: readonly ImageInput[] = [
  row('orientation-6-jpg', 'jpg', { orientation: 6 }),
  row('photo-png', 'png', { orientation: 6 }),
  row('photo-webp', 'webp', { orientation: 6 }),
  row('photo-avif', 'avif'),
  row('photo-heic', 'heic', { size: { width: 640, height: 480 } }),
  row('photo-gif', 'gif'),
  row('photo-tiff', 'tiff', { orientation: 6 }),
  row('photo-bmp', 'bmp'),
  ...(['cr2', 'nef', 'arw', 'dng', 'orf', 'rw2', 'raf'] as const).map(raw),
];

/** A target with rotated pixels and one with a rotated page. */
const ROTATED_TARGETS: readonly Format[] = ['png', 'pdf'];

/** Further variants of formats. */
export const IMAGE_VARIANTS: readonly ImageInput[] = [
  row('animated-gif', 'gif', { holds: 'frames' }),
  row('animated-webp', 'webp', { holds: 'frames' }),
  row('animated-png', 'png', { holds: 'frames' }),
  row('two-pages-tiff', 'tiff', { holds: 'pages' }),
  row('p3-jpg', 'jpg'),
  row('cmyk-jpg', 'jpg', { tolerance: 20 }),
  row('cmyk-bare-jpg', 'jpg', { tolerance: 20 }),
  row('16-bit-png', 'png'),
  // EXIF orientation 8 is a rotation by 90° to the left.
  row('rotated-heic', 'heic', { size: { width: 640, height: 480 }, orientation: 8 }),
  ...[2, 3, 4, 5, 7, 8].map((orientation) =>
    row(`orientation-${orientation}-jpg`, 'jpg', { orientation, targets: ROTATED_TARGETS }),
  ),
];

const ANIMATED: readonly Format[] = ['gif', 'webp'];
const GIF_TICK_MS = 10;

export async function compareImage({ cell, file, source, directory }: Comparison, input: ImageInput): Promise<void> {
  const { result } = file.report;
  const wanted = await drawnPhoto(input.size, input.orientation);
  const displayed = await openDisplayed(file.path, result.output_format, directory);
  expect({ width: result.width, height: result.height }).toEqual({ width: wanted.width, height: wanted.height });
  expect(Math.abs(displayed.width - wanted.width)).toBeLessThanOrEqual(1);
  expect(Math.abs(displayed.height - wanted.height)).toBeLessThanOrEqual(1);
  expect(distance(displayed, wanted)).toBeLessThan(input.tolerance);
  await compareFrames({ cell, path: file.path, output: result.output_format, source }, input);
  if (!result.kept_original) expectWarning(result.warnings, cell, input, result.output_format);
}

interface Frames {
  readonly cell: Cell;
  readonly path: string;
  readonly output: Format;
  readonly source: string;
}

async function compareFrames({ path, output, source }: Frames, input: ImageInput): Promise<void> {
  if (input.holds !== 'frames' || !ANIMATED.includes(output) || !ANIMATED.includes(input.format)) return;
  const [before, after] = await Promise.all([animationOf(source), animationOf(path)]);
  expect(Math.abs(after.ms - before.ms)).toBeLessThanOrEqual(GIF_TICK_MS * before.frames);
  expect(after.loop).toBe(before.loop);
  if (output === 'gif') expect(after.frames).toBe(before.frames);
}

/** Asserts the warnings, by docs/reference/direct.md#convert; a BMP has no metadata to strip. */
function expectWarning(warnings: readonly string[], cell: Cell, input: ImageInput, output: Format): void {
  const isLost =
    cell.operation !== 'strip_metadata' &&
    input.holds !== null &&
    !(input.holds === 'frames' && ANIMATED.includes(input.format) && ANIMATED.includes(output));
  const isBare = cell.operation === 'strip_metadata' && input.format === 'bmp';
  // When the requested format would be larger, compress keeps the original with a warning.
  const isDropped = cell.operation === 'compress' && cell.target !== 'original' && cell.target !== output;
  expect(warnings.length > 0).toBe(isLost || isBare || isDropped);
  if (isDropped) expect(warnings.join(' ')).toContain(`The ${cell.target} would have`);
  if (isLost) expect(warnings.join(' ')).toContain(input.holds);
}
