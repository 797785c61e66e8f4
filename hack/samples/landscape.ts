/** Image that compresses like a photo, made of value noise: smooth and rough regions, edges, grain. */
import sharp, { type Sharp } from 'sharp';
import { makeRandom } from './random.ts';

export interface LandscapeSize {
  readonly width: number;
  readonly height: number;
  readonly seed: number;
}

type Color = readonly [red: number, green: number, blue: number];

/** Returns a sharp pipeline over raw RGB pixels. */
export function landscape({ width, height, seed }: LandscapeSize): Sharp {
  const pixels = Buffer.alloc(width * height * 3);
  const scene = makeScene(seed);
  const grain = makeRandom(seed + 1);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const color = scene(column / height, row / height);
      const noise = (grain() + grain() - 1) * 9;
      const at = (row * width + column) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        pixels[at + channel] = Math.max(0, Math.min(255, (color[channel] ?? 0) + noise));
      }
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

const RANGES = 5;

/** Returns the function from a point to its color; the image's height is 1. */
function makeScene(seed: number): (x: number, y: number) => Color {
  const noise = makeNoise(seed);
  const random = makeRandom(seed);
  const sun = { x: 0.3 + random(), y: 0.12 + 0.15 * random() };
  const warm = random();
  return (x, y) => {
    for (let range = RANGES; range >= 1; range -= 1) {
      const near = range / RANGES;
      const ridge =
        0.3 +
        0.62 * near -
        0.32 * (1.15 - near) * fractal(noise, { x: x * (2.6 - near) + range * 31, y: range, octaves: 7 });
      if (y > ridge) return ground(noise, { x, y, near, depth: y - ridge, warm });
    }
    return sky(noise, { x, y, sun, warm });
  };
}

interface GroundPoint {
  readonly x: number;
  readonly y: number;
  /** From 0 at the horizon to 1 in front. */
  readonly near: number;
  /** Below the ridge. */
  readonly depth: number;
  readonly warm: number;
}

function ground(noise: Noise, { x, y, near, depth, warm }: GroundPoint): Color {
  const coarse = fractal(noise, { x: x * 14 * near + 7, y: y * 26 + near * 90, octaves: 5 });
  const fine = fractal(noise, { x: x * 180, y: y * 260, octaves: 3 });
  const light = 0.45 + 0.75 * coarse + 0.5 * near * (fine - 0.5) - 0.35 * Math.min(0.4, depth);
  const flower = near > 0.9 && noise(x * 130, y * 130) > 0.93;
  if (flower) return [225, 190 * light, 90 + 60 * warm];
  const haze: Color = [168 + 40 * warm, 178, 196 - 20 * warm];
  const meadow: Color = [70 + 45 * warm, 104, 48];
  return blend(haze, scale(meadow, light * 1.5), near ** 0.75);
}

interface SkyPoint {
  readonly x: number;
  readonly y: number;
  readonly sun: { readonly x: number; readonly y: number };
  readonly warm: number;
}

function sky(noise: Noise, { x, y, sun, warm }: SkyPoint): Color {
  const cloud = Math.max(0, fractal(noise, { x: x * 2.2 + 50, y: y * 6, octaves: 6 }) - 0.48) * 2.6;
  const distance = Math.hypot(x - sun.x, y - sun.y);
  const glow = Math.exp(-distance * 5) * 0.8 + (distance < 0.035 ? 1 : 0);
  const blue = blend([64, 118, 186], [196 + 30 * warm, 208, 220 - 30 * warm], Math.min(1, y * 2));
  const clouded = blend(blue, [240, 238, 234], Math.min(1, cloud));
  return blend(clouded, [255, 244, 214], Math.min(1, glow));
}

type Noise = (x: number, y: number) => number;

/** Returns smooth noise from 0 to 1 with one bump per unit. */
function makeNoise(seed: number): Noise {
  const random = makeRandom(seed * 7919);
  const table = Float64Array.from({ length: 4096 }, () => random());
  const corner = (column: number, row: number): number =>
    table[(column * 73 + row * 1009 + ((column * row) & 63)) & 4095] ?? 0;
  return (x, y) => {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const [u, v] = [smooth(x - column), smooth(y - row)];
    const top = corner(column, row) * (1 - u) + corner(column + 1, row) * u;
    const bottom = corner(column, row + 1) * (1 - u) + corner(column + 1, row + 1) * u;
    return top * (1 - v) + bottom * v;
  };
}

function fractal(noise: Noise, { x, y, octaves }: { x: number; y: number; octaves: number }): number {
  let [sum, weight, total, step] = [0, 1, 0, 1];
  for (let octave = 0; octave < octaves; octave += 1) {
    sum += weight * noise(x * step + octave * 17, y * step + octave * 29);
    total += weight;
    weight *= 0.5;
    step *= 2;
  }
  return sum / total;
}

function smooth(t: number): number {
  return t * t * (3 - 2 * t);
}

function blend(from: Color, to: Color, share: number): Color {
  return [0, 1, 2].map(
    (channel) => (from[channel] ?? 0) * (1 - share) + (to[channel] ?? 0) * share,
  ) as unknown as Color;
}

function scale(color: Color, factor: number): Color {
  return [color[0] * factor, color[1] * factor, color[2] * factor];
}
