/** Color space of a PNG from its chunks. Source: PNG, third edition, 11.3.2 and 13.11. */
import {
  BT_709,
  colorSpaceOf,
  gamma,
  type ColorSpace,
  type Primaries,
} from '#worker-image/engine/image/color/color-space.ts';

/** Chunks that name a color space, with their data; the data of iCCP is not needed. */
export type ColorChunks = ReadonlyMap<string, Buffer>;

/** Chunks that `pngColorSpace` reads, with the number of bytes that it needs of each. */
export const COLOR_CHUNK_BYTES: Readonly<Record<string, number>> = { cICP: 4, iCCP: 0, sRGB: 0, gAMA: 4, cHRM: 32 };

/** Unit of the numbers in gAMA and cHRM. */
const PARTS = 100_000;
/** Exponents that are taken for sRGB, whose curve comes close to that of 2.2. */
const SRGB_EXPONENT = { min: 2.1, max: 2.3 } as const;
/** Distance in a chromaticity that is taken for rounding. */
const CHROMATICITY_TOLERANCE = 0.005;

/**
 * Returns the color space of the chunk that prevails; null for sRGB and for an ICC profile. Chromaticities alone are
 * ignored, as in browsers.
 */
export function pngColorSpace(chunks: ColorChunks): ColorSpace | null {
  const numbers = chunks.get('cICP');
  if (numbers !== undefined && numbers.length >= 2)
    return colorSpaceOf({ primaries: numbers.readUInt8(0), transfer: numbers.readUInt8(1) });
  const exponent = chunks.has('iCCP') || chunks.has('sRGB') ? null : exponentOf(chunks.get('gAMA'));
  if (exponent === null) return null;
  const primaries = primariesOf(chunks.get('cHRM'));
  const isSrgbCurve = exponent >= SRGB_EXPONENT.min && exponent <= SRGB_EXPONENT.max;
  if (primaries === null && isSrgbCurve) return null;
  return { primaries: primaries ?? BT_709, isWide: primaries !== null, ...gamma(exponent) };
}

/** Returns the exponent of linear light; null for none and for 0. */
function exponentOf(data: Buffer | undefined): number | null {
  const stored = data?.length === 4 ? data.readUInt32BE(0) : 0;
  return stored === 0 ? null : PARTS / stored;
}

/** Returns the primaries; null for those of sRGB and for points that no color space has. */
function primariesOf(data: Buffer | undefined): Primaries | null {
  if (data?.length !== 32) return null;
  const point = (index: number): readonly [number, number] => [
    data.readUInt32BE(8 * index) / PARTS,
    data.readUInt32BE(8 * index + 4) / PARTS,
  ];
  const primaries: Primaries = { white: point(0), red: point(1), green: point(2), blue: point(3) };
  return isTriangle(primaries) && !isSrgb(primaries) ? primaries : null;
}

function isSrgb(primaries: Primaries): boolean {
  return (['white', 'red', 'green', 'blue'] as const).every((name) =>
    primaries[name].every((part, i) => Math.abs(part - (BT_709[name][i] ?? 0)) <= CHROMATICITY_TOLERANCE),
  );
}

/** Returns whether the points lie in the diagram and the white one inside of the triangle of the others. */
function isTriangle({ red, green, blue, white }: Primaries): boolean {
  if ([red, green, blue, white].some(([x, y]) => x > 1 || y <= 0 || y > 1)) return false;
  const side = (one: readonly number[], other: readonly number[]): number =>
    ((other[0] ?? 0) - (one[0] ?? 0)) * (white[1] - (one[1] ?? 0)) -
    ((other[1] ?? 0) - (one[1] ?? 0)) * (white[0] - (one[0] ?? 0));
  const sides = [side(red, green), side(green, blue), side(blue, red)];
  return sides.every((value) => value > 0) || sides.every((value) => value < 0);
}
