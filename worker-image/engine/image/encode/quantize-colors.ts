/**
 * Palettes for graphics: the colors are divided at their means until the error is small enough, then moved to the centers of
 * what they stand for. Colors are compared premultiplied by their opacity. Nothing is dithered.
 */
import { countColors, type ColorCounts } from '#worker-image/engine/image/encode/count-colors.ts';
import {
  ALPHA,
  centersOf,
  countsOf,
  meanError,
  premultiply,
  RGBA,
  sumOf,
  type Points,
} from '#worker-image/engine/image/encode/color-points.ts';
import { NearestCenter } from '#worker-image/engine/image/encode/nearest-center.ts';

export interface ColorPalette {
  /** RGBA samples of each entry, as in `ColorCounts`. */
  readonly colors: Uint32Array;
  /** Entry of each color of the image. */
  readonly entries: Uint8Array;
  /** Mean squared error per premultiplied 8-bit sample. */
  readonly error: number;
}

const MAX_ENTRIES = 256;
/** Maximum number of colors that are all kept. For more, an exact file is a third larger. */
const MAX_EXACT_COLORS = 32;
/**
 * Error at which no more entries are added, as a share of the limit, for an image of one color. It grows with the cube root
 * of their number: images of many colors have texture, which hides errors. Measured with 32 graphics at quality 75.
 */
const TARGET_SHARE = 0.0027;
/** Rounds in which entries are moved and colors are assigned again. More change nothing that can be measured. */
const ROUNDS = 2;
/**
 * Number of colors from which similar ones are merged while entries are searched, and the bits by which they are compared.
 * Without the two lowest bits of a sample, the screenshot lost up to 2 points.
 */
const [MIN_MERGED_COLORS, MERGED_BITS] = [4096, 0xfefefefe];
/** Maximum error of the merged colors, as a share of the allowed one. */
const MAX_MERGED_SHARE = 0.5;
/** Minimum share of an entry's pixels for which one color becomes the entry, so that a background keeps its color. */
const DOMINANT_SHARE = 0.5;

/** Returns a palette for the colors. @param errorLimit Largest invisible error. */
export function quantizeColors(counted: ColorCounts, errorLimit: number): ColorPalette {
  const { colors, counts } = counted;
  if (colors.length <= MAX_EXACT_COLORS) {
    return { colors, entries: Uint8Array.from(colors, (_color, at) => at), error: 0 };
  }
  const points = { coordinates: premultiply(colors), counts };
  const share = TARGET_SHARE * Math.cbrt(colors.length);
  const assigned = divideMerged(points, colors, errorLimit * share * RGBA * sumOf(counts));
  const palette = roundCenters(centersOf(points, assigned), counted, assigned.entries);
  const rounded = premultiply(palette);
  assign(points, rounded, assigned.entries);
  return { colors: palette, entries: assigned.entries, error: meanError(points, rounded, assigned.entries) };
}

interface Assignment {
  /** Entry of each color. */
  readonly entries: Uint8Array;
  /** Number of entries. */
  readonly size: number;
}

/**
 * Divides the colors until the squared errors of all pixels sum to at most `allowed`. Among many colors, similar ones count as
 * one, which takes less time.
 */
function divideMerged(points: Points, colors: Uint32Array, allowed: number): Assignment {
  const similar = colors.length < MIN_MERGED_COLORS ? null : countSimilar(colors);
  if (similar === null) return divideAndMove(points, allowed);
  const groups = { entries: similar.pixels, size: similar.colors.length };
  const merged = { coordinates: centersOf(points, groups), counts: countsOf(points.counts, groups) };
  const error = RGBA * sumOf(points.counts) * meanError(points, merged.coordinates, groups.entries);
  if (error > allowed * MAX_MERGED_SHARE) return divideAndMove(points, allowed);
  const { entries, size } = divideAndMove(merged, allowed - error);
  const composed = new Uint8Array(colors.length);
  for (let color = 0; color < composed.length; color += 1) composed[color] = entries[groups.entries[color] ?? 0] ?? 0;
  return { entries: composed, size };
}

function countSimilar(colors: Uint32Array): ColorCounts | null {
  const masked = new Uint32Array(colors.length);
  for (let color = 0; color < masked.length; color += 1) masked[color] = (colors[color] ?? 0) & MERGED_BITS;
  return countColors(Buffer.from(masked.buffer));
}

/** Divides the colors and moves the entries to the centers of what they stand for. */
function divideAndMove(points: Points, allowed: number): Assignment {
  const assigned = divide(points, allowed);
  for (let round = 0; round < ROUNDS; round += 1) assign(points, centersOf(points, assigned), assigned.entries);
  return assigned;
}

/** Divides the colors into groups until the squared errors of all pixels sum to at most `allowed`. */
function divide({ coordinates: points, counts }: Points, allowed: number): Assignment {
  const order = new Uint32Array(counts.length);
  for (let at = 0; at < order.length; at += 1) order[at] = at;
  const measure = (begin: number, end: number): Group => measureGroup({ points, counts, order }, begin, end);
  const groups = [measure(0, order.length)];
  let error = groups[0]?.error ?? 0;
  while (groups.length < MAX_ENTRIES && error > allowed) {
    const worst = groups.reduce((one, other) => (other.error > one.error ? other : one));
    const middle = partition(points, order, worst);
    if (middle === worst.begin || middle === worst.end) break;
    const parts = [measure(worst.begin, middle), measure(middle, worst.end)] as const;
    error += parts[0].error + parts[1].error - worst.error;
    groups[groups.indexOf(worst)] = parts[0];
    groups.push(parts[1]);
  }
  const entries = new Uint8Array(order.length);
  groups.forEach(({ begin, end }, entry) => {
    for (let at = begin; at < end; at += 1) entries[order[at] ?? 0] = entry;
  });
  return { entries, size: groups.length };
}

/** Colors between two positions of the order. */
interface Group {
  readonly begin: number;
  readonly end: number;
  /** Sample that differs most, and its mean. */
  readonly axis: number;
  readonly mean: number;
  /** Sum of the squared errors of all pixels. */
  readonly error: number;
}

interface Ordered {
  readonly points: Float32Array;
  readonly counts: Uint32Array;
  readonly order: Uint32Array;
}

function measureGroup(ordered: Ordered, begin: number, end: number): Group {
  const group = { begin, end, axis: 0, mean: 0, error: 0 };
  let largest = -1;
  for (let axis = 0; axis < RGBA; axis += 1) {
    const { mean, error } = measureAxis(ordered, { begin, end, axis });
    group.error += error;
    if (error <= largest) continue;
    largest = error;
    group.axis = axis;
    group.mean = mean;
  }
  return group;
}

/** Returns the mean of a sample of a group's pixels, and the sum of its squared errors. */
function measureAxis(
  { points, counts, order }: Ordered,
  { begin, end, axis }: Pick<Group, 'begin' | 'end' | 'axis'>,
): Pick<Group, 'mean' | 'error'> {
  let [weight, sum, squares] = [0, 0, 0];
  for (let at = begin; at < end; at += 1) {
    const color = order[at] ?? 0;
    const count = counts[color] ?? 0;
    const value = points[color * RGBA + axis] ?? 0;
    weight += count;
    sum += count * value;
    squares += count * value * value;
  }
  return { mean: sum / weight, error: Math.max(0, squares - (sum * sum) / weight) };
}

/** Orders the colors of a group: those up to the mean first. Returns the position of the first one above it. */
function partition(points: Float32Array, order: Uint32Array, { begin, end, axis, mean }: Group): number {
  let middle = begin;
  for (let at = begin; at < end; at += 1) {
    const color = order[at] ?? 0;
    if ((points[color * RGBA + axis] ?? 0) > mean) continue;
    order[at] = order[middle] ?? 0;
    order[middle] = color;
    middle += 1;
  }
  return middle;
}

/** Returns the entries as colors: the dominant color of an entry, or its center. */
function roundCenters(centers: Float32Array, { colors, counts }: ColorCounts, entries: Uint8Array): Uint32Array {
  const size = centers.length / RGBA;
  const pixels = new Float64Array(size);
  const dominant = new Uint32Array(size);
  for (let color = 0; color < entries.length; color += 1) {
    const [entry, count] = [entries[color] ?? 0, counts[color] ?? 0];
    const isFirst = pixels[entry] === 0;
    pixels[entry] = (pixels[entry] ?? 0) + count;
    if (isFirst || count > (counts[dominant[entry] ?? 0] ?? 0)) dominant[entry] = color;
  }
  return Uint32Array.from(dominant, (color, entry) =>
    (counts[color] ?? 0) >= DOMINANT_SHARE * (pixels[entry] ?? 0)
      ? (colors[color] ?? 0)
      : roundCenter(centers.subarray(entry * RGBA, entry * RGBA + RGBA)),
  );
}

function roundCenter(center: Float32Array): number {
  const alpha = Math.round(center[ALPHA] ?? 0);
  if (alpha === 0) return 0;
  const sample = (axis: number): number => Math.min(255, Math.round(((center[axis] ?? 0) * 255) / alpha));
  return ((alpha << 24) | (sample(2) << 16) | (sample(1) << 8) | sample(0)) >>> 0;
}

/** Assigns each color to the nearest center. */
function assign({ coordinates }: Points, centers: Float32Array, entries: Uint8Array): void {
  const search = new NearestCenter(centers);
  for (let color = 0; color < entries.length; color += 1) {
    entries[color] = search.find(coordinates, color * RGBA, entries[color] ?? 0);
  }
}
