/** Size and a small grid of colors of an image as displayed, decoded by other programs than the engine's. */

import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Format } from '#crds/catalogue/formats.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { photoLike } from '#test/fixtures/photo-like.ts';

export interface DisplayedImage {
  readonly width: number;
  readonly height: number;
  /** Mean RGB colors on white, row by row. */
  readonly grid: Buffer;
}

const SIDE = 24;

const drawnPhotos = new Map<string, Promise<DisplayedImage>>();

/** Returns the image of the fixtures as displayed with the given EXIF orientation. */
export function drawnPhoto(size: { width: number; height: number }, orientation = 1): Promise<DisplayedImage> {
  const key = `${size.width} ${size.height} ${orientation}`;
  const drawn = drawnPhotos.get(key) ?? drawPhoto(size, orientation);
  drawnPhotos.set(key, drawn);
  return drawn;
}

async function drawPhoto(size: { width: number; height: number }, orientation: number): Promise<DisplayedImage> {
  const raw = { ...size, channels: 3 } as const;
  const upright = ROTATIONS[orientation - 1]?.(sharp(photoLike(size), { raw })) ?? sharp(photoLike(size), { raw });
  return sampleGrid(sharp(await upright.png().toBuffer()));
}

/** Transforms by EXIF orientation. sharp mirrors before it rotates. */
const ROTATIONS: readonly ((picture: Sharp) => Sharp)[] = [
  (picture) => picture,
  (picture) => picture.flop(),
  (picture) => picture.rotate(180),
  (picture) => picture.flip(),
  (picture) => picture.flop().rotate(270),
  (picture) => picture.rotate(90),
  (picture) => picture.flop().rotate(90),
  (picture) => picture.rotate(270),
];

/** Opens the first frame or page as a viewer does: rotated by its tags, converted by its profile. */
export async function openDisplayed(path: string, format: Format, directory: string): Promise<DisplayedImage> {
  if (format === 'heic')
    return sampleGrid(sharp(await decoded(directory, 'tif', (to) => ['vips', 'heifload', path, to])));
  if (format === 'bmp') return sampleGrid(sharp(await decoded(directory, 'png', (to) => bitmapToPng(path, to))));
  if (format === 'pdf') return sampleGrid(sharp(await renderFirstPage(path, directory)));
  return sampleGrid(sharp(path, { limitInputPixels: false }).autoOrient());
}

/** Returns the mean difference of the colors, 0 to 255; more than 30 is a different image. */
export function distance(one: DisplayedImage, other: DisplayedImage): number {
  const sum = one.grid.reduce((total, value, i) => total + Math.abs(value - (other.grid[i] ?? 0)), 0);
  return sum / one.grid.length;
}

async function sampleGrid(picture: Sharp): Promise<DisplayedImage> {
  const { data, info } = await picture
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  const grid = await sharp(data)
    .resize(SIDE, SIDE, { fit: 'fill' })
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer();
  return { width: info.width, height: info.height, grid };
}

let files = 0;

async function decoded(directory: string, extension: string, command: (to: string) => string[]): Promise<string> {
  const to = join(directory, `seen-${(files += 1)}.${extension}`);
  const [file = '', ...args] = command(to);
  await runTool(directory, file, args);
  return to;
}

function bitmapToPng(path: string, to: string): string[] {
  return ['ffmpeg', '-v', 'error', '-nostdin', '-f', 'bmp_pipe', '-i', path, '-frames:v', '1', to];
}

/** Renders the first page at 72 dpi and returns the path of the PNG. */
async function renderFirstPage(path: string, directory: string): Promise<string> {
  const name = join(directory, `page-${(files += 1)}`);
  await runTool(directory, 'pdftoppm', ['-r', '72', '-png', '-singlefile', path, name]);
  return `${name}.png`;
}

/** Returns the frames, total duration in milliseconds and repetitions of a GIF or WebP. */
export async function animationOf(path: string): Promise<{ frames: number; ms: number; loop: number }> {
  const { pages = 1, delay = [], loop = 0 } = await sharp(path, { animated: true }).metadata();
  return { frames: pages, ms: delay.reduce((sum, ms) => sum + ms, 0), loop };
}
