/** Colors as points of four coordinates, and the centers of groups of them. */
import { squaredDistance } from '#worker-image/engine/image/encode/nearest-center.ts';

/** Samples of a color. */
export const RGBA = 4;
export const ALPHA = 3;

/** Returns four samples a color, each between 0 and 255. */
export function premultiply(colors: Uint32Array): Float32Array {
  const points = new Float32Array(colors.length * RGBA);
  for (let at = 0; at < colors.length; at += 1) {
    const color = colors[at] ?? 0;
    const alpha = color >>> 24;
    const opacity = alpha / 255;
    points[at * RGBA] = (color & 255) * opacity;
    points[at * RGBA + 1] = ((color >>> 8) & 255) * opacity;
    points[at * RGBA + 2] = ((color >>> 16) & 255) * opacity;
    points[at * RGBA + ALPHA] = alpha;
  }
  return points;
}

/** Colors by their premultiplied samples. */
export interface Points {
  /** Four samples a color, each between 0 and 255. */
  readonly coordinates: Float32Array;
  /** Number of pixels of each color. */
  readonly counts: Uint32Array;
}

/** Colors by the number of an entry or of a group. */
export interface Numbered {
  readonly entries: Uint8Array | Uint16Array;
  readonly size: number;
}

export function sumOf(counts: Uint32Array): number {
  let sum = 0;
  for (let at = 0; at < counts.length; at += 1) sum += counts[at] ?? 0;
  return sum;
}

/** Returns the number of pixels of each entry. */
export function countsOf(counts: Uint32Array, { entries, size }: Numbered): Uint32Array {
  const sums = new Uint32Array(size);
  for (let color = 0; color < entries.length; color += 1) {
    const entry = entries[color] ?? 0;
    sums[entry] = (sums[entry] ?? 0) + (counts[color] ?? 0);
  }
  return sums;
}

/** Returns the mean of the pixels of each entry, four samples an entry. An entry without colors stays at 0. */
export function centersOf({ coordinates, counts }: Points, numbered: Numbered): Float32Array {
  const { entries, size } = numbered;
  const sums = new Float64Array(size * RGBA);
  for (let color = 0; color < entries.length; color += 1) {
    const [to, from, count] = [(entries[color] ?? 0) * RGBA, color * RGBA, counts[color] ?? 0];
    for (let axis = 0; axis < RGBA; axis += 1) {
      sums[to + axis] = (sums[to + axis] ?? 0) + count * (coordinates[from + axis] ?? 0);
    }
  }
  const weights = countsOf(counts, numbered);
  const centers = new Float32Array(sums.length);
  for (let at = 0; at < sums.length; at += 1) centers[at] = (sums[at] ?? 0) / Math.max(1, weights[at >> 2] ?? 0);
  return centers;
}

/** Returns the mean squared error per sample of the colors' centers. */
export function meanError(
  { coordinates, counts }: Points,
  centers: Float32Array,
  entries: Numbered['entries'],
): number {
  let sum = 0;
  for (let color = 0; color < entries.length; color += 1) {
    sum += (counts[color] ?? 0) * squaredDistance(coordinates, color * RGBA, centers, (entries[color] ?? 0) * RGBA);
  }
  return sum / (RGBA * sumOf(counts));
}
