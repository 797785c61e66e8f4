import { open } from 'node:fs/promises';
import type { Facts } from '#worker-image/engine/handler.ts';

/**
 * The facts of a GIF by its canvas, which is what browsers show. libvips takes the part that the pictures
 * cover when the canvas is of a size that old programs wrote into every file, such as 640 × 480, or over 2,048:
 * a canvas over the limit is what counts then, any other is told of.
 */
export async function withCanvas(path: string, facts: Facts, maxPixels: number): Promise<Facts> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(10), 0, 10, 0);
  if (bytesRead < 10) return facts;
  const [width, height] = [buffer.readUInt16LE(6), buffer.readUInt16LE(8)];
  const covered = { width: facts.width ?? 0, height: facts.height ?? 0 };
  if (width <= covered.width && height <= covered.height) return facts;
  if (width * height > maxPixels) return { ...facts, width, height };
  const warning = `The canvas of the GIF is ${width} × ${height} pixels, its pictures cover ${covered.width} × ${covered.height} of them: empty margins are left out where it is drawn anew.`;
  return { ...facts, warning };
}
