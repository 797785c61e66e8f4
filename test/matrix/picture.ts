/** What a picture file shows, read by other means than the engine's own: a small grid of colours, and the whole size. */

import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Format } from '#crds/formats.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { photoLike } from '#test/fixtures/photo-like.ts';

export interface Seen {
  readonly width: number;
  readonly height: number;
  /** Mean colours, RGB, row by row, on white. */
  readonly grid: Buffer;
}

const SIDE = 24;

/** The picture of the fixtures in the given EXIF orientation, as it is to be seen. */
export async function drawnPhoto(size: { width: number; height: number }, orientation = 1): Promise<Seen> {
  const raw = { ...size, channels: 3 } as const;
  const upright = TURNS[orientation - 1]?.(sharp(photoLike(size), { raw })) ?? sharp(photoLike(size), { raw });
  return see(sharp(await upright.png().toBuffer()));
}

/** By EXIF orientation, each spelled out; the library mirrors before it turns. */
const TURNS: readonly ((picture: Sharp) => Sharp)[] = [
  (picture) => picture,
  (picture) => picture.flop(),
  (picture) => picture.rotate(180),
  (picture) => picture.flip(),
  (picture) => picture.flop().rotate(270),
  (picture) => picture.rotate(90),
  (picture) => picture.flop().rotate(90),
  (picture) => picture.rotate(270),
];

/** Opens a file as a viewer does: turned as its tags say, through its profile; the first frame or page. */
export async function lookAt(path: string, format: Format, directory: string): Promise<Seen> {
  if (format === 'heic') return see(sharp(await decoded(directory, 'tif', (to) => ['vips', 'heifload', path, to])));
  if (format === 'bmp') return see(sharp(await decoded(directory, 'png', (to) => bitmapToPng(path, to))));
  if (format === 'pdf') return see(sharp(await pageOf(path, directory)));
  return see(sharp(path, { limitInputPixels: false }).autoOrient());
}

/** Mean difference of the colours, 0 to 255; more than 30 is another picture. */
export function distance(one: Seen, other: Seen): number {
  const sum = one.grid.reduce((total, value, i) => total + Math.abs(value - (other.grid[i] ?? 0)), 0);
  return sum / one.grid.length;
}

async function see(picture: Sharp): Promise<Seen> {
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

/** The first page at 72 dpi. */
async function pageOf(path: string, directory: string): Promise<string> {
  const name = join(directory, `page-${(files += 1)}`);
  await runTool(directory, 'pdftoppm', ['-r', '72', '-png', '-singlefile', path, name]);
  return `${name}.png`;
}

/** Frames, time of all of them in milliseconds and repetitions of a GIF or WebP. */
export async function animationOf(path: string): Promise<{ frames: number; ms: number; loop: number }> {
  const { pages = 1, delay = [], loop = 0 } = await sharp(path, { animated: true }).metadata();
  return { frames: pages, ms: delay.reduce((sum, ms) => sum + ms, 0), loop };
}
