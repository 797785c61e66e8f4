/**
 * The canvas of a GIF, which is what browsers show. libvips takes the part that the pictures cover instead when the
 * canvas is of a size that old programs wrote into every file, such as 640 × 480, or over 2,048 on a side.
 */
import { open, readFile, writeFile } from 'node:fs/promises';
import type { Facts } from '#worker-image/engine/handler.ts';
import type { Size } from '#worker-image/engine/image/resize-image.ts';

const WIDTH_AT = 6;
const HEIGHT_AT = 8;
const DISTRUSTED: readonly string[] = ['640x480', '640x512', '800x600', '1024x768', '1280x1024', '1600x1200'];

/** The canvas where libvips would leave margins of it out; null when what it gives is the canvas. */
export async function lostCanvas(path: string, covered: Size): Promise<Size | null> {
  const canvas = await readCanvas(path);
  if (canvas === null || (canvas.width <= covered.width && canvas.height <= covered.height)) return null;
  return canvas;
}

/**
 * Whether a copy made by `widenCanvas` brings the margins back as browsers show them: in a GIF without transparency
 * libvips would fill them with a colour.
 */
export function isRecoverable({ width, height }: Size, hasAlpha: boolean): boolean {
  return hasAlpha && DISTRUSTED.includes(`${width}x${height}`);
}

/** Copies the GIF with a canvas that is a pixel wider, of a size that libvips believes; it is to be cut off again. */
export async function widenCanvas(from: string, to: string, { width }: Size): Promise<void> {
  const bytes = await readFile(from);
  bytes.writeUInt16LE(width + 1, WIDTH_AT);
  await writeFile(to, bytes);
}

/** The facts by the canvas: over the limit it is what counts, where its margins are lost that is told. */
export async function withCanvas(path: string, facts: Facts, maxPixels: number): Promise<Facts> {
  const covered = { width: facts.width ?? 0, height: facts.height ?? 0 };
  const canvas = await lostCanvas(path, covered);
  if (canvas === null) return facts;
  const { width, height } = canvas;
  if (width * height > maxPixels) return { ...facts, width, height };
  const warning = `The canvas of the GIF is ${width} × ${height} pixels, its pictures cover ${covered.width} × ${covered.height} of them: empty margins are left out where it is drawn anew.`;
  return { ...facts, warning };
}

async function readCanvas(path: string): Promise<Size | null> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(10), 0, 10, 0);
  if (bytesRead < 10) return null;
  return { width: buffer.readUInt16LE(WIDTH_AT), height: buffer.readUInt16LE(HEIGHT_AT) };
}
