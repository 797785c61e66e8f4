/**
 * Palettes for graphics: the colors are divided at their means until the error is small enough, then moved to the centers of
 * what they stand for. Colors are compared premultiplied by their opacity. Nothing is dithered.
 */
import type { ColorCounts } from '#worker-image/engine/image/encode/count-colors.ts';
import { NearestCenter, squaredDistance } from '#worker-image/engine/image/encode/nearest-center.ts';

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
/** Minimum share of an entry's pixels for which one color becomes the entry, so that a background keeps its color. */
const DOMINANT_SHARE = 0.5;

/** Returns a palette for the colors. @param errorLimit Largest invisible error. */
export function quantizeColors(counted: ColorCounts, errorLimit: number): ColorPalette {
  const { colors } = counted;
  if (colors.length <= MAX_EXACT_COLORS) {
    return { colors, entries: Uint8Array.from(colors, (_color, at) => at), error: 0 };
  }
  const points = premultiply(colors);
  const share = TARGET_SHARE * Math.cbrt(colors.length);
  const { entries, size } = divide(points, counted.counts, errorLimit * share);
  for (let round = 0; round < ROUNDS; round += 1)
    assign(points, centersOf(points, counted, { entries, size }), entries);
  const palette = roundCenters(centersOf(points, counted, { entries, size }), counted, entries);
  const rounded = premultiply(palette);
  assign(points, rounded, entries);
  return { colors: palette, entries, error: meanError(points, rounded, counted, entries) };
}

/** Samples of a color. */
const RGBA = 4;
const ALPHA = 3;

/** Returns four samples a color, each between 0 and 255. */
function premultiply(colors: Uint32Array): Float32Array {
  const points = new Float32Array(colors.length * RGBA);
  colors.forEach((color, at) => {
    const alpha = color >>> 24;
    const opacity = alpha / 255;
    points[at * RGBA] = (color & 255) * opacity;
    points[at * RGBA + 1] = ((color >>> 8) & 255) * opacity;
    points[at * RGBA + 2] = ((color >>> 16) & 255) * opacity;
    points[at * RGBA + ALPHA] = alpha;
  });
  return points;
}

interface Assignment {
  /** Entry of each color. */
  readonly entries: Uint8Array;
  /** Number of entries. */
  readonly size: number;
}

/** Divides the colors into groups until their mean squared error per sample is at most `target`. */
function divide(points: Float32Array, counts: Uint32Array, target: number): Assignment {
  const order = Uint32Array.from(counts, (_count, at) => at);
  const measure = (begin: number, end: number): Group => measureGroup({ points, counts, order }, begin, end);
  const groups = [measure(0, order.length)];
  let error = groups[0]?.error ?? 0;
  const allowed = target * RGBA * counts.reduce((sum, count) => sum + count, 0);
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

function measureGroup({ points, counts, order }: Ordered, begin: number, end: number): Group {
  const group = { begin, end, axis: 0, mean: 0, error: 0 };
  let largest = -1;
  for (let axis = 0; axis < RGBA; axis += 1) {
    let [weight, sum, squares] = [0, 0, 0];
    for (let at = begin; at < end; at += 1) {
      const color = order[at] ?? 0;
      const count = counts[color] ?? 0;
      const value = points[color * RGBA + axis] ?? 0;
      weight += count;
      sum += count * value;
      squares += count * value * value;
    }
    const error = Math.max(0, squares - (sum * sum) / weight);
    group.error += error;
    if (error <= largest) continue;
    largest = error;
    group.axis = axis;
    group.mean = sum / weight;
  }
  return group;
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

/** Returns the mean of the pixels of each entry, four samples an entry. An entry without colors stays at 0. */
function centersOf(points: Float32Array, { counts }: ColorCounts, { entries, size }: Assignment): Float32Array {
  const sums = new Float64Array(size * RGBA);
  const weights = new Float64Array(size);
  entries.forEach((entry, color) => {
    const count = counts[color] ?? 0;
    weights[entry] = (weights[entry] ?? 0) + count;
    for (let axis = 0; axis < RGBA; axis += 1) {
      sums[entry * RGBA + axis] = (sums[entry * RGBA + axis] ?? 0) + count * (points[color * RGBA + axis] ?? 0);
    }
  });
  return Float32Array.from(sums, (sum, at) => sum / Math.max(1, weights[at >> 2] ?? 0));
}

/** Returns the entries as colors: the dominant color of an entry, or its center. */
function roundCenters(centers: Float32Array, { colors, counts }: ColorCounts, entries: Uint8Array): Uint32Array {
  const size = centers.length / RGBA;
  const pixels = new Float64Array(size);
  const dominant = new Uint32Array(size);
  entries.forEach((entry, color) => {
    const count = counts[color] ?? 0;
    const isFirst = pixels[entry] === 0;
    pixels[entry] = (pixels[entry] ?? 0) + count;
    if (isFirst || count > (counts[dominant[entry] ?? 0] ?? 0)) dominant[entry] = color;
  });
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
function assign(points: Float32Array, centers: Float32Array, entries: Uint8Array): void {
  const search = new NearestCenter(centers);
  for (let color = 0; color < entries.length; color += 1) {
    entries[color] = search.find(points, color * RGBA, entries[color] ?? 0);
  }
}

function meanError(
  points: Float32Array,
  palette: Float32Array,
  { colors, counts }: ColorCounts,
  entries: Uint8Array,
): number {
  let sum = 0;
  let pixels = 0;
  for (let color = 0; color < colors.length; color += 1) {
    const count = counts[color] ?? 0;
    pixels += count;
    sum += count * squaredDistance(points, color * RGBA, palette, (entries[color] ?? 0) * RGBA);
  }
  return sum / (RGBA * pixels);
}
